import { z } from 'zod'
import { Change } from '../../contract/fleet/event.ts'

const encoder = new TextEncoder()

/** Formats one change as a server-sent event. Without an ID, the client keeps its position. */
export function frame({ id, change }: { readonly id: string | undefined; readonly change: Change }): Uint8Array {
  const where = id === undefined ? '' : `id: ${id}\n`
  return encoder.encode(`${where}event: ${change.type}\ndata: ${JSON.stringify(z.encode(Change, change))}\n\n`)
}
