import { join } from 'node:path'
import type { Driver } from '../../agents/drivers/driver.ts'
import { superviseAgent } from '../../agents/supervise/supervisor.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { createFolder, createTemporaryFolder, realPath, removeFolder } from '../../platform/files/files.ts'
import { redactAgent } from '../../runtime/redact-ports.ts'
import { createProjectRedactor } from '../../storage/accounts/secrets.ts'
import type { Io } from '../io/io.ts'
import { resolveProtection } from './protection.ts'
import { readUserConfig } from '../io/user-config.ts'

export type AgentTrial = {
  readonly outcome: Outcome
  readonly answered: boolean
  readonly stopped: boolean
  readonly durationMs: number
  /** Holds everything the agent printed; removed if the agent answered. */
  readonly folder: string
}

const trialPrompt = 'Answer with the one word "ready" and nothing else. Do not use any tool.\n'
const trialTimeouts = { idle: 120_000, attempt: 300_000, afterResult: 10_000 }

/**
 * Runs one turn of an agent as a sprint would, in an empty folder, or in the current folder if the program's path is
 * relative to it.
 */
export async function tryAgent(driver: Driver, model: string | undefined, io: Io): Promise<AgentTrial> {
  const { env: { pass = [] } = {}, ...walls } = readUserConfig(io)
  const { sandbox } = await resolveProtection(walls, io)
  const folder = realPath(await createTemporaryFolder('ralph-try'))
  const cwd = /^\.\.?\//.test(driver.program) ? io.cwd : join(folder, 'project')
  await createFolder(cwd)
  const bare = superviseAgent({ driver, model, sprintDir: folder, cwd, env: io.env, pass, sandbox })
  const agent = redactAgent(bare, createProjectRedactor(cwd, io.env))
  const stop = abortOnSignal()
  const started = performance.now()
  try {
    const request = {
      attempt: '1-1',
      transcript: 'try.jsonl',
      prompt: trialPrompt,
      timeouts: trialTimeouts,
      budget: {},
      onEvent: () => {},
    }
    const outcome = await agent.run(request, stop.signal)
    const answered = outcome.status === 'ok' && outcome.text.trim() !== ''
    if (answered) await removeFolder(folder)
    return { outcome, answered, stopped: stop.signal.aborted, durationMs: performance.now() - started, folder }
  } finally {
    stop.forget()
  }
}

/** The agent runs in its own process group, so a signal to Ralph must end it explicitly. */
function abortOnSignal() {
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
