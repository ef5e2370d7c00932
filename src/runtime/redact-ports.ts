import type { AgentEvent } from '../contract/events.ts'
import { redactDeep, type Redact } from '../contract/secrets/redact.ts'
import type { AgentRunner, ShellRunner } from './ports.ts'

/** Called at the start and at the end of every run: secrets come and go with files such as `.env`. */
export type RedactFactory = () => Redact

/** Wraps an agent so that its events and outcome contain no secrets. Its transcript stays unchanged. */
export const redactAgent = (agent: AgentRunner, redactor: RedactFactory): AgentRunner => ({
  ...agent,
  async run(request, signal) {
    const clean = createEventRedactor(redactor())
    const onEvent = (event: AgentEvent) => request.onEvent(clean(event))
    return redactDeep(await agent.run({ ...request, onEvent }, signal), redactor())
  },
})

/** Wraps a shell runner so that its output contains no secrets. */
export const redactShell = (shell: ShellRunner, redactor: RedactFactory): ShellRunner => ({
  run: async (request, signal) => redactDeep(await shell.run(request, signal), redactor()),
})

/** Redacts events, including a private key that arrives line by line. */
export function createEventRedactor(redact: Redact): (event: AgentEvent) => AgentEvent {
  let inKey = false
  return (event) => {
    const clean = redactDeep(event, redact)
    if (clean.kind !== 'text' && clean.kind !== 'raw') return clean
    const text = clean.kind === 'text' ? clean.text : clean.line
    const isPart = inKey && /^[A-Za-z0-9+/=\s-]*$/.test(text)
    inKey = isPart ? !text.includes('-----END') : text.trimEnd().endsWith('[redacted private key]')
    if (!isPart) return clean
    return clean.kind === 'text' ? { ...clean, text: '' } : { ...clean, line: '' }
  }
}
