import { expect, it } from 'vitest'
import { claude, claudeBySubscription, claudeLimit } from './real-agents.ts'
import { aRealSprint } from './real-sprint.ts'
import * as scenario from './scenarios.ts'

scenario.install(claude)

scenario.wholeSprint(claude)
scenario.tooManyRequests(claude)
scenario.notLoggedIn(claude)
// Three requests for a stream, then one for the answer in one piece.
scenario.droppedStream(claude, 4)
scenario.hangingModel(claude)
scenario.terminatedDuringTool(claude)
scenario.repair(claude)
scenario.tried(claude)

it('waits for the end of a usage limit, to the second', async () => {
  const resetsAt = Math.ceil(Date.now() / 1000 + 8) * 1000
  const sprint = await aRealSprint(claudeBySubscription, [claudeLimit(resetsAt), scenario.claim])

  await scenario.waitsOutTheLimit(sprint, resetsAt)
  expect(sprint.model.requests[1]?.at).toBeGreaterThanOrEqual(resetsAt)
})
