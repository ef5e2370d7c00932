import { join } from 'node:path'
import { driverNamed } from '../agents/drivers/registry.ts'
import { superviseAgent } from '../agents/supervise/supervisor.ts'
import type { RequestBody } from '../contract/fleet/channel.ts'
import type { Outcome } from '../contract/outcome.ts'
import { defaultTimeouts } from '../contract/settings.ts'
import { redactedAgent } from '../runtime/redacted.ts'
import { redactorFor } from '../storage/accounts/secrets.ts'
import type { Environment } from './agent-ports.ts'
import type { LocalAgent } from './agents.ts'

type Running = { readonly env: Environment; readonly signal: AbortSignal }

/** A user's own prompt, sent as written in the agent's conversation. */
export async function runText(
  agent: LocalAgent,
  body: RequestBody<'prompt'>,
  { env, signal }: Running,
): Promise<Outcome> {
  const { asked, promptId, program } = body
  if (asked.kind !== 'text') throw new Error('this is an order')
  const driver = driverNamed(program)
  const supervised = superviseAgent({
    sprintDir: textFolder(agent),
    cwd: agent.folder,
    env,
    driver,
    model: asked.model,
    pass: [],
  })
  const runner = redactedAgent(supervised, redactorFor(agent.folder, env))
  const resume = asked.resume === true ? agent.conversations.current()?.session : undefined
  const startedAt = Date.now()
  const attempt = textAttempt(promptId)
  let messages = 1
  const outcome = await runner.run(
    {
      attempt: promptId,
      transcript: `${promptId}.jsonl`,
      prompt: asked.text,
      timeouts: defaultTimeouts,
      budget: {},
      resume,
      onEvent: (event) => {
        if (event.kind === 'text') messages++
        const told = { type: 'agent' as const, iteration: 0, attempt: 0, event }
        agent.events.add({ at: Date.now(), promptId, event: told, attempt })
      },
    },
    signal,
  )
  const session = outcome.resumable ? outcome.sessionId : undefined
  const said = { startedAt, endedAt: Date.now(), messages, session, transcript: `${attempt}/transcript.jsonl` }
  await agent.conversations.add(said)
  return outcome
}

const textFolder = (agent: LocalAgent): string => join(agent.home, 'prompts')

/** Relative to the agent's folder. */
export const textAttempt = (promptId: string): string => `prompts/attempts/${promptId}`
