import type { Fact } from '../loop/fact.ts'
import { workAt } from '../loop/standard/work.ts'
import { liveOf, type Context, type Doing } from './context.ts'
import { messageOf } from './outcomes.ts'
import type { ShellEnd } from './ports.ts'
import { unlessDiskFull } from './disk-space.ts'

/** Runs the gate script of a phase. Its timeout ends every process that it started. */
export async function runGate({ iteration }: Doing<'run-gate'>, context: Context): Promise<Fact | undefined> {
  const { progress, ports, signal } = context
  const { work: ref } = liveOf(progress, iteration)
  const { gate, gateTracking } = ref ? workAt(progress, ref) : {}
  const at = () => ports.clock.now()
  if (!ref || !gate) return { type: 'gate-ended', at: at(), iteration, exitCode: 0, output: '' }
  const attempt = (gateTracking?.attempts ?? 0) + 1
  ports.observe({ type: 'gate-started', iteration, work: ref, attempt })
  const env = { SPRINT_ID: progress.sprintId, PHASE_ID: ref.step ?? ref.phase, ATTEMPT_NUMBER: String(attempt) }
  const { exitCode, output, error } = await ports.shell
    .run(
      { attempt: `${iteration}-gate`, ifBegun: 'repeat', command: gate.script, timeoutMs: gate.timeout, env },
      signal,
    )
    .catch(unlessDiskFull(couldNotStart))
  return signal.aborted ? undefined : { type: 'gate-ended', at: at(), iteration, exitCode, output, error }
}

const couldNotStart = (error: unknown): ShellEnd => ({
  exitCode: null,
  output: '',
  error: `could not start: ${messageOf(error)}`,
  durationMs: 0,
})
