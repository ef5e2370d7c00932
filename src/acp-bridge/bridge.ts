import { setTimeout as sleep } from 'node:timers/promises'
import { client, type ClientContext, methods } from '@agentclientprotocol/sdk'
import { type AgentProcess, startAgent } from './agent-process.ts'
import type { Options } from './options.ts'
import { answerPermission, type Question, questionOf } from './permissions.ts'
import { Refused, runTurn } from './turn.ts'
import { logged, type WireLog } from './wire-log.ts'

/**
 * Runs one turn with an agent that speaks the Agent Client Protocol. Everything about it goes to the log; the exit code is 0
 * if the agent answered, whatever the answer, and 127 if it could not be started.
 */
export async function bridge(options: Options, prompt: string, log: WireLog, stop: AbortSignal): Promise<number> {
  const agent = await start(options, log)
  if (!agent) return 127
  const stopping = stopped(stop)
  let session = ''
  const person = absentPerson(options, log, () => session)
  const turn = clientApp(options, person)
    .connectWith(logged(agent.stream, log), async (context) => {
      await runTurn(context, options, prompt, (sessionId) => {
        session = sessionId
        stopping.first(() => cancel(context, sessionId, options.graceMs))
      })
      return 0
    })
    .catch((error: unknown) => {
      if (error instanceof Refused) log.note('refused', error.message)
      return 1
    })
  const died = agent.exited.then(() => sleep(lastWordsMs, 1))
  const code = await Promise.race([turn, died, stopping.asked, person.left])
  if (code === 1) await noteDeath(agent, log)
  await agent.end(options.graceMs)
  return code
}

/** Last messages may arrive after the exit of the agent, and the exit after the end of the stream. */
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

type Person = {
  readonly left: Promise<number>
  readonly leave: (question: Question, request: Pending) => Promise<void>
}
type Pending = { readonly signal: AbortSignal; readonly agent: ClientContext }

/** Handles requests that only the user can answer: unless the agent withdraws the request in time, the turn ends with a question. */
function absentPerson({ askAfterMs, graceMs }: Options, log: WireLog, sessionId: () => string): Person {
  const asked = new AbortController()
  const left = new Promise<number>((resolve) => {
    asked.signal.addEventListener('abort', () => void sleep(graceMs, undefined, { ref: false }).then(() => resolve(0)))
  })
  return {
    left,
    leave: async (question, { signal, agent }) => {
      await sleep(askAfterMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted || asked.signal.aborted) return
      log.question(question)
      asked.abort()
      await agent.notify(methods.agent.session.cancel, { sessionId: sessionId() }).catch(() => {})
    },
  }
}

const clientApp = ({ answer }: Options, person: Person) =>
  client({ name: 'ralph' })
    .onRequest(methods.client.session.requestPermission, async ({ params, ...request }) => {
      const known = answerPermission(params, answer)
      if (known) return known
      await person.leave(questionOf(params), request)
      return { outcome: { outcome: 'cancelled' as const } }
    })
    .onRequest(methods.client.elicitation.create, async ({ params, ...request }) => {
      await person.leave({ reason: params.message, details: 'The agent asks this itself.' }, request)
      return { action: 'cancel' as const }
    })

/** On a stop signal, cancel the turn first: most agents then end their tools themselves. */
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
