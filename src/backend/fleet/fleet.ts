import type { CompileInput } from '../../compiler/resolve/compilation.ts'
import type { FleetTraces } from '../../telemetry/trace-fleet.ts'
import type { Database } from '../database/database.ts'
import type { Engine } from '../engine/engine.ts'
import type { MachineGateway } from './machine-gateway.ts'
import type { Notifier } from './notice.ts'
import type { ObservedSprints } from './observed.ts'

/** All in milliseconds. */
export type FleetSettings = {
  /**
   * A machine without contact to the backend for this long starts no prompts; a machine silent for this long is lost.
   */
  readonly leaseMs: number
  /** A machine not seen for this long counts as disconnected, whatever its row says. */
  readonly silentMs: number
  /** Interval of the sweep for missed work. */
  readonly sweepMs: number
}

/** The dependencies of the backend's functions. They keep no state in memory. */
export type Fleet = {
  readonly database: Database
  readonly engine: Engine
  readonly machines: MachineGateway
  readonly notifier: Notifier
  /** Absent if no project folder is observed. */
  readonly observed?: ObservedSprints | undefined
  /** Absent unless the environment names a collector. */
  readonly traces?: FleetTraces | undefined
  readonly clock: { readonly now: () => number }
  readonly newId: () => string
  readonly settings: FleetSettings
  /** The built-in workflows and the available drivers. */
  readonly compiling: Pick<CompileInput, 'readWorkflow' | 'agents'>
  /** Logs an error; must not throw. */
  readonly logError: (error: unknown, doing: string) => void
}

/** The user who makes a request. */
export type Requester = { readonly name: string; readonly userId?: string }
