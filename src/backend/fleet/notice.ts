import type { WebhookEvent } from '../../contract/fleet/webhook.ts'
import type { Tx } from '../database/database.ts'

/** A notification to users. */
export type Notice = {
  readonly event: WebhookEvent
  readonly text: string
  readonly sprintId?: string
  readonly agentId?: string
  readonly machineId?: string
}

/** One attempt to deliver a notification; `at` tells it from earlier attempts. */
export type DeliveryAttempt = { readonly id: string; readonly at: number }

export interface Notifications {
  /** Part of the transaction; sent after the commit, and its delivery is recorded. */
  readonly notify: (tx: Tx, notice: Notice) => Promise<void>
  /** Makes one attempt: a task of the engine. */
  readonly deliver: (attempt: DeliveryAttempt) => Promise<void>
}
