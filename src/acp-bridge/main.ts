import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { client, type ClientContext, methods } from '@agentclientprotocol/sdk'
import { type AgentProcess, startAgent } from './agent-process.ts'
import { type Options, parseOptions } from './options.ts'
import { answerPermission } from './permissions.ts'
import { Refused, runTurn } from './turn.ts'
import { logged, type WireLog, wireLog } from './wire-log.ts'

/**
 * Runs one turn with an agent that speaks the Agent Client Protocol: the prompt comes on stdin, and stdout gets every
 * message of the conversation. So it can be started like any other agent program, and the log says all there is to say;
 * exit code 0 only means that the agent answered.
 */
async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  const log = wireLog((line) => process.stdout.write(line), performance.now.bind(performance))
  const prompt = await text(process.stdin)
  const agent = await start(options, log)
  return agent ? await converse(agent, options, prompt, log) : 127
}

async function start(options: Options, log: WireLog): Promise<AgentProcess | undefined> {
  try {
    return await startAgent(options.command, options.cwd)
  } catch (error) {
    log.note('not-found', `${options.command[0]} cannot be started: ${messageOf(error)}`)
    return undefined
  }
}

async function converse(agent: AgentProcess, options: Options, prompt: string, log: WireLog): Promise<number> {
  const stop = stopOnSignal()
  const turn = clientApp(log)
    .connectWith(logged(agent.stream, log), async (context) => {
      await runTurn(context, options, prompt, (sessionId) => stop.first(() => cancel(context, sessionId)))
      return 0
    })
    .catch((error: unknown) => {
      if (error instanceof Refused) log.note('refused', error.message)
      return 1
    })
  const died = agent.exited.then(async (how) => {
    // What it said last may still be on its way.
    await sleep(200)
    log.note('agent-exited', how)
    return 1
  })
  const code = await Promise.race([turn, died, stop.asked])
  await agent.end()
  return code
}

/** Told to stop, it cancels the turn first: most agents then end their tools themselves. */
async function cancel(context: ClientContext, sessionId: string): Promise<void> {
  await context.notify(methods.agent.session.cancel, { sessionId }).catch(() => {})
  await sleep(cancelMs)
}

const cancelMs = 2000

function stopOnSignal() {
  let before: (() => Promise<void>) | undefined
  const asked = new Promise<number>((resolve) => {
    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const) {
      process.once(signal, () => void Promise.resolve(before?.()).then(() => resolve(code)))
    }
  })
  return {
    asked,
    first: (task: () => Promise<void>) => {
      before = task
    },
  }
}

const clientApp = (log: WireLog) =>
  client({ name: 'ralph' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      const answer = answerPermission(params)
      if (answer.outcome.outcome === 'cancelled') {
        log.note(
          'unanswered',
          `it asked for a permission that could not be given: ${params.toolCall.title ?? 'no title'}`,
        )
      }
      return answer
    })
    .onRequest(methods.client.elicitation.create, () => {
      log.note('unanswered', 'it asked a question, and nobody was there to answer')
      return { action: 'cancel' as const }
    })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

process.exitCode = await main()
process.exit()
