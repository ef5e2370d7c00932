import type { SprintEvent } from '../../contract/events.ts'
import { stateId } from '../../platform/files/state-folder.ts'
import { isTelemetryOn, openTelemetry } from '../../telemetry/telemetry.ts'
import { packageVersion } from '../io/assets.ts'
import type { Io } from '../io/io.ts'

export type TracedRun = {
  readonly observe: (event: SprintEvent) => void
  readonly traceparent: (attempt: string) => string | undefined
  readonly close: () => Promise<void>
}

type RunToTrace = {
  readonly sprintDir: string
  readonly name: string
  readonly onNote: (event: SprintEvent) => void
}

/** Sends the run to a collector if the `OTEL_*` variables name one. Loads nothing otherwise. */
export async function traceRun({ sprintDir, name, onNote }: RunToTrace, io: Io): Promise<TracedRun | undefined> {
  if (!isTelemetryOn(io.env)) return undefined
  const { SprintTracer } = await import('../../telemetry/trace-sprint.ts')
  const { createTraceparents, parseTraceparent } = await import('../../telemetry/trace-context.ts')
  const onTrouble = (text: string) => onNote({ type: 'note', level: 'warning', text })
  const telemetry = await openTelemetry({ env: io.env, service: 'ralph', version: packageVersion(), onTrouble })
  if (!telemetry) return undefined
  const sprint = stateId(sprintDir) ?? sprintDir
  const parent = parseTraceparent(io.env['TRACEPARENT'])
  const tracer = new SprintTracer(telemetry, { sprint, name, parent })
  return {
    observe: (event) => tracer.observe(event, io.now()),
    traceparent: createTraceparents({ sprint, parent }),
    close: () => telemetry.close(),
  }
}
