import { z } from 'zod'
import { Change } from '../../contract/fleet/event.ts'

const encoder = new TextEncoder()

/** One change as a server-sent event. Without an id it leaves whoever reads it where they were. */
export function frame({ id, change }: { readonly id: string | undefined; readonly change: Change }): Uint8Array {
  const where = id === undefined ? '' : `id: ${id}\n`
  return encoder.encode(`${where}event: ${change.type}\ndata: ${JSON.stringify(z.encode(Change, change))}\n\n`)
}
