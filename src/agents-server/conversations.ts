import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { writeFileAtomic } from '../platform/files/atomic-file.ts'
import { readTextIfExists } from '../platform/files/files.ts'

const KeptConversationFile = z.object({
  id: z.string(),
  startedAt: z.number(),
  endedAt: z.number(),
  sprintId: z.string().optional(),
  iteration: z.int().optional(),
  messages: z.int(),
  /** The session that the agent program can resume. */
  session: z.string().optional(),
  /** Paths of each prompt, inside the agent's folder. */
  transcripts: z.array(z.string()),
})
export type KeptConversation = z.output<typeof KeptConversationFile>

const ConversationsFile = z.object({ current: KeptConversationFile.optional(), past: z.array(KeptConversationFile) })

/** What a finished prompt adds to the conversation. */
export type ConversationEntry = {
  readonly startedAt: number
  readonly endedAt: number
  readonly sprintId?: string | undefined
  readonly iteration?: number | undefined
  readonly messages: number
  readonly session?: string | undefined
  readonly transcript: string
}

/** The exchange between users and an agent, from one reset to the next. */
export interface ConversationStore {
  readonly current: () => KeptConversation | undefined
  readonly all: () => readonly KeptConversation[]
  readonly add: (entry: ConversationEntry) => Promise<void>
  /** Archives the conversation and returns its id, if there was one. The next prompt starts a new one. */
  readonly reset: () => Promise<string | undefined>
}

const maxConversations = 1000

export async function openConversations(path: string): Promise<ConversationStore> {
  const read = ConversationsFile.safeParse(parseConversations(await readTextIfExists(path)))
  let { current, past } = read.success ? read.data : { current: undefined, past: [] }
  const save = () => writeFileAtomic(path, JSON.stringify({ current, past }))
  return {
    current: () => current,
    all: () => [...past, ...(current ? [current] : [])],
    add: async ({ transcript, ...entry }) => {
      if (current?.transcripts.includes(transcript)) return
      const { startedAt, messages, transcripts } = current ?? { ...entry, messages: 0, transcripts: [] }
      const id = current?.id ?? randomUUID()
      const all = { startedAt, messages: messages + entry.messages, transcripts: [...transcripts, transcript] }
      current = { ...current, ...entry, ...all, id }
      await save()
    },
    reset: async () => {
      if (!current) return undefined
      const { id } = current
      past = [...past, current].slice(-maxConversations)
      current = undefined
      await save()
      return id
    },
  }
}

function parseConversations(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return undefined
  }
}
