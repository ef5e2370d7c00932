import type { Progress } from '../contract/progress.ts'
import { advance } from '../loop/advance.ts'
import type { Fact } from '../loop/fact.ts'
import type { Order } from '../loop/order.ts'
import { perform } from './perform.ts'
import type { Ports } from './ports.ts'
import { patientSaving } from './room.ts'

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
export function runSprint(loaded: Progress, ports: Ports, first: Fact, rules = advance): SprintRun {
  const facts: Fact[] = [first]
  const open = new Set<Promise<unknown>>()
  const aborts: Aborts = { waits: new AbortController(), attempts: new AbortController(), all: new AbortController() }
  const saving = patientSaving(ports)
  let progress = loaded
  let wake = nothing

  const send = (fact: Fact) => {
    facts.push(fact)
    if (fact.type === 'stop-requested') saving.giveUp()
    wake()
  }

  const carryOut = (order: Order, failed: (error: unknown) => void) => {
    if (order.type === 'tell') return ports.observe(order.event)
    if (order.type === 'abort') return abort(order.what, aborts)
    const signal = AbortSignal.any([aborts.all.signal, ...signalsFor(order, aborts)])
    const work = perform(order, { progress, ports, signal })
      .then((fact) => fact && facts.push(fact), failed)
      .finally(() => {
        open.delete(work)
        wake()
      })
    open.add(work)
  }

  const decide = async (fact: Fact) => {
    const next = rules(progress, fact)
    await saving.save(next.progress, fact)
    return next
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
      const next = await decide(fact).catch(failed)
      if (!next) continue
      progress = next.progress
      for (const order of next.orders) carryOut(order, failed)
    }
    if (failure) throw failure.error
    return progress
  }

  return { send, done: drive() }
}

const nothing = () => {}

type Aborts = Record<'waits' | 'attempts' | 'all', AbortController>

/** What is ordered later is not meant, unless everything is over. */
function abort(what: keyof Aborts, aborts: Aborts): void {
  aborts[what].abort()
  if (what !== 'all') aborts[what] = new AbortController()
}

function signalsFor(order: Order, aborts: Readonly<Aborts>): AbortSignal[] {
  if (order.type === 'wait') return [aborts.waits.signal]
  return order.type === 'run-attempt' ? [aborts.attempts.signal] : []
}
