import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  compile,
  mergePerIterationHooks,
  readProgress,
  runRalphLoop,
  runStandardLoop,
  validatePerIterationHook,
  validateSprintDefinition,
  validateWorkflowDefinition,
  type PerIterationHook,
  type PortedLoopOptions,
  type WorkflowDefinition,
} from 'ralph-mode'
import { createClient } from 'ralph-mode/client'
import { describe, expect, it } from 'vitest'
import { createTestSprint } from './support/sprint.ts'
import { root } from './support/paths.ts'

const learning: PerIterationHook = {
  id: 'learning',
  workflow: 'm42-signs:learning-extraction',
  parallel: true,
  enabled: false,
}

it('merges hooks as the function of 004:244-256 does (row 237)', () => {
  const custom = { ...learning, id: 'custom' }
  expect(mergePerIterationHooks([learning, custom], { learning: { enabled: true } })).toEqual([
    { ...learning, enabled: true },
    custom,
  ])
  expect(mergePerIterationHooks([learning], undefined)).toEqual([learning])
  expect(mergePerIterationHooks([{ ...learning, id: 'toString' }], {})).toEqual([{ ...learning, id: 'toString' }])
})

describe('validation (rows 241-245)', () => {
  const codes = (errors: readonly { readonly code: string }[]) => errors.map(({ code }) => code)
  const ralph: WorkflowDefinition = { name: 'R', mode: 'ralph', 'goal-prompt': 'Plan.', 'reflection-prompt': 'Look.' }

  it('of a workflow: phases are required, except in ralph mode (004:262-268)', () => {
    expect(validateWorkflowDefinition(ralph, 'ralph')).toEqual([])
    expect(codes(validateWorkflowDefinition({ name: 'S' }, 'standard'))).toEqual(['MISSING_PHASES'])
    expect(codes(validateWorkflowDefinition({ ...ralph, 'per-iteration-hooks': [{ id: 'x' }] }, 'ralph'))).toEqual([
      'RALPH_INVALID_HOOK',
    ])
  })

  it('of a sprint: ralph mode requires a goal (004:274, 305)', () => {
    expect(validateSprintDefinition({ workflow: 'ralph', goal: 'g' }, ralph)).toEqual([])
    expect(validateSprintDefinition({ workflow: 'ralph' }, ralph)).toEqual([
      expect.objectContaining({
        code: 'RALPH_MISSING_GOAL',
        message: 'Ralph mode requires goal field in SPRINT.yaml',
      }),
    ])
    const unknown = { workflow: 'ralph', goal: 'g', 'per-iteration-hooks': { nothing: { enabled: true } } }
    expect(codes(validateSprintDefinition(unknown, ralph))).toEqual(['RALPH_INVALID_HOOK_OVERRIDE'])
    expect(codes(validateSprintDefinition({ workflow: 'ralph' }))).toEqual([])
    expect(codes(validateSprintDefinition({ goal: 'g' }))).toEqual(['MISSING_WORKFLOW'])
  })

  it('of a hook: an id, and workflow or prompt but not both (004:281-286)', () => {
    expect(validatePerIterationHook(learning, 0)).toEqual([])
    expect(codes(validatePerIterationHook({ ...learning, prompt: 'p' }, 0))).toEqual(['HOOK_AMBIGUOUS_ACTION'])
    expect(codes(validatePerIterationHook({ prompt: 'p' }, 0))).toEqual(['MISSING_HOOK_ID'])
    expect(codes(validatePerIterationHook({ ...learning, parallel: 'yes' }, 0))).toEqual(['INVALID_HOOK_PARALLEL'])
    expect(codes(validatePerIterationHook({ ...learning, enabled: 1 }, 0))).toEqual(['INVALID_HOOK_ENABLED'])
    expect(validatePerIterationHook({ id: 'x' }, 3)).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/^per-iteration-hooks\[3\]: Per-iteration hook must/) }),
    ])
  })

  it('of anything else is an error, not an exception', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    for (const value of [cycle, undefined, null, 1, 'text', []]) {
      expect(validateWorkflowDefinition(value, 'x')).not.toEqual([])
      expect(validateSprintDefinition(value)).not.toEqual([])
      expect(validatePerIterationHook(value, 0)).not.toEqual([])
    }
  })
})

it('takes ports of the caller, and refuses a sprint in the other mode', async () => {
  const sprint = await createTestSprint()
  await sprint.compile()

  expect((await readProgress(sprint.at('s', 'PROGRESS.yaml'))).mode).toBe('ralph')
  await expect(runStandardLoop(sprint.at('s'), unusedPorts)).rejects.toMatchObject({ code: 'USAGE' })
  await expect(runRalphLoop(sprint.at('nothing'), unusedPorts)).rejects.toMatchObject({ code: 'PROGRESS_NOT_FOUND' })
})

/** The calls fail before they use a port. */
const unusedPorts: PortedLoopOptions = {
  get ports(): never {
    throw new Error('unused')
  },
}

it('compiles with the function of the name in 004:93 (row 244)', () => {
  const text = readFileSync(join(root, 'assets/workflows/ralph.yaml'), 'utf8')
  const { progress } = compile({
    sprint: { file: 'SPRINT.yaml', text: 'workflow: ralph\ngoal: g\n' },
    readWorkflow: () => ({ file: 'ralph.yaml', text }),
    defaultSprintId: 's',
    at: 0,
  })
  expect(progress?.mode).toBe('ralph')
})

it('has the client of the API at ralph-mode/client (row 156)', async () => {
  const called: string[] = []
  const client = createClient({
    baseUrl: 'http://backend.invalid',
    fetch: async (url) => {
      called.push(new Request(url).url)
      return new Response('', { status: 401 })
    },
  })

  await expect(client.startRalphMode({ agentId: 'a', taskDescription: 't' })).rejects.toThrow(
    'the backend answered 401',
  )
  expect(called).toEqual(['http://backend.invalid/api/agents/a/ralph-mode/start'])
})
