import { errorMessage } from '../contract/errors.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { client, type ClientContext, methods } from '@agentclientprotocol/sdk'
import { type AgentProcess, startAgent } from './agent-process.ts'
import type { BridgeOptions } from './options.ts'
import { answerPermission, type PermissionQuestion, describePermission } from './permissions.ts'
import { RefusedError, runTurn } from './turn.ts'
import { logStream, type WireLog } from './wire-log.ts'

/**
 * Runs one turn with an agent that speaks the Agent Client Protocol. Everything about it goes to the log; the exit code is 0
 * if the agent answered, whatever the answer, and 127 if it could not be started.
 */
export async function bridge(options: BridgeOptions, prompt: string, log: WireLog, stop: AbortSignal): Promise<number> {
  const agent = await startOrLog(options, log)
  if (!agent) return 127
  const stopping = createStopRequest(stop)
  let session = ''
  const user = createAbsentUser(options, log, () => session)
  const turn = createClientApp(options, user)
    .connectWith(logStream(agent.stream, log), async (context) => {
      await runTurn(context, options, prompt, (sessionId) => {
        session = sessionId
        stopping.first(() => cancelTurn(context, sessionId, options.graceMs))
      })
      return 0
    })
    .catch((error: unknown) => {
      if (error instanceof RefusedError) log.note('refused', error.message)
      return 1
    })
  const died = agent.exited.then(() => sleep(drainMs, 1))
  const code = await Promise.race([turn, died, stopping.asked, user.left])
  if (code === 1) await logAgentExit(agent, log)
  await agent.end(options.graceMs)
  return code
}

/** Last messages may arrive after the exit of the agent, and the exit after the end of the stream. */
const drainMs = 200

async function logAgentExit(agent: AgentProcess, log: WireLog): Promise<void> {
  const how = await Promise.race([agent.exited, sleep(drainMs, undefined)])
  if (how !== undefined) log.note('agent-exited', `the agent ended with ${how}`)
}

async function startOrLog(options: BridgeOptions, log: WireLog): Promise<AgentProcess | undefined> {
  try {
    return await startAgent(options.command, options.cwd)
  } catch (error) {
    const message = errorMessage(error)
    log.note('not-found', `${options.command[0]} cannot be started: ${message}`)
    return undefined
  }
}

type AbsentUser = {
  readonly left: Promise<number>
  readonly askUser: (question: PermissionQuestion, request: PendingRequest) => Promise<void>
}
type PendingRequest = { readonly signal: AbortSignal; readonly agent: ClientContext }

/** Handles requests that only the user can answer: unless the agent withdraws the request in time, the turn ends with a question. */
function createAbsentUser({ askAfterMs, graceMs }: BridgeOptions, log: WireLog, sessionId: () => string): AbsentUser {
  const stopping = new AbortController()
  const left = new Promise<number>((resolve) => {
    stopping.signal.addEventListener(
      'abort',
      () => void sleep(graceMs, undefined, { ref: false }).then(() => resolve(0)),
    )
  })
  return {
    left,
    askUser: async (question, { signal, agent }) => {
      await sleep(askAfterMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted || stopping.signal.aborted) return
      log.question(question)
      stopping.abort()
      await agent.notify(methods.agent.session.cancel, { sessionId: sessionId() }).catch(() => {})
    },
  }
}

const createClientApp = ({ answer }: BridgeOptions, user: AbsentUser) =>
  client({ name: 'ralph' })
    .onRequest(methods.client.session.requestPermission, async ({ params, ...request }) => {
      const known = answerPermission(params, answer)
      if (known) return known
      await user.askUser(describePermission(params), request)
      return { outcome: { outcome: 'cancelled' as const } }
    })
    .onRequest(methods.client.elicitation.create, async ({ params, ...request }) => {
      await user.askUser({ reason: params.message, details: 'The agent asks this itself.' }, request)
      return { action: 'cancel' as const }
    })

/** On a stop signal, cancel the turn first: most agents then end their tools themselves. */
async function cancelTurn(context: ClientContext, sessionId: string, graceMs: number): Promise<void> {
  await context.notify(methods.agent.session.cancel, { sessionId }).catch(() => {})
  await sleep(graceMs)
}

const terminated = 143

function createStopRequest(stop: AbortSignal) {
  let before: (() => Promise<void>) | undefined
  const stopRequested = new Promise<number>((resolve) => {
    const onStop = () => void Promise.resolve(before?.()).then(() => resolve(terminated))
    if (stop.aborted) onStop()
    else stop.addEventListener('abort', onStop, { once: true })
  })
  return {
    asked: stopRequested,
    first: (task: () => Promise<void>) => {
      before = task
    },
  }
}
