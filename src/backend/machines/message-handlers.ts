import { decodeReport } from '../../connection/message.ts'
import { RalphError } from '../../contract/errors.ts'
import { markConnected, markSeen, saveInventory, saveMachineEvents, applyInventory } from './machine-state.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { handleHookSpawned, handleOrderEnded, handlePromptEnded } from '../prompts/reports.ts'
import type { MachineCalls } from './machine-calls.ts'
import type { MachineHandlers } from './machine-store.ts'

export type MessageHandlerParts = {
  readonly fleet: () => Fleet
  readonly calls: () => MachineCalls
  readonly readEpoch: (machineId: string) => Promise<number>
  readonly log: (error: unknown) => void
}

/** Handles the messages of machines. Every message may arrive again. */
export function createMessageHandlers({ fleet, calls, readEpoch, log }: MessageHandlerParts): MachineHandlers {
  return {
    handleMessage: async (machineId, { type, body }) => {
      try {
        if (type === 'prompt-ended') await handlePromptEnded(fleet(), machineId, decodeReport(type, body))
        else if (type === 'order-ended') await handleOrderEnded(fleet(), machineId, decodeReport(type, body))
        else if (type === 'hook-spawned') await handleHookSpawned(fleet(), machineId, decodeReport(type, body))
        else if (type === 'reply') await calls().onReply(body)
        else throw new RalphError('VERSION_UNKNOWN', `this backend does not know the message "${type.slice(0, 60)}"`)
      } catch (error) {
        // A message that can never be handled would block all messages behind it.
        if (!(error instanceof RalphError) || !permanentErrors.includes(error.code)) throw error
        log(error)
      }
      return 'new'
    },
    reconcileInventory: (machineId, { inventory }) => applyInventory(fleet(), machineId, inventory),
    saveInventory: async (machineId, { inventory }) => {
      await saveInventory(fleet(), machineId, inventory)
      return { success: true, stored: {} }
    },
    saveEvents: (machineId, body) => saveMachineEvents(fleet(), machineId, body),
    onSeen: (machineId) => void markSeen(fleet(), machineId).catch(log),
    onReachable: (machineId, isReachable) => {
      if (!isReachable) return
      void readEpoch(machineId)
        .then((epoch) => markConnected(fleet(), { machineId, executorId: fleet().engine.executorId, epoch }))
        .then(() => calls().onConnected(machineId))
        .catch(log)
    },
  }
}

const permanentErrors: readonly string[] = ['NOT_FOUND', 'MESSAGE_INVALID', 'VERSION_UNKNOWN', 'FACT_ILLEGAL']
