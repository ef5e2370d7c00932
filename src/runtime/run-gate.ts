import type { Fact } from '../loop/core/fact.ts'
import { findGate } from '../loop/way-queries.ts'
import { requireLiveIteration, type OrderContext, type OrderByType } from './context.ts'
import { errorMessage } from '../contract/errors.ts'
import type { ShellEnd } from './ports.ts'
import { rethrowDiskFull } from './disk-space.ts'

/** Runs the gate script of a phase. Its timeout ends every process that it started. */
export async function runGate(
  { iteration }: OrderByType<'run-gate'>,
  context: OrderContext,
): Promise<Fact | undefined> {
  const { progress, ports, signal } = context
  const { work: ref } = requireLiveIteration(progress, iteration)
  const gate = ref && findGate(progress, ref)
  const at = () => ports.clock.now()
  if (!ref || !gate) return { type: 'gate-ended', at: at(), iteration, exitCode: 0, output: '' }
  const attempt = gate.attempts + 1
  ports.observe({ type: 'gate-started', iteration, work: ref, attempt })
  const env = { SPRINT_ID: progress.sprintId, PHASE_ID: ref.step ?? ref.phase, ATTEMPT_NUMBER: String(attempt) }
  const { exitCode, output, error } = await ports.shell
    .run({ attempt: `${iteration}-gate`, command: gate.script, timeoutMs: gate.timeoutMs, env }, signal)
    .catch(rethrowDiskFull(createFailedGate))
  return signal.aborted ? undefined : { type: 'gate-ended', at: at(), iteration, exitCode, output, error }
}

const createFailedGate = (error: unknown): ShellEnd => ({
  exitCode: null,
  output: '',
  error: `could not start: ${errorMessage(error)}`,
  durationMs: 0,
})
