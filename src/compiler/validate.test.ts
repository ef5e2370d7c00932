import { describe, expect, it } from 'vitest'
import { bundledRalph, listErrors, listWarnings } from '../../test/support/compile.ts'
import { type ValidateOptions, validateWorkflow } from './validate.ts'

const validate = (text: string, options: ValidateOptions = {}) =>
  validateWorkflow({ file: 'flows/w.yaml', text }, options)
const library = (files: Readonly<Record<string, string>>): ValidateOptions => ({
  readWorkflow: (name) => {
    const text = new Map(Object.entries(files)).get(name)
    return text === undefined ? undefined : { file: `${name}.yaml`, text }
  },
})

describe('a workflow by itself (row 247)', () => {
  it.each([
    ['the bundled one', bundledRalph],
    ['one with phases', 'name: W\nphases: [{id: a, prompt: "{{sprint.id}}"}]\n'],
    [
      'one that uses fields of items that it cannot know',
      'name: W\nphases: [{id: a, for-each: bug, prompt: "{{item.x}} {{bug.y}}"}]\n',
    ],
    ['one for the items of another', 'name: W\nphases: [{id: a, prompt: "{{item.x}} {{step.prompt}}"}]\n'],
    ['one that refers to others, which are not looked at', 'name: W\nphases: [{id: a, workflow: other}]\n'],
  ])('is valid: %s', (_, text) => {
    expect(validate(text)).toEqual({ valid: true, diagnostics: [] })
  })

  it.each([
    ['broken YAML', 'name: [\n', 'YAML_PARSE_ERROR flows/w.yaml:2:1'],
    ['no phases', 'name: W\n', 'MISSING_PHASES flows/w.yaml:1:1'],
    [
      'a hook without an action',
      'name: W\nmode: ralph\nper-iteration-hooks: [{id: x}]\n',
      'RALPH_INVALID_HOOK flows/w.yaml:3:23',
    ],
    [
      'ralph prompts in standard mode',
      'name: W\nreflection-prompt: x\nphases: [{id: a, prompt: b}]\n',
      'NOT_SUPPORTED flows/w.yaml:2:1',
    ],
  ])('is not valid with %s', (_, text, code) => {
    const { valid, diagnostics } = validate(text)

    expect(valid).toBe(false)
    expect(listErrors(diagnostics)).toEqual([code])
  })

  it('is validated together with the workflows that it refers to', () => {
    const text = 'name: W\nphases: [{id: a, workflow: other}, {id: b, for-each: step, workflow: gone}]\n'
    const { diagnostics } = validate(text, library({ other: 'name: O\nphases: [{id: x, workflow: w}]\n' }))

    expect(listErrors(diagnostics)).toEqual([
      'PHASE_WORKFLOW_NOT_FOUND flows/w.yaml:2:70',
      'CYCLE_DETECTED other.yaml:2:28',
    ])
  })

  it('reports unknown variables as warnings, or as errors in strict mode', () => {
    const text = 'name: W\nphases: [{id: a, prompt: "{{zzz.q}} {{phase.nope}}"}]\n'

    expect(listWarnings(validate(text).diagnostics)).toHaveLength(2)
    expect(validate(text, { strict: true }).valid).toBe(false)
    const outside = 'name: W\nphases: [{id: a, for-each: step, prompt: x}, {id: b, prompt: "{{item.id}}"}]\n'
    expect(listWarnings(validate(outside).diagnostics)).toHaveLength(1)
  })
})
