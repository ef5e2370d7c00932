import { describe, expect, it } from 'vitest'
import { compileProgress, compileTest, listErrors, type Files, listWarnings } from '../../../test/support/compile.ts'

const workflow = `
name: R
mode: ralph
goal-prompt: p
reflection-prompt: r
per-iteration-hooks:
  - {id: learning, workflow: "signs:extract", enabled: false}
  - {id: docs, prompt: write, parallel: false, enabled: false, timeout: 1m}
`
const sprint = (hooks: string) => `workflow: w\ngoal: g\nper-iteration-hooks:\n${hooks}`
const compileHooks = (hooks: string, more: Files = {}) =>
  compileProgress(sprint(hooks), { w: workflow, ...more }).perIterationHooks
const errors = (hooks: string, more: Files = {}) =>
  listErrors(compileTest(sprint(hooks), { w: workflow, ...more }).diagnostics)

const judged = (hooks: string) =>
  listErrors(
    compileTest('workflow: w\ngoal: g\n', {
      w: `name: R\nmode: ralph\ngoal-prompt: p\nreflection-prompt: r\nper-iteration-hooks: ${hooks}\n`,
    }).diagnostics,
  )

const learning = { id: 'learning', workflow: 'signs:extract', parallel: true, enabled: false, onFail: 'record' }
const docs = { id: 'docs', prompt: 'write', parallel: false, enabled: false, onFail: 'record', timeout: 60_000 }

describe('hooks of SPRINT.yaml', () => {
  it('as a map enable hooks of the workflow', () => {
    expect(compileHooks('  learning: {enabled: true}\n  docs: {enabled: true, timeout: 2m}\n')).toEqual([
      { ...learning, enabled: true },
      { ...docs, enabled: true, timeout: 120_000 },
    ])
  })

  it('as a list change hooks by id and add complete ones, enabled and parallel by default', () => {
    const hooks = '  - {id: docs, enabled: true}\n  - {id: lint, run: npm run lint, on-fail: feed-back}\n'

    expect(compileHooks(hooks)).toEqual([
      learning,
      { ...docs, enabled: true },
      { id: 'lint', run: 'npm run lint', parallel: true, enabled: true, onFail: 'feed-back' },
    ])
  })

  it('replace the action of a hook', () => {
    const [changed] = compileHooks(
      '  - {id: learning, prompt: "/signs:extract $ITERATION_TRANSCRIPT", enabled: true}\n',
    )

    expect(changed).toEqual({
      id: 'learning',
      prompt: '/signs:extract $ITERATION_TRANSCRIPT',
      parallel: true,
      enabled: true,
      onFail: 'record',
    })
  })

  it.each(['constructor', 'toString', 'hasOwnProperty'])('may have the id %s', (id) => {
    expect(compileHooks(`  - {id: ${id}, prompt: x}\n`).at(-1)).toMatchObject({ id, prompt: 'x' })
    expect(errors(`  ${id}: {enabled: true}\n`)).toEqual([`RALPH_INVALID_HOOK_OVERRIDE SPRINT.yaml:4:${id.length + 5}`])
  })

  it.each([
    ['an override of an unknown hook', '  lerning: {enabled: true}\n', 'RALPH_INVALID_HOOK_OVERRIDE SPRINT.yaml:4:12'],
    [
      'an unknown id in a list, without an action',
      '  - {id: x, enabled: true}\n',
      'RALPH_INVALID_HOOK_OVERRIDE SPRINT.yaml:4:5',
    ],
    ['an override that is no map', '  learning: true\n', 'RALPH_INVALID_HOOK_OVERRIDE SPRINT.yaml:4:13'],
    ['an override without anything', '  learning:\n', 'RALPH_INVALID_HOOK_OVERRIDE SPRINT.yaml:4:12'],
    ['a list entry without an id', '  - {prompt: x}\n', 'MISSING_HOOK_ID SPRINT.yaml:4:5'],
    ['the same id twice', '  - {id: a, prompt: x}\n  - {id: a, prompt: y}\n', 'DUPLICATE_HOOK_ID SPRINT.yaml:5:5'],
    ['two actions', '  - {id: a, prompt: x, run: y}\n', 'HOOK_AMBIGUOUS_ACTION SPRINT.yaml:4:5'],
    ['parallel that is no boolean', '  docs: {parallel: maybe}\n', 'INVALID_HOOK_PARALLEL SPRINT.yaml:4:20'],
    ['enabled that is no boolean', '  docs: {enabled: 1}\n', 'INVALID_HOOK_ENABLED SPRINT.yaml:4:19'],
    ['a prompt that is no text', '  docs: {prompt: 5}\n', 'INVALID_HOOK SPRINT.yaml:4:18'],
    ['an empty prompt', '  docs: {prompt: " "}\n', 'INVALID_HOOK SPRINT.yaml:4:18'],
    ['an unknown on-fail', '  docs: {on-fail: panic}\n', 'INVALID_HOOK SPRINT.yaml:4:19'],
    ['a timeout that is no duration', '  docs: {timeout: soon}\n', 'INVALID_HOOK SPRINT.yaml:4:19'],
    ['hooks that are neither map nor list', '  x\n', 'INVALID_HOOKS SPRINT.yaml:4:3'],
    ['another id in an override', '  docs: {id: x, enabled: true}\n', 'INVALID_HOOK SPRINT.yaml:4:9'],
    ['an id that would leave its folder', '  - {id: ../../x, prompt: p}\n', 'INVALID_ID SPRINT.yaml:4:5'],
    ['__proto__ as an id', '  - {id: __proto__, prompt: p}\n', 'INVALID_ID SPRINT.yaml:4:5'],
    ['__proto__ as a key', '  __proto__: {enabled: true}\n', 'SPRINT_LOAD_ERROR SPRINT.yaml:4:3'],
    ['half a slash command', '  - {id: a, workflow: "x:"}\n', 'INVALID_HOOK SPRINT.yaml:4:23'],
  ])('refuses %s', (_, hooks, code) => {
    expect(errors(hooks)).toEqual([code])
  })
})

describe('hooks of a workflow', () => {
  it.each([
    ['no action', '[{id: a}]', 'RALPH_INVALID_HOOK w.yaml:5:23'],
    ['two actions', '[{id: a, prompt: x, workflow: "y:z"}]', 'HOOK_AMBIGUOUS_ACTION w.yaml:5:23'],
    ['no id', '[{prompt: x}]', 'MISSING_HOOK_ID w.yaml:5:23'],
    ['an id twice', '[{id: a, prompt: x}, {id: a, prompt: y}]', 'DUPLICATE_HOOK_ID w.yaml:5:43'],
    ['parallel: maybe', '[{id: a, prompt: x, parallel: maybe}]', 'INVALID_HOOK_PARALLEL w.yaml:5:52'],
    ['enabled: 1', '[{id: a, prompt: x, enabled: 1}]', 'INVALID_HOOK_ENABLED w.yaml:5:51'],
    ['a hook that is no map', '[x]', 'INVALID_HOOK w.yaml:5:23'],
    ['hooks that are no list', 'x', 'INVALID_HOOKS w.yaml:5:22'],
  ])('are refused with %s', (_, hooks, code) => {
    expect(judged(hooks)).toEqual([code])
  })

  it('keep the message of the seed', () => {
    const { diagnostics } = compileTest('workflow: w\n', {
      w: 'name: R\nmode: ralph\nper-iteration-hooks: [{id: a}]\n',
    })
    const messages = diagnostics.map(({ message }) => message)

    expect(messages).toContain('Ralph mode requires goal field in SPRINT.yaml')
    expect(messages).toContainEqual(expect.stringMatching(/^Per-iteration hook must have workflow or prompt/))
  })
})

describe('a hook that names a workflow of the project', () => {
  const update = 'name: Docs\nphases: [{id: a, prompt: "Look at {{sprint.id}}"}, {id: b, workflow: inner}]\n'
  const inner = 'name: Inner\nphases: [{id: c, prompt: "Write, see $ITERATION_TRANSCRIPT"}]\n'

  it('gets the prompts of its phases, one call each', () => {
    const [, , hook] = compileHooks('  - {id: x, workflow: update}\n', { update, inner })

    expect(hook).toMatchObject({
      workflow: 'update',
      calls: ['Look at 2026-03-04_big_thing', 'Write, see $ITERATION_TRANSCRIPT'],
    })
  })

  it('is an error if there is no such workflow, and only a warning while it is disabled', () => {
    expect(errors('  - {id: x, workflow: nope}\n')).toEqual(['WORKFLOW_NOT_FOUND SPRINT.yaml:4:23'])
    const { diagnostics } = compileTest(sprint('  - {id: x, workflow: nope, enabled: false}\n'), { w: workflow })
    expect(listWarnings(diagnostics)).toEqual(['WORKFLOW_NOT_FOUND SPRINT.yaml:4:23'])
  })

  it('is refused if the workflow has more than prompts', () => {
    const gated = 'name: G\nphases: [{id: a, prompt: p, gate: {script: x, on-fail: {prompt: y}}}]\n'

    expect(errors('  - {id: x, workflow: gated}\n', { gated })).toEqual(['INVALID_HOOK SPRINT.yaml:4:23'])
    expect(errors('  - {id: x, workflow: ../gated}\n')).toEqual(['INVALID_WORKFLOW_NAME SPRINT.yaml:4:23'])
  })
})

describe('variables in hook prompts', () => {
  const hooks = '  - {id: x, prompt: "$ITERATION of $ITERATIONS in $HOME"}\n'

  it('are reported as warnings with their place if they are unknown', () => {
    const { progress, diagnostics } = compileTest(sprint(hooks), { w: workflow })

    expect(progress).toBeDefined()
    expect(listWarnings(diagnostics)).toEqual([
      'UNRESOLVED_VARIABLES SPRINT.yaml:4:36',
      'UNRESOLVED_VARIABLES SPRINT.yaml:4:51',
    ])
    expect(diagnostics[0]?.hint).toBe('did you mean "$ITERATION"?')
  })

  it('are errors in strict mode', () => {
    expect(listErrors(compileTest(sprint(hooks), { w: workflow }, { strict: true }).diagnostics)).toHaveLength(2)
  })
})
