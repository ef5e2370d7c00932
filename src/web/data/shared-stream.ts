import { z } from 'zod'
import { followChanges, type ChangeFollower } from '../../client/changes.ts'
import { FleetChange } from '../../contract/fleet/event.ts'

export type StreamHandlers = {
  readonly onChange: (change: FleetChange) => void
  readonly onState: (state: 'live' | 'lost') => void
  /** From now on the stream has the events of the requested sprint; earlier answers may lack some. */
  readonly onScope: () => void
}

export interface SharedStream {
  readonly setSprint: (sprintId: string | undefined) => void
  readonly retryNow: () => void
  readonly end: () => void
}

const TabMessage = z.discriminatedUnion('type', [
  /** A tab joins, or shows another sprint. */
  z.object({ type: z.literal('hello'), tab: z.string(), sprintId: z.string().optional(), isNew: z.boolean() }),
  z.object({ type: z.literal('bye'), tab: z.string() }),
  z.object({ type: z.literal('retry') }),
  /** A new leader asks all tabs what they show. */
  z.object({ type: z.literal('leader') }),
  z.object({ type: z.literal('change'), change: z.unknown() }),
  z.object({ type: z.literal('state'), state: z.enum(['live', 'lost']), sprintIds: z.array(z.string()) }),
  /** The answer of the leader to a new tab. */
  z.object({ type: z.literal('welcome'), tab: z.string() }),
])
type TabMessage = z.infer<typeof TabMessage>

const channelName = 'ralph-live'

/** Web locks need a secure context, which a plain http address in a local network is not. */
export const canShare = (): boolean => 'locks' in navigator && 'BroadcastChannel' in globalThis

/**
 * One stream of changes for all tabs of a browser: over HTTP/1.1 a browser opens at most six connections to a server, so a stream
 * per tab would let the seventh tab hang. The tab that holds a lock has the connection and passes changes on to the others; when
 * it closes, the next one gets the lock.
 */
export function followShared(handlers: StreamHandlers, firstSprint: string | undefined): SharedStream {
  const tab = crypto.randomUUID()
  const channel = new BroadcastChannel(channelName)
  const leaving = new AbortController()
  let sprintId = firstSprint
  let streamedSprints: readonly string[] = []
  let leader: StreamLeader | undefined
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- channels reach only pages of this origin
  const send = (message: TabMessage): void => channel.postMessage(message)
  const onState = (state: 'live' | 'lost', sprintIds: readonly string[]): void => {
    const isNew = sprintId !== undefined && sprintIds.includes(sprintId) && !streamedSprints.includes(sprintId)
    streamedSprints = sprintIds
    handlers.onState(state)
    if (isNew) handlers.onScope()
  }
  const announceTab = (isNew: boolean): void => {
    if (leader) leader.setSprint(tab, sprintId)
    else send({ type: 'hello', tab, isNew, ...(sprintId !== undefined && { sprintId }) })
  }
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = TabMessage.parse(data)
    leader?.onMessage(message)
    if (message.type === 'leader') announceTab(false)
    else if (message.type === 'change')
      handlers.onChange(z.decode(FleetChange, z.custom<never>().parse(message.change)))
    else if (message.type === 'state') onState(message.state, message.sprintIds)
    else if (message.type === 'welcome' && message.tab === tab) handlers.onChange({ type: 'start-over' })
  })
  const lead = (): Promise<void> =>
    new Promise((resolve) => {
      leader = createLeader({ tab, sprintId, send, onChange: handlers.onChange, onState })
      leaving.signal.addEventListener('abort', () => resolve())
    })
  navigator.locks.request(channelName, { signal: leaving.signal }, lead).catch(() => undefined)
  announceTab(true)
  return {
    setSprint: (next) => {
      if (next === sprintId) return
      sprintId = next
      announceTab(false)
    },
    retryNow: () => (leader ? leader.retryNow() : send({ type: 'retry' })),
    end: () => {
      send({ type: 'bye', tab })
      leader?.end()
      leaving.abort()
      channel.close()
    },
  }
}

type LeaderParts = {
  readonly tab: string
  readonly sprintId: string | undefined
  readonly send: (message: TabMessage) => void
  readonly onChange: (change: FleetChange) => void
  readonly onState: (state: 'live' | 'lost', sprintIds: readonly string[]) => void
}

interface StreamLeader extends Pick<ChangeFollower, 'retryNow' | 'end'> {
  readonly setSprint: (tab: string, sprintId: string | undefined) => void
  readonly onMessage: (message: TabMessage) => void
}

/** The tab that has the connection. It follows the sprints that any tab shows. */
function createLeader({ tab, sprintId, send, onChange, onState }: LeaderParts): StreamLeader {
  const sprintByTab = new Map([[tab, sprintId]])
  let state: 'live' | 'lost' = 'lost'
  const sprintIds = (): string[] => [...new Set([...sprintByTab.values()].filter((id) => id !== undefined))].toSorted()
  const scope = () => (sprintByTab.size === 0 || sprintIds().length === 0 ? {} : { sprintId: sprintIds().join(',') })
  const report = (next: 'live' | 'lost'): void => {
    state = next
    send({ type: 'state', state, sprintIds: sprintIds() })
    onState(state, sprintIds())
  }
  const follower = followChanges(
    {
      onChange: (change) => {
        send({ type: 'change', change: z.encode(FleetChange, change) })
        onChange(change)
      },
      onState: report,
    },
    { scope: scope() },
  )
  const setSprint = (tabId: string, id: string | undefined): void => {
    sprintByTab.set(tabId, id)
    follower.setScope(scope())
  }
  send({ type: 'leader' })
  return {
    setSprint,
    retryNow: follower.retryNow,
    end: follower.end,
    onMessage: (message) => {
      if (message.type === 'retry') follower.retryNow()
      if (message.type === 'bye' && sprintByTab.delete(message.tab)) follower.setScope(scope())
      if (message.type !== 'hello') return
      setSprint(message.tab, message.sprintId)
      if (!message.isNew) return
      send({ type: 'welcome', tab: message.tab })
      send({ type: 'state', state, sprintIds: sprintIds() })
    },
  }
}
