import { join } from 'node:path'
import type { Driver } from '../../agents/drivers/driver.ts'
import { superviseAgent } from '../../agents/supervise/supervisor.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { makeFolder, makeTemporaryFolder, realPath, removeFolder } from '../../platform/files/files.ts'
import { redactedAgent } from '../../runtime/redacted.ts'
import { redactorFor } from '../../storage/accounts/secrets.ts'
import type { Io } from '../io/io.ts'
import { protectionFor } from './protection.ts'
import { readUserConfig } from '../io/user-config.ts'

export type Trial = {
  readonly outcome: Outcome
  readonly answered: boolean
  readonly stopped: boolean
  readonly durationMs: number
  /** Where everything is that it printed; gone if it answered. */
  readonly folder: string
}

const prompt = 'Answer with the one word "ready" and nothing else. Do not use any tool.\n'
const timeouts = { idle: 120_000, attempt: 300_000, afterResult: 10_000 }

/** One turn of an agent, started as in a sprint, in an empty folder; in this one if its program is named from here. */
export async function tryAgent(driver: Driver, model: string | undefined, io: Io): Promise<Trial> {
  const { env: { pass = [] } = {}, sandbox: wanted } = readUserConfig(io)
  const { sandbox } = await protectionFor(wanted, io)
  const folder = realPath(await makeTemporaryFolder('ralph-try'))
  const cwd = /^\.\.?\//.test(driver.program) ? io.cwd : join(folder, 'project')
  await makeFolder(cwd)
  const bare = superviseAgent({ driver, model, sprintDir: folder, cwd, env: io.env, pass, sandbox })
  const agent = redactedAgent(bare, redactorFor(cwd, io.env))
  const stop = stopOnSignal()
  const started = performance.now()
  try {
    const request = { attempt: '1-1', transcript: 'try.jsonl', prompt, timeouts, budget: {}, onEvent: () => {} }
    const outcome = await agent.run(request, stop.signal)
    const answered = outcome.status === 'ok' && outcome.text.trim() !== ''
    if (answered) await removeFolder(folder)
    return { outcome, answered, stopped: stop.signal.aborted, durationMs: performance.now() - started, folder }
  } finally {
    stop.forget()
  }
}

/** The agent is a process of its own: it must be ended when we are told to stop. */
function stopOnSignal() {
  const controller = new AbortController()
  const stop = () => controller.abort()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop)
  return {
    signal: controller.signal,
    forget: () => {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop)
    },
  }
}
