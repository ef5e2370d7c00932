import { expect, it } from 'vitest'
import { createPhasesSprint } from '../support/phases-sprint.ts'
import { createTestSprint } from '../support/sprint.ts'

const file = 's/PROGRESS.yaml'
/** What the `yq` lines of the prompts do, with a new file as `yq -i` writes it. */
const addStep = (prompt: string) =>
  `sed -i 's/^dynamic-steps: \\[\\]$/dynamic-steps:\\n  - {id: step-N, prompt: ${prompt}, status: pending, added-at: now, added-in-iteration: 1}/' ${file}`
const completeStep = `sed -i 's/status: pending/status: completed/' ${file}`

it('runs a sprint with the classic protocol: the agent edits PROGRESS.yaml and ends with RALPH_COMPLETE', async () => {
  const sprint = await createTestSprint({
    workflow: {
      protocol: 'classic',
      'per-iteration-hooks': [{ id: 'h', run: 'echo "$ITERATION" >> hooked.txt', parallel: false }],
    },
    sprint: { limits: { 'no-progress': 1 } },
    answers: {
      1: { run: `${addStep('write it')}; sleep 1`, text: 'I planned it.' },
      2: { run: `${completeStep}; sleep 1`, text: '' },
      3: 'All criteria are met.\n\n**RALPH_COMPLETE:**\nit works',
    },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const calls = await sprint.calls()
  expect(calls.map(({ prompt }) => prompt.split('\n')[0])).toEqual([
    '# Ralph Mode: Goal Analysis',
    '# Ralph Mode: Execute Step',
    '# Ralph Mode: Goal Analysis',
  ])
  expect(calls[0]?.prompt).toContain(`"added-in-iteration": 1}]' "${sprint.at(file)}"`)
  expect(calls[1]?.prompt).toContain('select(.id == "step-0")).status = "completed"')
  expect(await sprint.iterations()).toMatchObject([
    { verdict: 'continue', attempts: 1, summary: 'I planned it.' },
    { verdict: 'continue', attempts: 1 },
    { verdict: 'accepted', attempts: 1 },
  ])
  expect(await sprint.read('hooked.txt')).toBe('1\n2\n3\n')
  expect(await sprint.progress()).toMatchObject({
    protocol: 'classic',
    'dynamic-steps': [{ id: 'step-0', prompt: 'write it', status: 'completed' }],
    'ralph-exit': { iteration: 3, 'final-summary': 'it works' },
  })
})

it('asks a person when the agent sets the status needs-human', async () => {
  const sprint = await createTestSprint({
    workflow: { protocol: 'classic' },
    answers: { '*': { run: `sed -i 's/^status: in-progress/status: needs-human/' ${file}; sleep 1`, text: 'stuck' } },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 2 })
  expect(await sprint.calls()).toHaveLength(1)
})

it('gives hooks of a for-each phase the phase and the item (row 117)', async () => {
  const sprint = await createPhasesSprint([{ id: 'development', 'for-each': 'step' }], {
    sprint: {
      collections: { step: [{ id: 'one', prompt: 'p' }] },
      'per-iteration-hooks': [{ id: 'h', run: 'echo "$PHASE_ID $ITEM_ID" >> hooked.txt', parallel: false }],
    },
    answers: { '*': { status: 'completed', summary: 'done' } },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await sprint.read('hooked.txt')).toBe('development one\n')
})
