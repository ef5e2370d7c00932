import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { compile, mergePerIterationHooks, validateSprintDefinition } from '../../src/index.ts'
import { root } from '../support/paths.ts'

const bundled = readFileSync(join(root, 'assets/workflows/ralph.yaml'), 'utf8')

describe('004:310-318, the eight scenarios of the compiler', () => {
  const compileText = (sprint: string, workflow = bundled) =>
    compile({
      sprint: { file: 'SPRINT.yaml', text: sprint },
      readWorkflow: () => ({ file: 'ralph.yaml', text: workflow }),
      defaultSprintId: 's',
      at: 0,
    })

  it('1 to 5: the interfaces are in test/seed-names.test.ts, which tsc compiles (row 265)', () => {
    expect(readFileSync(join(root, 'test/seed-names.test.ts'), 'utf8')).toContain(
      'expectTypeOf<Seed.WorkflowDefinition>()',
    )
  })

  it('6: compile detects Ralph mode (row 267)', () => {
    expect(compileText('workflow: ralph\ngoal: g\n').progress).toMatchObject({
      mode: 'ralph',
      goal: 'g',
      dynamicSteps: [],
      hookTasks: [],
    })
    expect(compileText('workflow: x\n', 'name: X\nphases: [{id: a, prompt: p}]\n').progress?.mode).toBe('standard')
  })

  it('7: validation enforces the goal', () => {
    const workflow: unknown = parse(bundled)
    expect(workflow).toBeDefined()
    expect(compileText('workflow: ralph\n').diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'RALPH_MISSING_GOAL: Ralph mode requires goal field in SPRINT.yaml',
    ])
    expect(validateSprintDefinition({ goal: 'g' }).map(({ code }) => code)).toEqual(['MISSING_WORKFLOW'])
  })

  it('8: hooks are merged', () => {
    const hooks = [{ id: 'learning', parallel: true, enabled: false }]
    expect(mergePerIterationHooks(hooks, { learning: { enabled: true } })).toEqual([{ ...hooks[0], enabled: true }])
    const { progress } = compileText('workflow: ralph\ngoal: g\nper-iteration-hooks: { learning: { enabled: true } }\n')
    expect(progress?.perIterationHooks.filter(({ enabled }) => enabled).map(({ id }) => id)).toEqual(['learning'])
  })
})
