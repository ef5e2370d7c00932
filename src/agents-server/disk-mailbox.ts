import { z } from 'zod'
import type { Mailbox } from '../channel/mailbox.ts'
import type { DurableMessage } from '../channel/session.ts'
import { openLog, rewriteLog } from './log-file.ts'

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

/** The machine's side of the line, on its own disk. */
export interface DiskMailbox extends Mailbox {
  /** Resolves when the message is durable. `settles`: the id of the message whose work it completes. */
  readonly send: (message: IncomingMessage, settles?: string) => Promise<void>
  /** The work of a message is done without a reply. */
  readonly settle: (id: string) => Promise<void>
  /** Messages whose work is unfinished, in order of arrival: a restart resumes them. */
  readonly open: () => readonly IncomingMessage[]
  /** Messages that the other side has not stored yet. */
  readonly waiting: () => readonly IncomingMessage[]
  /** Called after each `send`. */
  readonly onSend: (hear: () => void) => void
  readonly close: () => Promise<void>
  /** Closes the log; the next process finds unfinished work. */
  readonly isClosed: () => boolean
}

/** How long message ids are remembered. */
const rememberMs = 7 * 86_400_000
/** How many replies are remembered. */
const maxKeptAnswers = 200
const compactAboveBytes = 8 * 1024 * 1024

export async function openDiskMailbox(path: string, now: () => number = Date.now): Promise<DiskMailbox> {
  const state = await loadMailbox(path, now)
  const hearing: (() => void)[] = []
  let log = (await openLog(path)).file
  let shortening: Promise<void> | undefined
  let writing = 0
  let isClosed = false

  const shorten = async (): Promise<void> => {
    await log.close()
    await rewriteLog(path, compactedEntries(state, now()))
    log = (await openLog(path)).file
  }
  const write = async (entry: MailboxEntry): Promise<void> => {
    await shortening
    writing++
    try {
      await log.append(entry)
      applyMailboxEntry(state, entry)
    } finally {
      writing--
    }
    // Only when no write is pending: an entry that is written but not applied yet would be lost.
    if (writing > 0 || log.size() < compactAboveBytes || estimateSize(state) * 2 > compactAboveBytes) return
    shortening = shorten().finally(() => (shortening = undefined))
    await shortening
  }
  const send: DiskMailbox['send'] = async (message, settles) => {
    await write({ kind: 'out', position: ++state.position, message, ...(settles !== undefined && { settles }) })
    for (const hear of hearing) hear()
  }
  return {
    pending: async (after, most) => state.out.filter(({ position }) => position > after).slice(0, most),
    acked: async (position) => {
      applyMailboxEntry(state, { kind: 'acked', position })
      // Not awaited: a message that is resent because this entry was lost has no second effect.
      void write({ kind: 'acked', position }).catch(() => {})
    },
    store: async ({ id, type, body }) => {
      if (!state.seen.has(id)) {
        await write({ kind: 'in', at: now(), message: { id, type, body } })
        return 'new'
      }
      // The sender lost the reply, with the ack or by restoring an old database.
      const answer = state.answers.get(id)
      if (answer && !state.out.some((waiting) => waiting.id === answer.id)) await send(answer)
      return 'seen'
    },
    send,
    settle: (id) => write({ kind: 'settled', id }),
    open: () => [...state.open.values()],
    waiting: () => state.out,
    onSend: (hear) => void hearing.push(hear),
    isClosed: () => isClosed,
    close: async () => {
      isClosed = true
      await shortening
      await log.close()
    },
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
  for (const [id, at] of seen) if (now - at > rememberMs && !open.has(id)) seen.delete(id)
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
