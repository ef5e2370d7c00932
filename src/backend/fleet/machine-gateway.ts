import type { DurableRequest, RequestBody, RequestReply, RequestType } from '../../contract/fleet/machine-messages.ts'
import type { Tx } from '../database/database.ts'

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
