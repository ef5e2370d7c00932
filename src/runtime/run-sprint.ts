import type { Progress } from '../contract/progress.ts'
import { advance } from '../loop/advance.ts'
import type { Fact } from '../loop/fact.ts'
import type { Order } from '../loop/order.ts'
import { perform } from './perform.ts'
import type { Ports } from './ports.ts'

export interface SprintRun {
  /** Tells the run what happened outside: a pause was requested, a signal came. Ignored once it is over. */
  readonly send: (fact: Fact) => void
  /** Resolves with the progress at rest; rejects if state could not be saved or an order could not be carried out. */
  readonly done: Promise<Progress>
}

/**
 * Drives one sprint until it rests. A fact comes in, the loop decides, the new progress is saved, and only then its orders are
 * carried out, side by side; each answers with its own fact. The run is over when no order is open.
 */
export function runSprint(loaded: Progress, ports: Ports, first: Fact): SprintRun {
  const facts: Fact[] = [first]
  const open = new Set<Promise<unknown>>()
  const aborts = { waits: new AbortController(), attempts: new AbortController(), all: new AbortController() }
  let progress = loaded
  let wake = nothing

  const send = (fact: Fact) => {
    facts.push(fact)
    wake()
  }

  const carryOut = (order: Order, failed: (error: unknown) => void) => {
    if (order.type === 'tell') return ports.observe(order.event)
    if (order.type === 'abort') {
      aborts[order.what].abort()
      if (order.what !== 'all') aborts[order.what] = new AbortController()
      return
    }
    const signal = AbortSignal.any([aborts.all.signal, ...signalsFor(order, aborts)])
    const work = perform(order, { progress, ports, signal })
      .then((fact) => fact && facts.push(fact), failed)
      .finally(() => {
        open.delete(work)
        wake()
      })
    open.add(work)
  }

  const drive = async () => {
    let failure: { error: unknown } | undefined
    const failed = (error: unknown) => {
      failure ??= { error }
      aborts.all.abort()
    }
    while (facts.length > 0 || open.size > 0) {
      const fact = facts.shift()
      if (!fact) {
        await new Promise<void>((resolve) => (wake = resolve))
        continue
      }
      if (failure) continue
      const next = advance(progress, fact)
      await ports.store.save(next.progress, fact).catch(failed)
      if (failure) continue
      progress = next.progress
      for (const order of next.orders) carryOut(order, failed)
    }
    if (failure) throw failure.error
    return progress
  }

  return { send, done: drive() }
}

const nothing = () => {}

type Aborts = Readonly<Record<'waits' | 'attempts', AbortController>>

function signalsFor(order: Order, aborts: Aborts): AbortSignal[] {
  if (order.type === 'wait') return [aborts.waits.signal]
  return order.type === 'run-attempt' ? [aborts.attempts.signal] : []
}
