import type { DurableRequest, RequestBody, RequestReply, RequestType } from '../../contract/fleet/channel.ts'
import type { StopWhen } from '../../contract/fleet/sprint.ts'
import type { WebhookEvent } from '../../contract/fleet/webhook.ts'
import type { CompileInput } from '../../compiler/resolve/compilation.ts'
import type { Database, Tx } from '../database/database.ts'
import type { Engine } from '../engine/engine.ts'

/** A durable request, kept until the machine has stored it. Requests with the same ID take effect once. */
export type DurableMachineRequest<T extends DurableRequest = DurableRequest> = {
  [K in T]: { readonly id: string; readonly type: K; readonly body: RequestBody<K> }
}[T]

/** The computers on which agents work. */
export interface MachineGateway {
  /** Part of the transaction; delivered after the commit, however long that takes. */
  readonly send: (tx: Tx, machineId: string, request: DurableMachineRequest) => Promise<void>
  /** Withdraws an undelivered request; does nothing if it was delivered. */
  readonly withdraw: (tx: Tx, machineId: string, id: string) => Promise<void>
  /**
   * Sends a request and awaits the reply: never inside a transaction. Rejects with MACHINE_UNREACHABLE without a reply
   * in time, or with MACHINE_REFUSED and the machine's message.
   */
  readonly ask: <T extends RequestType>(machineId: string, type: T, body: RequestBody<T>) => Promise<RequestReply<T>>
}

/** A notification to users. */
export type Notice = {
  readonly event: WebhookEvent
  readonly text: string
  readonly sprintId?: string
  readonly agentId?: string
  readonly machineId?: string
}

export interface Notifications {
  /** Part of the transaction; sent after the commit, and its delivery is recorded. */
  readonly notify: (tx: Tx, notice: Notice) => Promise<void>
}

/** A request to a sprint that `ralph run` controls. */
export type ObservedRequest =
  | { readonly type: 'stop'; readonly as: 'paused' | 'interrupted'; readonly when: StopWhen }
  | { readonly type: 'tell'; readonly text: string; readonly now: boolean }
  | { readonly type: 'answer'; readonly answer: string }
  | { readonly type: 'resume' }

/** Sprints of this computer that `ralph run` controls. Each call rejects like the same command in a terminal. */
export interface ObservedSprints {
  /** Resolves once the request is accepted and its known effects are stored. */
  readonly request: (sprintId: string, request: ObservedRequest) => Promise<void>
  /** The changes between two iterations, as a patch. */
  readonly diff: (sprintId: string, range: { readonly from: number; readonly to: number }) => Promise<string>
  /** Restores the files; resolves with the name of the checkpoint that holds the previous ones. */
  readonly restore: (sprintId: string, iteration: number) => Promise<string>
}

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

/** The dependencies of the functions in this folder. They keep no state in memory. */
export type Fleet = {
  readonly database: Database
  readonly engine: Engine
  readonly machines: MachineGateway
  readonly notifications: Notifications
  /** Absent if no project folder is observed. */
  readonly observed?: ObservedSprints | undefined
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
