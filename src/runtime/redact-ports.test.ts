import { expect, it } from 'vitest'
import type { AgentEvent } from '../contract/events.ts'
import { noUsage, type Outcome } from '../contract/outcome.ts'
import { createRedactor } from '../contract/secrets/redact.ts'
import { createEventRedactor, redactAgent, redactShell } from './redact-ports.ts'
import type { AgentRequest } from './ports.ts'

const key = 'AKIAIOSFODNN7EXAMPLE'
const shown = '[redacted AWS key]'
const secrets = () => createRedactor()
const never = new AbortController().signal

it('redacts the events and the outcome of an agent', async () => {
  const events: AgentEvent[] = []
  const request: AgentRequest = {
    attempt: '1-1',
    transcript: 't',
    prompt: `use ${key}`,
    timeouts: { idle: 1, attempt: 1, afterResult: 1 },
    budget: {},
    onEvent: (event) => void events.push(event),
  }
  const prompts: string[] = []
  const ended: Outcome = { status: 'failed', reason: key, text: key, retryable: true, resumable: false, usage: noUsage }
  const agent = redactAgent(
    {
      name: 'a',
      transcriptPath: (name) => name,
      run: async ({ prompt, onEvent }) => {
        prompts.push(prompt)
        onEvent({ kind: 'tool', phase: 'start', id: 't', input: { command: `echo ${key}` } })
        return { ...ended, structured: { deep: [key] } }
      },
    },
    secrets,
  )

  expect(await agent.run(request, never)).toEqual({
    ...ended,
    reason: shown,
    text: shown,
    structured: { deep: [shown] },
  })
  expect(events).toEqual([{ kind: 'tool', phase: 'start', id: 't', input: { command: `echo ${shown}` } }])
  expect(prompts).toEqual([`use ${key}`])
})

it('redacts the output of a check', async () => {
  const end = { exitCode: 1, output: `a ${key}`, error: key, durationMs: 1 }
  const shell = redactShell({ run: async () => end }, secrets)

  expect(await shell.run({ attempt: 'a', command: 'c', timeoutMs: 1 }, never)).toEqual({
    exitCode: 1,
    output: `a ${shown}`,
    error: shown,
    durationMs: 1,
  })
})

it('redacts a private key that arrives line by line', () => {
  const clean = createEventRedactor(createRedactor())
  const body = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA'
  const lines = ['-----BEGIN PRIVATE KEY-----', body, body.slice(0, 9), '-----END PRIVATE KEY-----', 'done', body]

  const texts = lines.map((text) => clean({ kind: 'text', text: `${text}\n` }))
  expect(texts.map((event) => (event.kind === 'text' ? event.text.trim() : ''))).toEqual([
    '[redacted private key]',
    '',
    '',
    '',
    'done',
    body,
  ])
})
