import type { Mailbox, StoreResult } from '../../connection/mailbox.ts'
import type { WireBody } from '../../connection/message.ts'
import type { ReportBody, ReportReply } from '../../contract/fleet/machine-messages.ts'
import type { MachineStatus } from '../../contract/fleet/machine.ts'

/** The database row of a machine that wants to connect. */
export type KnownMachine = {
  readonly id: string
  readonly name: string
  readonly status: MachineStatus
  readonly bootEpoch: number
  readonly bootId: string | undefined
}

export type ConnectionDetails = {
  readonly bootEpoch: number
  readonly bootId: string
  readonly version: string
  /** The machine's clock minus ours. */
  readonly clockSkewMs: number
}

export type NewJoinTokenRow = {
  readonly id: string
  readonly hash: string
  readonly name: string | undefined
  readonly labels: readonly string[]
  /** An admin must approve the machine before it can connect. */
  readonly approve: boolean
  readonly createdBy: string | undefined
  readonly expiresAt: number
}

export type TokenRedemption = {
  readonly id: string
  readonly hash: string
  /**
   * Pin of the machine's key: only the machine that used a token first may use it again, to retry after a lost reply.
   */
  readonly keyPin: string
  readonly name: string
  readonly labels: readonly string[]
  readonly version: string
  readonly shared?: boolean | undefined
}

export type Admission =
  | { readonly machineId: string; readonly status: MachineStatus }
  | { readonly refused: 'unknown' | 'expired' | 'used' }

/** The storage that the line needs. Each call is one transaction. */
export interface MachineStore {
  readonly find: (machineId: string) => Promise<KnownMachine | undefined>
  /** Registers a new connection, with an epoch higher than all previous ones. */
  readonly connect: (machineId: string, connecting: ConnectionDetails) => Promise<number>
  /** Records a sign of life. False if this connection was superseded by a newer one or the machine was revoked. */
  readonly confirmConnection: (machineId: string, epoch: number) => Promise<boolean>
  readonly disconnect: (machineId: string, epoch: number) => Promise<void>
  readonly setAlarm: (machineId: string, alarm: string) => Promise<void>
  readonly saveCertificate: (machineId: string, serial: string, expiresAt: number) => Promise<void>
  readonly setStatus: (machineId: string, status: MachineStatus) => Promise<boolean>
  readonly addToken: (token: NewJoinTokenRow) => Promise<void>
  readonly redeemToken: (use: TokenRedemption) => Promise<Admission>
  readonly outbox: (machineId: string) => Pick<Mailbox, 'pending' | 'acked'>
}

export type MachineMessage = { readonly id: string; readonly type: string; readonly body: WireBody }

/** Handles the messages of machines. */
export interface MachineHandlers {
  /**
   * One transaction; `seen` if the message was handled before. Rejects only if it could not be stored; then the machine
   * sends it again.
   */
  readonly handleMessage: (machineId: string, message: MachineMessage) => Promise<StoreResult>
  /**
   * `takeInventory` reconciles the first inventory of a connection with the database, before any request is sent. Later
   * inventories may cross requests in flight, so `noteInventory` only stores what the machine reports about itself.
   */
  readonly reconcileInventory: (machineId: string, body: ReportBody<'inventory'>) => Promise<ReportReply<'inventory'>>
  readonly saveInventory: (machineId: string, body: ReportBody<'inventory'>) => Promise<ReportReply<'inventory'>>
  readonly saveEvents: (machineId: string, body: ReportBody<'events'>) => Promise<ReportReply<'events'>>
  readonly onReachable: (machineId: string, isReachable: boolean) => void
  /** Called every few seconds while messages of the machine arrive. */
  readonly onSeen: (machineId: string) => void
}
