import { onTestFinished } from 'vitest'
import { followChanges, type ChangeSource } from '../../src/client/changes.ts'
import type { StoredEvent } from '../../src/contract/fleet/event.ts'

export type TestViewer = ReturnType<typeof createTestViewer>

/** Follows one agent all the time, as the page does, whatever happens to the backend. */
export function createTestViewer(agentId: string, served: () => { readonly origin: string; readonly token: string }) {
  const eventsBySprint = new Map<string, StoredEvent[]>()
  const seen = { startOvers: 0, connections: 0, isLive: false }
  const open = (url: string): ChangeSource => {
    seen.connections++
    const { origin, token } = served()
    const at = new URL(url, origin)
    at.searchParams.set('agentId', agentId)
    return eventSource(at, token)
  }
  const following = followChanges(
    {
      onChange: (change) => {
        if (change.type === 'start-over') seen.startOvers++
        if (change.type !== 'event' || change.event.sprintId === undefined) return
        const { sprintId } = change.event
        eventsBySprint.set(sprintId, [...(eventsBySprint.get(sprintId) ?? []), change.event])
      },
      onState: (state) => (seen.isLive = state === 'live'),
    },
    { open },
  )
  onTestFinished(following.end)
  return { seen, hurry: following.retryNow, of: (sprintId: string) => eventsBySprint.get(sprintId) ?? [] }
}

/** Server-sent events for Node, from an address that requires a token. */
function eventSource(url: URL, token: string): ChangeSource {
  const target = new EventTarget()
  const stop = new AbortController()
  const read = async () => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: stop.signal })
    if (!answer.ok) throw new Error(`the backend answered ${answer.status}`)
    let text = ''
    for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const whole = `${text}${part}`.split('\n\n')
      text = whole.pop() ?? ''
      for (const frame of whole) dispatchFrame(frame)
    }
  }
  const dispatchFrame = (frame: string) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
    const [type, data, lastEventId = ''] = [field('event'), field('data'), field('id')]
    if (type !== undefined && !stop.signal.aborted) target.dispatchEvent(new MessageEvent(type, { data, lastEventId }))
  }
  const fail = () => void (stop.signal.aborted || target.dispatchEvent(new Event('error')))
  void read().then(fail, fail)
  return { addEventListener: target.addEventListener.bind(target), close: () => stop.abort() }
}
