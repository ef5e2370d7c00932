import { setTimeout as sleep } from 'node:timers/promises'
import { client, type ClientContext, methods } from '@agentclientprotocol/sdk'
import { type AgentProcess, startAgent } from './agent-process.ts'
import type { Options } from './options.ts'
import { answerPermission } from './permissions.ts'
import { Refused, runTurn } from './turn.ts'
import { logged, type WireLog } from './wire-log.ts'

/**
 * One turn with an agent that speaks the Agent Client Protocol. The log says all there is to say of it; the exit code says
 * 0 for an agent that answered, whatever the answer, and 127 for one that could not be started.
 */
export async function bridge(options: Options, prompt: string, log: WireLog, stop: AbortSignal): Promise<number> {
  const agent = await start(options, log)
  if (!agent) return 127
  const stopping = stopped(stop)
  const turn = clientApp(log)
    .connectWith(logged(agent.stream, log), async (context) => {
      await runTurn(context, options, prompt, (sessionId) =>
        stopping.first(() => cancel(context, sessionId, options.graceMs)),
      )
      return 0
    })
    .catch((error: unknown) => {
      if (error instanceof Refused) log.note('refused', error.message)
      return 1
    })
  const died = agent.exited.then(() => sleep(lastWordsMs, 1))
  const code = await Promise.race([turn, died, stopping.asked])
  if (code === 1) await noteDeath(agent, log)
  await agent.end(options.graceMs)
  return code
}

/** What it said last may still be on its way when it is gone, and the other way round. */
const lastWordsMs = 200

async function noteDeath(agent: AgentProcess, log: WireLog): Promise<void> {
  const how = await Promise.race([agent.exited, sleep(lastWordsMs, undefined)])
  if (how !== undefined) log.note('agent-exited', `the agent ended with ${how}`)
}

async function start(options: Options, log: WireLog): Promise<AgentProcess | undefined> {
  try {
    return await startAgent(options.command, options.cwd)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    log.note('not-found', `${options.command[0]} cannot be started: ${message}`)
    return undefined
  }
}

const clientApp = (log: WireLog) =>
  client({ name: 'ralph' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      const answer = answerPermission(params)
      if (answer.outcome.outcome === 'cancelled') {
        log.note(
          'unanswered',
          `it asked for a permission that nobody could give: ${params.toolCall.title ?? 'untitled'}`,
        )
      }
      return answer
    })
    .onRequest(methods.client.elicitation.create, () => {
      log.note('unanswered', 'it asked a question that nobody could answer')
      return { action: 'cancel' as const }
    })

/** Told to stop, the turn is cancelled first: most agents then end their tools themselves. */
async function cancel(context: ClientContext, sessionId: string, graceMs: number): Promise<void> {
  await context.notify(methods.agent.session.cancel, { sessionId }).catch(() => {})
  await sleep(graceMs)
}

const terminated = 143

function stopped(stop: AbortSignal) {
  let before: (() => Promise<void>) | undefined
  const asked = new Promise<number>((resolve) => {
    const onStop = () => void Promise.resolve(before?.()).then(() => resolve(terminated))
    if (stop.aborted) onStop()
    else stop.addEventListener('abort', onStop, { once: true })
  })
  return {
    asked,
    first: (task: () => Promise<void>) => {
      before = task
    },
  }
}
