import type { Mailbox, Stored } from '../../channel/mailbox.ts'
import type { Wire } from '../../channel/message.ts'
import type { ReportBody, ReportReply } from '../../contract/fleet/channel.ts'
import type { MachineStatus } from '../../contract/fleet/machine.ts'

/** What the database knows of a machine that wants to connect. */
export type KnownMachine = {
  readonly id: string
  readonly name: string
  readonly status: MachineStatus
  readonly bootEpoch: number
  readonly bootId: string | undefined
}

export type Connecting = {
  readonly bootEpoch: number
  readonly bootId: string
  readonly version: string
  /** Its clock minus ours. */
  readonly clockSkewMs: number
}

export type NewToken = {
  readonly id: string
  readonly hash: string
  readonly name: string | undefined
  readonly labels: readonly string[]
  /** An admin has to say yes before the machine is let in. */
  readonly approve: boolean
  readonly createdBy: string | undefined
  readonly expiresAt: number
}

export type TokenUse = {
  readonly id: string
  readonly hash: string
  /** Of the machine's key: only the one who has used a token first may use it again, to ask for what got lost. */
  readonly keyPin: string
  readonly name: string
  readonly labels: readonly string[]
  readonly version: string
}

export type Admission =
  | { readonly machineId: string; readonly status: MachineStatus }
  | { readonly refused: 'unknown' | 'expired' | 'used' }

/** The tables that the line needs. Each call is one transaction. */
export interface MachineStore {
  readonly find: (machineId: string) => Promise<KnownMachine | undefined>
  /** A new connection, with an epoch above that of all before. */
  readonly connect: (machineId: string, connecting: Connecting) => Promise<number>
  /** It was heard from. False: this connection does not count any more, because of a newer one or a revocation. */
  readonly stillCounts: (machineId: string, epoch: number) => Promise<boolean>
  readonly disconnect: (machineId: string, epoch: number) => Promise<void>
  readonly setAlarm: (machineId: string, alarm: string) => Promise<void>
  readonly certified: (machineId: string, serial: string, expiresAt: number) => Promise<void>
  readonly setStatus: (machineId: string, status: MachineStatus) => Promise<boolean>
  readonly addToken: (token: NewToken) => Promise<void>
  readonly useToken: (use: TokenUse) => Promise<Admission>
  readonly outbox: (machineId: string) => Pick<Mailbox, 'pending' | 'acked'>
}

export type MachineMessage = { readonly id: string; readonly type: string; readonly body: Wire }

/** What happens with what machines say. */
export interface MachineHandlers {
  /** One transaction: `seen` if it was taken before. Rejects only if it could not be stored; then it is sent again. */
  readonly takeMessage: (machineId: string, message: MachineMessage) => Promise<Stored>
  /**
   * The first inventory of a connection is compared with what is believed, before any request goes out on it. Later ones may
   * cross requests that are under way, so they only say what has changed on the machine itself.
   */
  readonly takeInventory: (machineId: string, body: ReportBody<'inventory'>) => Promise<ReportReply<'inventory'>>
  readonly noteInventory: (machineId: string, body: ReportBody<'inventory'>) => Promise<ReportReply<'inventory'>>
  readonly takeEvents: (machineId: string, body: ReportBody<'events'>) => Promise<ReportReply<'events'>>
  readonly reachable: (machineId: string, isReachable: boolean) => void
  /** It lives: every few seconds while it is heard from. */
  readonly seen: (machineId: string) => void
}
