import type { WebhookEvent } from '../../contract/fleet/webhook.ts'
import type { Tx } from '../database/database.ts'

/** What the fleet notifies users about. */
export type Notice = {
  readonly event: WebhookEvent
  readonly text: string
  readonly sprintId?: string
  readonly agentId?: string
  readonly machineId?: string
}

/** One attempt to deliver a notification; `at` distinguishes it from earlier attempts. */
export type DeliveryAttempt = { readonly id: string; readonly at: number }

/** Sends notices to the webhooks that users have registered. */
export interface Notifier {
  /** Stores one delivery per subscribed webhook in the caller's transaction. The engine sends them after the commit. */
  readonly notify: (tx: Tx, notice: Notice) => Promise<void>
  /** The engine calls this once per attempt. Sends the delivery and records the outcome. */
  readonly deliver: (attempt: DeliveryAttempt) => Promise<void>
}
