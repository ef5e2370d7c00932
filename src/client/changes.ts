import { z } from 'zod'
import { Change } from '../contract/fleet/event.ts'

export type Subscription = {
  readonly onChange: (change: Change) => void
  /** Whether changes arrive. `lost` may be said several times in a row. */
  readonly onState: (state: 'live' | 'lost') => void
}

/** What of an EventSource is used here; tests and Node bring their own. */
export type Source = Pick<EventSource, 'addEventListener' | 'close'>

const types = Change.options.map((option) => option.shape.type.value)

/**
 * Everything that changes, from now on, over one connection. The browser reconnects by itself and says where it was, so that
 * nothing is missed. Returns how to end it.
 */
export function subscribe(url: string, { onChange, onState }: Subscription, open = openSource): () => void {
  const source = open(url)
  source.addEventListener('open', () => onState('live'))
  source.addEventListener('error', () => onState('lost'))
  for (const type of types) {
    source.addEventListener(type, (message) => {
      if (message instanceof MessageEvent) onChange(z.decode(Change, JSON.parse(String(message.data))))
    })
  }
  return () => source.close()
}

const openSource = (url: string): Source => new EventSource(url, { withCredentials: true })
