import { z } from 'zod'
import type { Mailbox } from '../channel/mailbox.ts'
import type { KeptMessage } from '../channel/session.ts'
import { openLog, rewriteLog } from './log-file.ts'

const Message = z.object({ id: z.string(), type: z.string(), body: z.unknown() })

const Entry = z.discriminatedUnion('kind', [
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
type Entry = z.output<typeof Entry>

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
const keptAnswers = 200
const longestBytes = 8 * 1024 * 1024

export async function openDiskMailbox(path: string, now: () => number = Date.now): Promise<DiskMailbox> {
  const state = await load(path, now)
  const hearing: (() => void)[] = []
  let log = (await openLog(path)).file
  let shortening: Promise<void> | undefined
  let writing = 0
  let isClosed = false

  const shorten = async (): Promise<void> => {
    await log.close()
    await rewriteLog(path, entriesOf(state, now()))
    log = (await openLog(path)).file
  }
  const write = async (entry: Entry): Promise<void> => {
    await shortening
    writing++
    try {
      await log.append(entry)
      apply(state, entry)
    } finally {
      writing--
    }
    // Only when no write is pending: an entry that is written but not applied yet would be lost.
    if (writing > 0 || log.size() < longestBytes || sizeOf(state) * 2 > longestBytes) return
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
      apply(state, { kind: 'acked', position })
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

type State = {
  position: number
  readonly seen: Map<string, number>
  readonly open: Map<string, IncomingMessage>
  /** By the id of the answered message, oldest first. */
  readonly answers: Map<string, IncomingMessage>
  out: KeptMessage[]
}

/** The log as found, compacted. */
async function load(path: string, now: () => number): Promise<State> {
  const state: State = { position: 0, seen: new Map(), open: new Map(), answers: new Map(), out: [] }
  const { file, values } = await openLog(path)
  await file.close()
  for (const value of values) {
    const entry = Entry.safeParse(value)
    if (entry.success) apply(state, entry.data)
  }
  await rewriteLog(path, entriesOf(state, now()))
  return state
}

function apply(state: State, entry: Entry): void {
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
      if (entry.settles !== undefined) settle(state, entry.settles, entry.message)
      return
    case 'settled':
      state.open.delete(entry.id)
      return
    case 'acked':
      state.out = state.out.filter(({ position }) => position > entry.position)
      return
    case 'answered':
      settle(state, entry.id, entry.message)
      return
    case 'known':
      state.position = Math.max(state.position, entry.position)
      for (const [id, at] of entry.seen) state.seen.set(id, at)
  }
}

function settle({ open, answers }: State, id: string, answer: IncomingMessage): void {
  open.delete(id)
  answers.set(id, answer)
  const [oldest] = answers.keys()
  if (answers.size > keptAnswers && oldest !== undefined) answers.delete(oldest)
}

function entriesOf({ position, seen, open, answers, out }: State, now: number): Entry[] {
  for (const [id, at] of seen) if (now - at > rememberMs && !open.has(id)) seen.delete(id)
  return [
    { kind: 'known', position, seen: [...seen] },
    ...[...answers].map(([id, message]): Entry => ({ kind: 'answered', id, message })),
    ...[...open.values()].map((message): Entry => ({ kind: 'in', at: seen.get(message.id) ?? now, message })),
    ...out.map(({ position: at, ...message }): Entry => ({ kind: 'out', position: at, message })),
  ]
}

/** The approximate size of the log after compaction. */
const sizeOf = ({ open, out, answers, seen }: State): number =>
  seen.size * 60 + JSON.stringify([...open.values(), ...answers.values(), ...out]).length
