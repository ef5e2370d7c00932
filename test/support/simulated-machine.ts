import { and, asc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { machineOutbox, machines } from '../../src/backend/database/machine.ts'
import {
  markConnected,
  markDisconnected,
  createOutbox,
  outboxTopic,
  applyInventory,
} from '../../src/backend/machines/machine-state.ts'
import type { Fleet } from '../../src/backend/fleet/fleet.ts'
import type { MachineGateway, DurableMachineRequest } from '../../src/backend/fleet/machine-gateway.ts'
import { handleOrderEnded, handlePromptEnded } from '../../src/backend/prompts/reports.ts'
import { RalphError } from '../../src/contract/errors.ts'
import type {
  Inventory,
  PromptEnd,
  RequestBody,
  RequestReply,
  RequestType,
} from '../../src/contract/fleet/machine-messages.ts'
import type { MachineOrder, MachineFact } from '../../src/contract/fleet/machine-work.ts'
import { noUsage, type Outcome } from '../../src/contract/outcome.ts'
import type { AttemptEnd } from '../../src/loop/core/fact.ts'
import type { LockState } from '../../src/loop/core/way.ts'
import { readLock } from '../../src/loop/ways/notes/read-lock.ts'
import { buildReport } from './builders.ts'
import { buildOutcome } from './virtual.ts'

// oxlint-disable typescript/no-unsafe-type-assertion -- the types of messages are looked up by their names; here they are invented

type Prompt = RequestBody<'prompt'>

/** The behaviour of the simulated agents. By default they report `continue`, checks are green, and nothing takes time. */
export type Script = {
  readonly attempt?: (prompt: Prompt, number: number) => AttemptEnd | Promise<AttemptEnd>
  readonly text?: (prompt: Prompt) => Outcome | Promise<Outcome>
  readonly carryOut?: (order: MachineOrder, number: number) => Partial<MachineFact> | Promise<Partial<MachineFact>>
  readonly ask?: (type: RequestType, body: unknown) => object | undefined | Promise<undefined>
  /** The commit that the machine pushed before each report. */
  readonly pushed?: string
  /** Sends each report this many times. */
  readonly reportsTimes?: number
}

export const reported = (overrides: Parameters<typeof buildReport>[0] = {}): AttemptEnd => ({
  kind: 'report',
  report: buildReport(overrides),
})

export const locked = (lock: LockState, summary = 'did something'): AttemptEnd => readLock(lock, summary)

/** A machine whose agents exist only in the memory of the test. It gets its orders from the outbox, like a real one. */
export function simulatedMachine(fleet: Fleet, machineId: string, script: Script = {}) {
  const state = {
    seen: new Set<string>(),
    prompts: [] as Prompt[],
    orders: [] as RequestBody<'carry-out'>[],
    requests: [] as DurableMachineRequest[],
    running: new Map<string, { readonly agentId: string; readonly abort: () => void }>(),
    overlaps: 0,
    isThere: false,
    epoch: 0,
    life: 1,
  }
  const pushed = !script.pushed ? {} : { pushed: script.pushed }
  let reading = Promise.resolve()
  const read = () => (reading = reading.then(readOutbox).catch((error: unknown) => fleet.logError(error, 'machine')))
  const off = fleet.database.signals.on(outboxTopic, (key) => void (key === machineId && read()))

  const readOutbox = async () => {
    if (!state.isThere) return
    const own = eq(machineOutbox.machineId, machineId)
    const rows = await fleet.database.db
      .select()
      .from(machineOutbox)
      .where(own)
      .orderBy(asc(machineOutbox.id))
      .limit(200)
    for (const { id, messageId, message } of rows) {
      if (!state.isThere) return
      take({ id: messageId, ...Message.parse(message) } as DurableMachineRequest)
      await fleet.database.db.delete(machineOutbox).where(and(own, eq(machineOutbox.id, id)))
    }
  }

  const take = (request: DurableMachineRequest) => {
    if (state.seen.has(request.id)) return
    state.seen.add(request.id)
    state.requests.push(request)
    if (request.type === 'prompt') void work(request.body)
    if (request.type === 'carry-out') void carryOut(request.body)
    if (request.type === 'interrupt') interrupt(request.body)
  }

  const work = async (prompt: Prompt) => {
    const { promptId, agentId } = prompt
    if ([...state.running.values()].some((other) => other.agentId === agentId)) state.overlaps++
    state.prompts.push(prompt)
    const aborted = new Promise<'aborted'>((resolve) =>
      state.running.set(promptId, { agentId, abort: () => resolve('aborted') }),
    )
    const { life } = state
    const end = await toPromptEnd(script, prompt, { aborted, number: state.prompts.length })
    if (life !== state.life) return
    state.running.delete(promptId)
    await report(() =>
      handlePromptEnded(fleet, machineId, { promptId, agentId, endedAt: fleet.clock.now(), end, ...pushed }),
    )
  }

  const carryOut = async (body: RequestBody<'carry-out'>) => {
    const { orderId, agentId, order } = body
    state.orders.push(body)
    const reply = (await script.carryOut?.(order, state.orders.length)) ?? {}
    const fact = { ...toFact(order, fleet.clock.now()), ...reply } as MachineFact
    await report(() =>
      handleOrderEnded(fleet, machineId, { orderId, agentId, endedAt: fleet.clock.now(), fact, ...pushed }),
    )
  }

  const interrupt = ({ promptId, agentId }: RequestBody<'interrupt'>) => {
    for (const [id, running] of state.running) {
      if (running.agentId === agentId && (promptId === undefined || promptId === id)) running.abort()
    }
  }

  /** A machine keeps a report until it is stored. */
  const report = async (tell: () => Promise<void>) => {
    for (let time = 0; time < (script.reportsTimes ?? 1); time++) {
      while (!state.isThere) await new Promise((resolve) => setTimeout(resolve, 10))
      await tell().catch((error: unknown) => fleet.logError(error, 'report'))
    }
  }

  const inventory = async (): Promise<Inventory> => {
    const [row] = await fleet.database.db.select().from(machines).where(eq(machines.id, machineId))
    return { ...buildInventory(state, fleet.clock.now()), slots: row?.slots ?? 4 }
  }

  return {
    id: machineId,
    state,
    connect: async () => {
      state.epoch++
      state.isThere = true
      const { moved = [] } = await applyInventory(fleet, machineId, await inventory())
      for (const agentId of moved) interrupt({ agentId, when: 'now' })
      await markConnected(fleet, { machineId, executorId: fleet.engine.executorId, epoch: state.epoch })
      await read()
    },
    vanish: async () => {
      state.isThere = false
      await markDisconnected(fleet, { machineId, executorId: fleet.engine.executorId, epoch: state.epoch })
    },
    /** Its disk was wiped. */
    forget: () => {
      state.life++
      state.running.clear()
      state.seen.clear()
    },
    close: async () => {
      state.isThere = false
      off()
      await reading
    },
  }
}

const Message = z.object({ type: z.string(), body: z.unknown() })

type RunningOrder = { readonly aborted: Promise<'aborted'>; readonly number: number }

async function toPromptEnd(script: Script, prompt: Prompt, { aborted, number }: RunningOrder): Promise<PromptEnd> {
  if (prompt.asked.kind === 'text') {
    const outcome = await Promise.race([
      Promise.resolve(script.text?.(prompt) ?? buildOutcome({ text: 'hello' })),
      aborted,
    ])
    return { kind: 'outcome', outcome: outcome === 'aborted' ? buildOutcome({ status: 'aborted' }) : outcome }
  }
  const { iteration, attempt } = prompt.asked.order
  const attemptEnd = await Promise.race([Promise.resolve(script.attempt?.(prompt, number) ?? reported()), aborted])
  const end = attemptEnd === 'aborted' ? { kind: 'aborted' as const } : attemptEnd
  const usage = { ...noUsage, inputTokens: 10, outputTokens: 1 }
  const ended = { iteration, attempt, end, usage, costUsd: 0.01, model: 'a-model', changed: true, random: 0 }
  return { kind: 'fact', fact: { type: 'attempt-ended', at: 0, ...ended } as MachineFact }
}

function toFact(order: MachineOrder, at: number): MachineFact {
  switch (order.type) {
    case 'run-checks': {
      const green = { passed: true, exitCode: 0, durationMs: 1, output: '' }
      return {
        type: 'checks-ended',
        at,
        iteration: order.iteration,
        results: order.names.map((name) => ({ name, ...green })),
      }
    }
    case 'run-gate':
      return { type: 'gate-ended', at, iteration: order.iteration, exitCode: 0, output: '' }
    case 'run-review':
      return { type: 'review-ended', at, iteration: order.iteration, passed: true, summary: 'fine' }
    case 'make-checkpoint':
      return { type: 'checkpoint-made', at, iteration: order.iteration, commit: `commit-${order.iteration}` }
    case 'run-hook':
      return { type: 'hook-ended', at, iteration: order.iteration, hookId: order.hookId, exitCode: 0 }
    case 'clean-worktree':
      return { type: 'worktree-cleaned', at }
  }
}

function buildInventory(
  { running }: { readonly running: ReadonlyMap<string, { agentId: string }> },
  at: number,
): Inventory {
  const agentIds = [...new Set([...running.values()].map(({ agentId }) => agentId))]
  return {
    version: '0.0.0',
    platform: 'test',
    bootEpoch: 1,
    at,
    name: 'a machine',
    labels: [],
    slots: 4,
    roots: [],
    agents: agentIds.map((agentId) => ({
      agentId,
      state: 'running',
      workspace: { kind: 'folder', path: '/project' },
      folder: '/project',
      prompts: [...running]
        .filter(([, of]) => of.agentId === agentId)
        .map(([promptId]) => ({ promptId, running: true })),
      orders: [],
      lastEventSeq: 0,
    })),
    waiting: 0,
  }
}

/** The port, answered by the simulated machines of this test. */
export function simulatedMachines(parts: Pick<Fleet, 'database' | 'clock'>, script: Script = {}): MachineGateway {
  return {
    ...createOutbox(parts),
    ask: async <T extends RequestType>(machineId: string, type: T, body: RequestBody<T>) => {
      const own = eq(machines.id, machineId)
      const [machine] = await parts.database.db.select().from(machines).where(own)
      if (!machine || machine.connectedTo === null) throw new RalphError('MACHINE_UNREACHABLE', 'it is not connected')
      const reply = (await script.ask?.(type, body)) ?? answers[type] ?? {}
      return { success: true, ...reply } as RequestReply<T>
    },
  }
}

const answers: Partial<Record<RequestType, object>> = {
  'ralph-mode-setup': { directory: '/home/agent/notes' },
  'detect-checks': { checks: [] },
  'create-workspace': { folder: '/project' },
  restore: { saved: 'commit-saved' },
}
