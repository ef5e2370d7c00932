import { decodeReport } from '../../channel/message.ts'
import { RalphError } from '../../contract/errors.ts'
import { machineConnected, machineSeen, noteInventory, takeEvents, takeInventory } from '../fleet/machines.ts'
import type { Fleet } from '../fleet/ports.ts'
import { takeOrderEnded, takePromptEnded } from '../fleet/take-report.ts'
import type { Asking } from './ask.ts'
import type { MachineHandlers, MachineMessage } from './store.ts'

export type TakeParts = {
  readonly fleet: () => Fleet
  readonly asking: () => Asking
  readonly epochOf: (machineId: string) => Promise<number>
  readonly log: (error: unknown) => void
}

/** Handles the messages of machines. Every message may arrive again. */
export function machineHandlers({ fleet, asking, epochOf, log }: TakeParts): MachineHandlers {
  const take = async (machineId: string, { type, body }: MachineMessage): Promise<void> => {
    if (type === 'prompt-ended') await takePromptEnded(fleet(), machineId, decodeReport(type, body))
    else if (type === 'order-ended') await takeOrderEnded(fleet(), machineId, decodeReport(type, body))
    else if (type === 'reply') await asking().replied(body)
    else throw new RalphError('VERSION_UNKNOWN', `this backend does not know the message "${type.slice(0, 60)}"`)
  }
  return {
    takeMessage: async (machineId, message) => {
      await take(machineId, message).catch((error: unknown) => {
        // A message that can never be handled would block all messages behind it.
        if (!(error instanceof RalphError) || !neverGood.includes(error.code)) throw error
        log(error)
      })
      return 'new'
    },
    takeInventory: (machineId, { inventory }) => takeInventory(fleet(), machineId, inventory),
    noteInventory: async (machineId, { inventory }) => {
      await noteInventory(fleet(), machineId, inventory)
      return { success: true, stored: {} }
    },
    takeEvents: (machineId, body) => takeEvents(fleet(), machineId, body),
    seen: (machineId) => void machineSeen(fleet(), machineId).catch(log),
    reachable: (machineId, isReachable) => {
      if (!isReachable) return
      void epochOf(machineId)
        .then((epoch) => machineConnected(fleet(), { machineId, executorId: fleet().engine.executorId, epoch }))
        .then(() => asking().connected(machineId))
        .catch(log)
    },
  }
}

const neverGood: readonly string[] = ['NOT_FOUND', 'MESSAGE_INVALID', 'VERSION_UNKNOWN', 'FACT_ILLEGAL']
