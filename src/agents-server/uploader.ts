import { decodeReportReply, encodeReport } from '../connection/message.ts'
import type { Line } from '../connection/line.ts'
import { coalesce } from '../platform/async.ts'
import type { LocalAgent } from './local-agents.ts'

const maxEvents = 500
const maxCharacters = 256 * 1024
const debounceMs = 30
const deadlineMs = 30_000

export interface Uploader {
  /** The line is up, and the backend has reported the last stored event of each agent. */
  readonly begin: (line: Line, stored: Readonly<Record<string, number>>) => void
  readonly add: (agent: LocalAgent) => void
}

/**
 * Sends the events of all agents in order: the next batch when the previous one is stored. Unsent events wait on the
 * disk.
 */
export function openUploader(): Uploader {
  const stored = new Map<string, number>()
  const wakes = new Map<string, () => void>()
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
    begin: (next, known) => {
      line = next
      for (const [agentId, upTo] of Object.entries(known)) stored.set(agentId, upTo)
      for (const [agentId, wake] of wakes) {
        if (!stored.has(agentId)) stored.set(agentId, 0)
        wake()
      }
      void next.closed.then(() => (line = line === next ? undefined : line))
    },
    add: (agent) => {
      if (wakes.has(agent.agentId)) return
      const wake = coalesce(
        () => send(agent),
        () => {},
      )
      wakes.set(agent.agentId, wake)
      if (line && !stored.has(agent.agentId)) stored.set(agent.agentId, 0)
      agent.events.onMore(wake)
    },
  }
}

/** As many events as fit into one message. */
function takeFittingEvents<T>(events: readonly T[]): T[] {
  let room = maxCharacters
  const taken: T[] = []
  for (const event of events) {
    room -= JSON.stringify(event).length
    if (room < 0 && taken.length > 0) break
    taken.push(event)
  }
  return taken
}
