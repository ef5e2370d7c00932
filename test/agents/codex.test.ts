import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { codex, codexLimit } from './real-agents.ts'
import { createRealSprint } from './real-sprint.ts'
import * as scenario from './scenarios.ts'

scenario.install(codex)

scenario.completeSprint(codex)
scenario.tooManyRequests(codex)
scenario.notLoggedIn(codex)
scenario.droppedStream(codex, 3)
scenario.hangingModel(codex)
scenario.terminatedDuringTool(codex)
scenario.repair(codex, { answer: { text: JSON.stringify(scenario.strictClaim) }, held: '"type":"json_schema"' })
scenario.messageDuringAttempt(codex)
scenario.trial(codex)

it('waits for the end of a usage limit, to the minute', async () => {
  const minuteMs = 60_000
  const gone = () => Date.now() % minuteMs
  if (gone() > 50_000) await pause(minuteMs - gone())
  const resetsAt = Math.ceil(Date.now() / 1000) * 1000
  const over = Math.ceil((resetsAt + 1) / minuteMs) * minuteMs
  // Codex says "try again at 8:49 PM". For this ralph, and only for it, 8:49 PM is over in a few seconds.
  const env = clockAhead(over - 20_000 - resetsAt)
  const sprint = await createRealSprint(codex, [codexLimit(resetsAt), scenario.claim], { env })

  await scenario.waitsOutTheLimit(sprint, over)
  expect(await sprint.progress()).toMatchObject({ status: 'completed', stats: { 'current-iteration': 1 } })
})

const clockAhead = (ms: number) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`const now=Date.now;Date.now=()=>now()+${ms}`)}`,
})
