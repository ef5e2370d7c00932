import { RalphError } from '../contract/errors.ts'
import type { Check } from '../contract/check.ts'
import { getCheckName } from '../loop/core/request-checks.ts'
import type { Fact } from '../loop/core/fact.ts'
import { requireLiveIteration, type OrderContext } from './context.ts'
import type { ProverRequest } from './ports.ts'

type ChecksEnded = Extract<Fact, { type: 'checks-ended' }>

/** The baseline, or the proof of a claim; undefined where the checks run in the work tree and their exit codes decide. */
export async function proveWithChecks(
  { iteration, checks }: { readonly iteration: number; readonly checks: readonly Check[] },
  context: OrderContext,
): Promise<ChecksEnded | undefined> {
  const { progress, ports } = context
  if (!ports.prover || checks.length === 0) return undefined
  const request: ProverRequest = {
    checks,
    onStart: (check: Check) => ports.observe({ type: 'check-started', iteration, name: getCheckName(check) }),
    onEnd: (result) => ports.observe({ type: 'check-ended', iteration, result }),
  }
  if (iteration === 0) return recordBaseline(request, context)
  const { proofBaseline: baseline } = progress
  const isClaim = requireLiveIteration(progress, iteration).goalCompleteSummary !== undefined
  if (!isClaim || !baseline) return undefined
  const { results, proof } = await ports.prover.prove({ ...request, baseline }, context.signal)
  return { type: 'checks-ended', at: ports.clock.now(), iteration, results, proof }
}

async function recordBaseline(
  request: ProverRequest,
  { ports, signal }: OrderContext,
): Promise<ChecksEnded | undefined> {
  try {
    const recorded = await ports.prover?.recordBaseline(request, signal)
    if (!recorded || signal.aborted) return undefined
    const { results, baseline: proofBaseline, notes } = recorded
    for (const text of notes) ports.observe({ type: 'note', level: 'warning', text })
    return { type: 'checks-ended', at: ports.clock.now(), iteration: 0, results, proofBaseline }
  } catch (error) {
    if (!(error instanceof RalphError) || error.code !== 'GIT_UNAVAILABLE') throw error
    const text = 'git is not available: checks run in the work tree, and their exit codes alone decide'
    ports.observe({ type: 'note', level: 'warning', text })
    return undefined
  }
}
