import type { SprintEvent } from '../contract/events.ts'
import type { Telemetry } from './telemetry.ts'
import { SprintTracer } from './trace-sprint.ts'

export type StoredEvent = { readonly at: number; readonly event: SprintEvent }

/** Traces the sprints of a fleet, from the events that this replica has stored. */
export interface FleetTraces {
  readonly observe: (sprint: { readonly id: string; readonly name?: string }, events: readonly StoredEvent[]) => void
}

/** A replica that stops seeing a sprint must not remember it forever. */
const maxTracers = 5000

export function createFleetTraces(telemetry: Telemetry): FleetTraces {
  const tracers = new Map<string, SprintTracer>()
  return {
    observe: ({ id, name = id }, events) => {
      const tracer = tracers.get(id) ?? new SprintTracer(telemetry, { sprint: id, name })
      tracers.delete(id)
      tracers.set(id, tracer)
      for (const { event, at } of events) tracer.observe(event, at)
      if (events.at(-1)?.event.type === 'sprint-rested') tracers.delete(id)
      const [oldest] = tracers.keys()
      if (tracers.size > maxTracers && oldest !== undefined) tracers.delete(oldest)
    },
  }
}
