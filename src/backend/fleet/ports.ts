import type { KeptRequest, RequestBody, RequestReply, RequestType } from '../../contract/fleet/channel.ts'
import type { StopWhen } from '../../contract/fleet/sprint.ts'
import type { WebhookEvent } from '../../contract/fleet/webhook.ts'
import type { CompileInput } from '../../compiler/resolve/compilation.ts'
import type { Database, Tx } from '../database/database.ts'
import type { Engine } from '../engine/engine.ts'

/** A request that waits until the machine has stored it. The same id is the same request: it is acted upon once. */
export type Request<T extends KeptRequest = KeptRequest> = {
  [K in T]: { readonly id: string; readonly type: K; readonly body: RequestBody<K> }
}[T]

/** The computers on which agents work. */
export interface Machines {
  /** Part of the transaction: after its commit the request is delivered, however long that takes. */
  readonly send: (tx: Tx, machineId: string, request: Request) => Promise<void>
  /** Takes a request back that has not been delivered; too late, nothing happens. */
  readonly withdraw: (tx: Tx, machineId: string, id: string) => Promise<void>
  /**
   * Asks, and waits for the answer: never inside a transaction. Rejects with MACHINE_UNREACHABLE if there is none in time,
   * or with MACHINE_REFUSED and what the machine said.
   */
  readonly ask: <T extends RequestType>(machineId: string, type: T, body: RequestBody<T>) => Promise<RequestReply<T>>
}

/** What people are told, who do not look at a page. */
export type Notice = {
  readonly event: WebhookEvent
  readonly text: string
  readonly sprintId?: string
  readonly agentId?: string
  readonly machineId?: string
}

export interface Notifications {
  /** Part of the transaction: it is told after the commit, and what became of it is recorded. */
  readonly tell: (tx: Tx, notice: Notice) => Promise<void>
}

/** What is asked of a sprint that `ralph run` runs in a terminal. */
export type ObservedRequest =
  | { readonly type: 'stop'; readonly as: 'paused' | 'interrupted'; readonly when: StopWhen }
  | { readonly type: 'tell'; readonly text: string; readonly now: boolean }
  | { readonly type: 'answer'; readonly answer: string }
  | { readonly type: 'resume' }

/** Sprints in folders of this computer that somebody else runs. Each call rejects as the same command does in a terminal. */
export interface Observed {
  /** Resolves when it was taken, and what is known to have come of it is in the rows. */
  readonly request: (sprintId: string, request: ObservedRequest) => Promise<void>
  /** What changed between two iterations, as a patch. */
  readonly diff: (sprintId: string, range: { readonly from: number; readonly to: number }) => Promise<string>
  /** Puts the files back; resolves with the name of the checkpoint that holds what was there. */
  readonly restore: (sprintId: string, iteration: number) => Promise<string>
}

/** How long things may take, in milliseconds. */
export type FleetSettings = {
  /** A machine that has heard nothing of the backend for this long begins no prompt; one that is silent this long is lost. */
  readonly leaseMs: number
  /** A machine that was not seen for this long is not connected, whatever was written down. */
  readonly silentMs: number
  /** How often what was overlooked is looked for. */
  readonly sweepMs: number
}

/** Everything that the functions of this folder need. They keep nothing in memory. */
export type Fleet = {
  readonly database: Database
  readonly engine: Engine
  readonly machines: Machines
  readonly notifications: Notifications
  /** Absent: no project folder is looked at. */
  readonly observed?: Observed | undefined
  readonly clock: { readonly now: () => number }
  readonly newId: () => string
  readonly settings: FleetSettings
  /** Workflows that come with the package, and the drivers there are. */
  readonly compiling: Pick<CompileInput, 'readWorkflow' | 'agents'>
  /** For the log; must not throw. */
  readonly trouble: (error: unknown, doing: string) => void
}

/** Whoever asks for something: a user's name and id. */
export type Asker = { readonly name: string; readonly userId?: string }
