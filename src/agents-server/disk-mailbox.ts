import { z } from 'zod'
import type { Mailbox } from '../connection/mailbox.ts'
import type { DurableMessage } from '../connection/session.ts'
import { noop } from '../platform/async.ts'
import { openLog, rewriteLog, type LogFile } from '../platform/files/log-file.ts'

const Message = z.object({ id: z.string(), type: z.string(), body: z.unknown() })

const MailboxEntry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('in'), at: z.number(), message: Message }),
  /** `settles`: the message that this one completes. Both are recorded in one write. */
  z.object({ kind: z.literal('out'), position: z.int(), message: Message, settles: z.string().optional() }),
  z.object({ kind: z.literal('settled'), id: z.string() }),
  z.object({ kind: z.literal('acked'), position: z.int() }),
  /** The final reply to a message whose work is done. */
  z.object({ kind: z.literal('answered'), id: z.string(), message: Message }),
  /** The state before the entries that follow, written by compaction. */
  z.object({ kind: z.literal('known'), position: z.int(), seen: z.array(z.tuple([z.string(), z.number()])) }),
])
type MailboxEntry = z.output<typeof MailboxEntry>

export type IncomingMessage = z.output<typeof Message>

/** How long message ids are remembered. */
const idRetentionMs = 7 * 86_400_000
/** How many replies are remembered. */
const maxKeptAnswers = 200
const compactAboveBytes = 8 * 1024 * 1024

export async function openDiskMailbox(path: string, now: () => number = Date.now): Promise<DiskMailbox> {
  const state = await loadMailbox(path, now)
  return new DiskMailbox({ path, now, state, log: (await openLog(path)).file })
}

type MailboxParts = {
  readonly path: string
  readonly now: () => number
  readonly state: MailboxState
  readonly log: LogFile
}

/** The machine's side of the line, on its own disk. After `close`, the next process finds unfinished work. */
export class DiskMailbox implements Mailbox {
  readonly #path: string
  readonly #now: () => number
  readonly #state: MailboxState
  readonly #listeners: (() => void)[] = []
  #log: LogFile
  #compaction: Promise<void> | undefined
  #openWrites = 0
  #isClosed = false

  constructor({ path, now, state, log }: MailboxParts) {
    this.#path = path
    this.#now = now
    this.#state = state
    this.#log = log
  }

  async pending(after: number, limit: number): Promise<readonly DurableMessage[]> {
    return this.#state.out.filter(({ position }) => position > after).slice(0, limit)
  }

  async acked(position: number): Promise<void> {
    applyMailboxEntry(this.#state, { kind: 'acked', position })
    // Not awaited: a message that is resent because this entry was lost has no second effect.
    void this.#write({ kind: 'acked', position }).catch(noop)
  }

  async store({ id, type, body }: IncomingMessage): Promise<'new' | 'seen'> {
    const { seen, answers, out } = this.#state
    if (!seen.has(id)) {
      await this.#write({ kind: 'in', at: this.#now(), message: { id, type, body } })
      return 'new'
    }
    // The sender lost the reply, with the ack or by restoring an old database.
    const answer = answers.get(id)
    if (answer && !out.some((waiting) => waiting.id === answer.id)) await this.send(answer)
    return 'seen'
  }

  /** Resolves when the message is durable. `settles`: the id of the message whose work it completes. */
  async send(message: IncomingMessage, settles?: string): Promise<void> {
    const position = ++this.#state.position
    await this.#write({ kind: 'out', position, message, ...(settles !== undefined && { settles }) })
    for (const listener of this.#listeners) listener()
  }

  /** The work of a message is done without a reply. */
  settle(id: string): Promise<void> {
    return this.#write({ kind: 'settled', id })
  }

  /** Messages whose work is unfinished, in order of arrival: a restart resumes them. */
  open(): readonly IncomingMessage[] {
    return [...this.#state.open.values()]
  }

  /** Messages that the other side has not stored yet. */
  waiting(): readonly IncomingMessage[] {
    return this.#state.out
  }

  /** The listener is called after each `send`. */
  onSend(listener: () => void): void {
    this.#listeners.push(listener)
  }

  isClosed(): boolean {
    return this.#isClosed
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#compaction
    await this.#log.close()
  }

  async #write(entry: MailboxEntry): Promise<void> {
    await this.#compaction
    this.#openWrites++
    try {
      await this.#log.append(entry)
      applyMailboxEntry(this.#state, entry)
    } finally {
      this.#openWrites--
    }
    // Only when no write is pending: an entry that is written but not applied yet would be lost.
    if (this.#openWrites > 0 || this.#log.size() < compactAboveBytes) return
    if (estimateSize(this.#state) * 2 > compactAboveBytes) return
    this.#compaction = this.#compact().finally(() => (this.#compaction = undefined))
    await this.#compaction
  }

  async #compact(): Promise<void> {
    await this.#log.close()
    await rewriteLog(this.#path, compactedEntries(this.#state, this.#now()))
    this.#log = (await openLog(this.#path)).file
  }
}

type MailboxState = {
  position: number
  readonly seen: Map<string, number>
  readonly open: Map<string, IncomingMessage>
  /** By the id of the answered message, oldest first. */
  readonly answers: Map<string, IncomingMessage>
  out: DurableMessage[]
}

/** The log as found, compacted. */
async function loadMailbox(path: string, now: () => number): Promise<MailboxState> {
  const state: MailboxState = { position: 0, seen: new Map(), open: new Map(), answers: new Map(), out: [] }
  const { file, values } = await openLog(path)
  await file.close()
  for (const value of values) {
    const entry = MailboxEntry.safeParse(value)
    if (entry.success) applyMailboxEntry(state, entry.data)
  }
  await rewriteLog(path, compactedEntries(state, now()))
  return state
}

function applyMailboxEntry(state: MailboxState, entry: MailboxEntry): void {
  switch (entry.kind) {
    case 'in':
      state.seen.set(entry.message.id, entry.at)
      state.open.set(entry.message.id, entry.message)
      return
    case 'out':
      state.position = Math.max(state.position, entry.position)
      // Two concurrent sends may be written in the opposite order.
      state.out = [...state.out, { position: entry.position, ...entry.message }].toSorted(
        (a, b) => a.position - b.position,
      )
      if (entry.settles !== undefined) settleMessage(state, entry.settles, entry.message)
      return
    case 'settled':
      state.open.delete(entry.id)
      return
    case 'acked':
      state.out = state.out.filter(({ position }) => position > entry.position)
      return
    case 'answered':
      settleMessage(state, entry.id, entry.message)
      return
    case 'known':
      state.position = Math.max(state.position, entry.position)
      for (const [id, at] of entry.seen) state.seen.set(id, at)
  }
}

function settleMessage({ open, answers }: MailboxState, id: string, answer: IncomingMessage): void {
  open.delete(id)
  answers.set(id, answer)
  const [oldest] = answers.keys()
  if (answers.size > maxKeptAnswers && oldest !== undefined) answers.delete(oldest)
}

function compactedEntries({ position, seen, open, answers, out }: MailboxState, now: number): MailboxEntry[] {
  for (const [id, at] of seen) if (now - at > idRetentionMs && !open.has(id)) seen.delete(id)
  return [
    { kind: 'known', position, seen: [...seen] },
    ...[...answers].map(([id, message]): MailboxEntry => ({ kind: 'answered', id, message })),
    ...[...open.values()].map((message): MailboxEntry => ({ kind: 'in', at: seen.get(message.id) ?? now, message })),
    ...out.map(({ position: at, ...message }): MailboxEntry => ({ kind: 'out', position: at, message })),
  ]
}

/** The approximate size of the log after compaction. */
const estimateSize = ({ open, out, answers, seen }: MailboxState): number =>
  seen.size * 60 + JSON.stringify([...open.values(), ...answers.values(), ...out]).length
