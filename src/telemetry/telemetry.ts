import type { TraceContext } from './trace-context.ts'

export type Attributes = Readonly<Record<string, string | number | boolean>>

/** A span that has ended. Times are milliseconds since 1970. */
export type FinishedSpan = TraceContext & {
  readonly name: string
  readonly parentSpanId?: string | undefined
  readonly startedAt: number
  readonly endedAt: number
  readonly attributes: Attributes
  /** Why the operation failed; absent: it did not. */
  readonly error?: string | undefined
}

export type LogEntry = {
  readonly at: number
  readonly level: 'info' | 'warning' | 'error'
  readonly text: string
  readonly attributes: Attributes
  readonly trace?: TraceContext | undefined
}

export type Measurement = {
  readonly name: 'gen_ai.client.operation.duration' | 'gen_ai.client.token.usage' | 'ralph.iterations' | 'ralph.cost'
  readonly value: number
  readonly attributes: Attributes
}

/** Sends traces, metrics and logs to where the `OTEL_*` variables point. Never throws, and never waits in a call. */
export interface Telemetry {
  /** Whether prompts, answers, arguments and results may leave this process. */
  readonly hasContent: boolean
  readonly recordSpan: (span: FinishedSpan) => void
  readonly recordLog: (entry: LogEntry) => void
  readonly measure: (measurement: Measurement) => void
  /** Sends what waits; resolves after a few seconds even if nothing answers. */
  readonly close: () => Promise<void>
}

type Env = Readonly<Record<string, string | undefined>>

const signals = ['TRACES', 'METRICS', 'LOGS'] as const
export type Signal = (typeof signals)[number]

/** Where a signal goes, by the standard variables. An endpoint alone switches all three on. */
export function chooseExporter(env: Env, signal: Signal): 'otlp' | 'console' | 'none' {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return 'none'
  const chosen = env[`OTEL_${signal}_EXPORTER`]?.trim()
  if (chosen === 'otlp' || chosen === 'console' || chosen === 'none') return chosen
  const hasEndpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]
  return hasEndpoint ? 'otlp' : 'none'
}

export const isTelemetryOn = (env: Env): boolean => signals.some((signal) => chooseExporter(env, signal) !== 'none')

export type TelemetryOptions = {
  readonly env: Env
  /** `ralph`, `ralph-backend`; `OTEL_SERVICE_NAME` overrides it. */
  readonly service: string
  readonly version: string
  /** Called once per kind of trouble with one line for the user. */
  readonly onTrouble: (text: string) => void
}

/** Opens telemetry; undefined unless the environment asks for it. The SDK is loaded only then. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry | undefined> {
  if (!isTelemetryOn(options.env)) return undefined
  const { startSdk } = await import('./sdk.ts')
  return startSdk(options)
}
