import { expect, it, onTestFinished } from 'vitest'
import type { ApiCaller } from '../calls/call.ts'
import { formatFrame } from '../../feed/frame.ts'
import type { Feed, FeedItem, FeedListener } from '../../feed/feed.ts'
import { createEventStreams } from './event-streams.ts'

const who: ApiCaller = {
  user: { id: 'u', name: 'Ada', role: 'admin', createdAt: 0 },
  by: 'token',
  scope: 'admin',
}

const createItem = (id: string): FeedItem => {
  const change = { type: 'here' } as const
  return { id, change, frame: () => formatFrame({ id, change }) }
}

/** A feed whose items are stored at once, and reach its listeners when the test says so. */
function createTestFeed() {
  const stored: FeedItem[] = []
  const listeners = new Set<FeedListener>()
  const waiting: (() => void)[] = []
  let isSlow = false
  const feed: Feed = {
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    position: () => undefined,
    since: async (id) => {
      const items = stored.filter((item) => Number(item.id.split('-')[1]) > Number(id.split('-')[1]))
      if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve))
      return { items, upTo: items.at(-1)?.id ?? id }
    },
    startOver: async () => undefined,
  }
  return {
    feed,
    store: (...ids: string[]) => stored.push(...ids.map(createItem)),
    deliver: (...ids: string[]) => listeners.forEach(({ onItems }) => onItems(ids.map(createItem))),
    holdReads: () => (isSlow = true),
    readsWaiting: () => waiting.length,
    releaseReads: () => {
      isSlow = false
      waiting.splice(0).forEach((resolve) => resolve())
    },
  }
}

async function openClient(feed: Feed, after: string) {
  const streams = createEventStreams({ feed, levels: async () => new Map(), log: () => {} })
  onTestFinished(() => streams.close())
  const { signal } = new AbortController()
  const request = { who, whoNow: async () => who, query: {}, after, signal, destroy: () => {} }
  const { body } = await streams.stream(request)
  let text = ''
  void (async () => {
    for await (const bytes of body ?? []) text += Buffer.from(bytes).toString()
  })()
  return { receivedIds: () => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id) }
}

it('sends an item once to a client that has caught up before the feed delivers the item', async () => {
  const { feed, store, deliver } = createTestFeed()
  store('1-1', '1-2', '1-3')
  const { receivedIds } = await openClient(feed, '1-1')
  // The last ID is the position, which the client gets when it is up to date.
  await expect.poll(receivedIds).toEqual(['1-2', '1-3', '1-3'])

  store('1-4')
  deliver('1-2', '1-3')
  deliver('1-3', '1-4')
  deliver('1-5')
  await expect.poll(receivedIds).toEqual(['1-2', '1-3', '1-3', '1-4', '1-5'])
})

it('sends an item once that the feed delivers while a client reads what it has missed', async () => {
  const { feed, store, deliver, holdReads, readsWaiting, releaseReads } = createTestFeed()
  store('1-1', '1-2')
  holdReads()
  const { receivedIds } = await openClient(feed, '1-1')
  await expect.poll(readsWaiting).toBe(1)
  store('1-3')
  deliver('1-2', '1-3')
  releaseReads()
  await expect.poll(receivedIds).toEqual(['1-2', '1-3', '1-3'])

  deliver('1-3', '1-4')
  await expect.poll(receivedIds).toEqual(['1-2', '1-3', '1-3', '1-4'])
})
