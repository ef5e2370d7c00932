import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

it('B1: compiles a goal and a workflow with hooks into the state of a new sprint', async () => {
  const sprint = await createTestSprint({
    workflow: { 'per-iteration-hooks': [{ id: 'learn', prompt: 'x $ITERATION', parallel: true, enabled: false }] },
    sprint: { goal: 'Ship it', 'per-iteration-hooks': { learn: { enabled: true } } },
  })

  expect(await sprint.compile()).toMatchObject({ exitCode: 0, stderr: '' })

  const progress = await sprint.progress()
  expect(progress).toMatchObject({
    status: 'not-started',
    mode: 'ralph',
    goal: expect.stringContaining('Ship it'),
    'dynamic-steps': [],
    'hook-tasks': [],
    'ralph-exit': { 'detected-at': null, iteration: null, 'final-summary': null },
  })
  expect(progress['per-iteration-hooks']).toEqual([
    { id: 'learn', prompt: 'x $ITERATION', parallel: true, enabled: true, 'on-fail': 'record' },
  ])
  expect(progress.ralph['idle-threshold']).toBe(3)
  expect(progress.stats['current-iteration']).toBe(0)
  expect(progress).not.toHaveProperty('phases')
})

it('B2: applies the options of ralph mode', async () => {
  const sprint = await createTestSprint({ sprint: { ralph: { 'idle-threshold': 5, 'min-iterations': 4 } } })

  expect(await sprint.compile()).toMatchObject({ exitCode: 0 })

  expect((await sprint.progress()).ralph).toMatchObject({ 'idle-threshold': 5, 'min-iterations': 4 })
})

const hook = (fields: object) => ({ workflow: { 'per-iteration-hooks': [{ id: 'h', ...fields }] } })

it.each([
  ['no goal', 'RALPH_MISSING_GOAL', { files: { 's/SPRINT.yaml': 'workflow: ralph\n' } }],
  ['a blank goal', 'RALPH_MISSING_GOAL', { sprint: { goal: '  ' } }],
  ['a hook with nothing to do', 'RALPH_INVALID_HOOK', hook({})],
  ['a hook with a prompt and a workflow', 'HOOK_AMBIGUOUS_ACTION', hook({ prompt: 'p', workflow: 'x:y' })],
  ['parallel: maybe', 'INVALID_HOOK_PARALLEL', hook({ prompt: 'p', parallel: 'maybe' })],
  ['enabled: 1', 'INVALID_HOOK_ENABLED', hook({ prompt: 'p', enabled: 1 })],
  [
    'an override of an unknown hook',
    'RALPH_INVALID_HOOK_OVERRIDE',
    { sprint: { 'per-iteration-hooks': { absent: { enabled: true } } } },
  ],
  ['mode: rolf', 'INVALID_WORKFLOW_MODE', { workflow: { mode: 'rolf' } }],
])('B3: refuses %s with %s and writes nothing', async (_, code, setup) => {
  const sprint = await createTestSprint(setup)
  const before = await sprint.contents()

  const { exitCode, stderr } = await sprint.compile()

  expect(exitCode).toBe(1)
  expect(stderr).toContain(`error ${code} `)
  expect(stderr.match(/^.*\berror [A-Z_]+ /gm)).toHaveLength(1)
  expect(await sprint.contents()).toEqual(before)
})
