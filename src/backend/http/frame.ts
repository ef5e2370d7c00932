import { z } from 'zod'
import { Change } from '../../contract/fleet/event.ts'

const encoder = new TextEncoder()

/** One change as a server-sent event. */
export const frame = ({ id, change }: { readonly id: string; readonly change: Change }): Uint8Array =>
  encoder.encode(`id: ${id}\nevent: ${change.type}\ndata: ${JSON.stringify(z.encode(Change, change))}\n\n`)
