import { z } from 'zod'
import { FleetChange } from '../../contract/fleet/event.ts'

const encoder = new TextEncoder()

/** Formats one change as a server-sent event. Without an ID, the client keeps its position. */
export function formatFrame({
  id,
  change,
}: {
  readonly id: string | undefined
  readonly change: FleetChange
}): Uint8Array {
  const where = id === undefined ? '' : `id: ${id}\n`
  return encoder.encode(`${where}event: ${change.type}\ndata: ${JSON.stringify(z.encode(FleetChange, change))}\n\n`)
}
