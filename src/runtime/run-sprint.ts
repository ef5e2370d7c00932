import type { Progress } from '../contract/progress.ts'
import { advance } from '../loop/advance.ts'
import type { Fact } from '../loop/core/fact.ts'
import type { Order } from '../loop/core/order.ts'
import type { RunnableOrder } from './context.ts'
import { performOrder } from './perform-order.ts'
import type { Ports } from './ports.ts'
import { createDiskFullSafeStore } from './disk-space.ts'

export interface SprintRun {
  /** Reports an outside fact to the run, such as a pause request or a signal. Ignored once the run has ended. */
  readonly send: (fact: Fact) => void
  /** Resolves with the progress at rest; rejects if a save or an order failed. */
  readonly done: Promise<Progress>
}

/**
 * Runs one sprint in memory until it rests; the backend drives sprints from database rows with the same `advance` and `perform`.
 * For each fact the loop decides, the new progress is saved, and only then its orders run, concurrently; each returns a fact.
 * The run ends when no order is open.
 */
export function runSprint(loaded: Progress, ports: Ports, first: Fact, rules = advance): SprintRun {
  const facts: Fact[] = [first]
  const open = createOpenOrders()
  const store = createDiskFullSafeStore(ports)
  let progress = loaded
  let wake = noop

  const send = (fact: Fact) => {
    facts.push(fact)
    if (fact.type === 'stop-requested') store.giveUp()
    wake()
  }

  const execute = (order: Order, failed: (error: unknown) => void) => {
    if (order.type === 'tell') return ports.observe(order.event)
    if (order.type === 'abort') return open.abort(order.what)
    const { signal, close } = open.add(order)
    void performOrder(order, { progress, ports, signal, send })
      .then((fact) => fact && facts.push(fact), failed)
      .finally(() => {
        close()
        wake()
      })
  }

  const readJump = createJumpMeter(ports)
  const decide = async (received: Fact) => {
    const clockJumpMs = readJump()
    const fact = clockJumpMs === 0 ? received : { ...received, clockJumpMs }
    const next = rules(progress, fact)
    await store.save(next.progress, fact)
    return next
  }

  const drive = async () => {
    let failure: { error: unknown } | undefined
    const failed = (error: unknown) => {
      failure ??= { error }
      open.abort('all')
    }
    while (facts.length > 0 || open.count() > 0) {
      const fact = facts.shift()
      if (!fact) {
        await new Promise<void>((resolve) => (wake = resolve))
        continue
      }
      if (failure) continue
      const next = await decide(fact).catch(failed)
      if (!next) continue
      progress = next.progress
      for (const order of next.orders) execute(order, failed)
    }
    if (failure) throw failure.error
    return progress
  }

  return { send, done: drive() }
}

const noop = () => {}

/** Smaller differences come from clock synchronisation. */
const minJumpMs = 30_000

/** How far the wall clock jumped since the last call; 0 if it did not. */
function createJumpMeter({ clock }: Ports): () => number {
  const readAhead = () => (clock.steady ? clock.now() - clock.steady() : 0)
  let ahead = readAhead()
  return () => {
    const jump = readAhead() - ahead
    if (Math.abs(jump) < minJumpMs) return 0
    ahead += jump
    return Math.round(jump)
  }
}

/** Running orders and how to abort them. One controller each: combined signals would accumulate over a long run. */
function createOpenOrders() {
  const open = new Map<AbortController, RunnableOrder['type']>()
  const types = { waits: 'wait', attempts: 'run-attempt', all: undefined } as const
  let over = false
  return {
    add(order: RunnableOrder) {
      const controller = new AbortController()
      if (over) controller.abort()
      open.set(controller, order.type)
      return { signal: controller.signal, close: () => void open.delete(controller) }
    },
    /** Orders added later still run, except after `all`. */
    abort(what: keyof typeof types): void {
      over ||= what === 'all'
      for (const [controller, type] of open) if ((types[what] ?? type) === type) controller.abort()
    },
    count: () => open.size,
  }
}
