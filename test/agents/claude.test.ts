import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { findBubblewrap } from '../sandbox/bubblewrap.ts'
import type { Turn } from '../support/stub-model/turn.ts'
import { claude, claudeBySubscription, claudeLimit } from './real-agents.ts'
import { createRealSprint } from './real-sprint.ts'
import * as scenario from './scenarios.ts'

scenario.install(claude)

scenario.completeSprint(claude)
scenario.tooManyRequests(claude)
scenario.notLoggedIn(claude)
// Three requests for a stream, then one for a complete answer.
scenario.droppedStream(claude, 4)
scenario.hangingModel(claude)
scenario.terminatedDuringTool(claude)
scenario.repair(claude, { answer: { calls: [{ answer: scenario.strictClaim }] }, held: '"name":"StructuredOutput"' })
scenario.messageDuringAttempt(claude)
scenario.messageAfterStop(claude)
scenario.trial(claude)

it('takes the report from the message if the model does not answer in the required form', async () => {
  const sprint = await createRealSprint(claude, [{ text: 'I forgot the rest.' }, scenario.claim])

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
})

it('continues with the next iteration if the model cannot answer in the required form', async () => {
  const wrong = Array.from({ length: 5 }, (): Turn => ({ calls: [{ answer: { status: 'sure' } }] }))
  const sprint = await createRealSprint(claude, [{ text: 'I forgot the rest.' }, ...wrong, scenario.claim])

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect((await sprint.iterations()).map(({ verdict, attempts }) => `${verdict} ${attempts}`)).toEqual([
    'malformed 2',
    'accepted 1',
  ])
})

it.skipIf('missing' in findBubblewrap())(
  'continues its conversation in a cell, which hides those of other projects',
  async () => {
    const sprint = await createRealSprint(claude, [{ text: 'I forgot the rest.' }, scenario.claim], {
      sprint: { sandbox: 'required' },
      env: { IS_SANDBOX: '' },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    const [project, ...others] = readdirSync(sprint.at('../home/.claude/projects'))
    expect(others).toEqual([])
    const kept = readdirSync(sprint.at('../home/.claude/projects', `${project}`))
    expect(kept.filter((name) => name.endsWith('.jsonl'))).toHaveLength(1)
  },
)

it('waits for the end of a usage limit, to the second', async () => {
  const resetsAt = Math.ceil(Date.now() / 1000 + 20) * 1000
  const sprint = await createRealSprint(claudeBySubscription, [claudeLimit(resetsAt), scenario.claim])

  await scenario.waitsOutTheLimit(sprint, resetsAt)
  expect(sprint.model.requests[1]?.at).toBeGreaterThanOrEqual(resetsAt)
})
