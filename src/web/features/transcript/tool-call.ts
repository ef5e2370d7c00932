import type { StoredEvent } from '../../../contract/fleet/event.ts'
import { type DiffLine, diffTexts, parsePatchLines } from '../../words/line-diff.ts'

/** One tool call, from its start to its end. */
export type ToolCall = {
  /** The id of its first event, as named in the URL. */
  readonly key: string
  readonly name: string
  readonly argument?: string | undefined
  readonly input?: unknown
  readonly startedAt: number
  readonly endedAt?: number | undefined
  readonly ok?: boolean | undefined
  readonly output?: string | undefined
  /** Its attempt ended while it ran. */
  readonly interrupted?: boolean
  /** The event whose complete output can be requested. */
  readonly clippedIn?: string | undefined
}

type StoredToolEvent = { readonly stored: StoredEvent; readonly event: ToolPart }
type ToolPart = Extract<Extract<StoredEvent['event'], { type: 'agent' }>['event'], { kind: 'tool' }>

export const startCall = ({ stored, event }: StoredToolEvent): ToolCall => ({
  key: stored.id,
  name: event.name ?? 'tool',
  argument: event.argument,
  input: event.input,
  startedAt: stored.at,
})

export const endCall = (call: ToolCall | undefined, { stored, event }: StoredToolEvent): ToolCall => ({
  ...(call ?? { key: stored.id, name: event.name ?? 'tool', argument: event.argument, startedAt: stored.at }),
  endedAt: stored.at,
  ok: event.ok,
  output: event.output,
  clippedIn: stored.clipped === true ? stored.id : undefined,
})

export const isShell = (name: string): boolean => /bash|shell|command|terminal|exec/i.test(name)

/** `exit 1`, as the program reports it; some report only success or failure. */
export function exitText({ ok, output }: ToolCall): string | undefined {
  if (ok === undefined) return undefined
  const code = /^(?:Exit code|exit code:?|Process exited with code) (\d{1,3})\b/i.exec(output ?? '')?.[1]
  return `exit ${code ?? (ok ? '0' : '1')}`
}

/** An edit or a new file as a diff; undefined for every other tool. */
export function toolCallDiff({ input, name }: ToolCall): DiffLine[] | undefined {
  const fields = inputFields(input)
  const patch = firstTextField(fields, 'patch', 'diff', 'unified_diff')
  if (patch !== undefined && /^[-+@]/m.test(patch)) return parsePatchLines(patch)
  const before = firstTextField(fields, 'old_string', 'oldString', 'old_str', 'oldText')
  const after = firstTextField(fields, 'new_string', 'newString', 'new_str', 'newText')
  if (before !== undefined || after !== undefined) return diffTexts(before ?? '', after ?? '')
  const content = firstTextField(fields, 'content', 'file_text')
  return /write|create/i.test(name) && content !== undefined ? diffTexts('', content) : undefined
}

export const shellCommand = ({ input, argument }: ToolCall): string =>
  firstTextField(inputFields(input), 'command', 'cmd', 'script') ?? argument ?? ''

const inputFields = (input: unknown): ReadonlyMap<string, unknown> =>
  typeof input === 'object' && input !== null ? new Map(Object.entries(input)) : new Map()

function firstTextField(fields: ReadonlyMap<string, unknown>, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fields.get(name)
    if (typeof value === 'string') return value
    if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return value.join(' ')
  }
  return undefined
}
