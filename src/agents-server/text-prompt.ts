import { join } from 'node:path'
import { protectionFor } from '../agents/cells/protection.ts'
import { getDriver } from '../agents/drivers/registry.ts'
import { superviseAgent } from '../agents/supervise/supervisor.ts'
import type { RequestBody } from '../contract/fleet/machine-messages.ts'
import type { Outcome } from '../contract/outcome.ts'
import { defaultTimeouts } from '../contract/settings.ts'
import { redactAgent } from '../runtime/redact-ports.ts'
import { createProjectRedactor } from '../storage/accounts/secrets.ts'
import type { HostEnvironment } from '../host/create-ports.ts'
import type { LocalAgent } from './local-agents.ts'
import type { MachinePolicy } from './policy.ts'

type TextPromptOptions = {
  readonly env: HostEnvironment
  readonly signal: AbortSignal
  /** Ralph's own folders. */
  readonly ralphHomes: readonly string[]
  /** Absent: no limits. */
  readonly policy?: MachinePolicy | undefined
}

/** A user's own prompt, sent as written in the agent's conversation, in the same cell as prompts of a sprint. */
export async function runTextPrompt(
  agent: LocalAgent,
  body: RequestBody<'prompt'>,
  { env, signal, ralphHomes, policy }: TextPromptOptions,
): Promise<Outcome> {
  const { asked, promptId, program } = body
  if (asked.kind !== 'text') throw new Error('this is an order')
  const driver = getDriver(program)
  const walls = { sandbox: asked.cell ?? 'auto' }
  const protection = await protectionFor({ walls, env, cwd: agent.folder, ralphHomes })
  policy?.assertProtection(protection)
  const note = (text: string) =>
    agent.events.add({ at: Date.now(), promptId, event: { type: 'note', level: 'warning', text } })
  const supervised = superviseAgent({
    sprintDir: textPromptFolder(agent),
    cwd: agent.folder,
    env,
    driver,
    model: asked.model,
    pass: [],
    sandbox: protection.sandbox,
    onNote: note,
  })
  const runner = redactAgent(supervised, createProjectRedactor(agent.folder, env))
  const resume = asked.resume === true ? agent.conversations.current()?.session : undefined
  const startedAt = Date.now()
  const attempt = textPromptAttempt(promptId)
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
        const sprintEvent = { type: 'agent' as const, iteration: 0, attempt: 0, event }
        agent.events.add({ at: Date.now(), promptId, event: sprintEvent, attempt })
      },
      drained: () => agent.events.drained(),
    },
    signal,
  )
  const session = outcome.resumable ? outcome.sessionId : undefined
  const conversation = { startedAt, endedAt: Date.now(), messages, session, transcript: `${attempt}/transcript.jsonl` }
  await agent.conversations.add(conversation)
  return outcome
}

const textPromptFolder = (agent: LocalAgent): string => join(agent.home, 'prompts')

/** Relative to the agent's folder. */
export const textPromptAttempt = (promptId: string): string => `prompts/attempts/${promptId}`
