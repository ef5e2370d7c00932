import { decodeReportReply, encodeReport } from '../connection/message.ts'
import type { Line } from '../connection/line.ts'
import { coalesce } from '../platform/async.ts'
import type { LocalAgent } from './local-agents.ts'

const maxEvents = 500
const maxCharacters = 256 * 1024
const debounceMs = 30
const deadlineMs = 30_000

export interface Uploader {
  /** Uploads through this line from now on. `stored` has the number of the last event that the backend has, per agent. */
  readonly connect: (line: Line, stored: Readonly<Record<string, number>>) => void
  /** Uploads the events of this agent too. */
  readonly add: (agent: LocalAgent) => void
}

/** Sends the events of each agent in order: the next batch once the backend has stored the previous one. Unsent events stay on disk. */
export function openUploader(): Uploader {
  const stored = new Map<string, number>()
  const sendByAgent = new Map<string, () => void>()
  let line: Line | undefined

  const send = async (agent: LocalAgent) => {
    const { agentId, events } = agent
    await new Promise((resolve) => setTimeout(resolve, debounceMs))
    for (;;) {
      const current = line
      const after = stored.get(agentId)
      if (!current || after === undefined) return
      const batch = takeFittingEvents(await events.read(after, maxEvents))
      if (batch.length === 0) return
      const body = encodeReport('events', { agentId, events: batch })
      const reply = await current.call('events', body, deadlineMs)
      if (line !== current) continue
      const upTo = decodeReportReply('events', reply).stored
      // Guards against an endless loop with a backend that stores nothing and says so.
      if (upTo <= after) return
      stored.set(agentId, upTo)
      events.forget(upTo)
    }
  }
  return {
    connect: (next, storedByAgent) => {
      line = next
      for (const [agentId, upTo] of Object.entries(storedByAgent)) stored.set(agentId, upTo)
      for (const [agentId, sendEvents] of sendByAgent) {
        if (!stored.has(agentId)) stored.set(agentId, 0)
        sendEvents()
      }
      void next.closed.then(() => (line = line === next ? undefined : line))
    },
    add: (agent) => {
      if (sendByAgent.has(agent.agentId)) return
      const sendEvents = coalesce(
        () => send(agent),
        () => {},
      )
      sendByAgent.set(agent.agentId, sendEvents)
      if (line && !stored.has(agent.agentId)) stored.set(agent.agentId, 0)
      agent.events.onMore(sendEvents)
    },
  }
}

/** The first events, as many as fit into one message; at least one. */
function takeFittingEvents<T>(events: readonly T[]): T[] {
  let remaining = maxCharacters
  const batch: T[] = []
  for (const event of events) {
    remaining -= JSON.stringify(event).length
    if (remaining < 0 && batch.length > 0) break
    batch.push(event)
  }
  return batch
}
