import type { LogRecordExporter } from '@opentelemetry/sdk-logs'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import { chooseExporter, type Signal, type TelemetryOptions } from './telemetry.ts'

type Protocol = 'http/protobuf' | 'http/json'

/** The wire format, by the standard variables. An unknown one is reported, and the signal stays off. */
function chooseProtocol({ env, onTrouble }: TelemetryOptions, signal: Signal): Protocol | undefined {
  const variable = `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`
  const chosen = env[variable] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf'
  if (chosen === 'http/protobuf' || chosen === 'http/json') return chosen
  onTrouble(`telemetry: the protocol "${chosen}" is not supported; set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`)
  return undefined
}

export async function loadSpanExporter(options: TelemetryOptions): Promise<SpanExporter | undefined> {
  const kind = chooseExporter(options.env, 'TRACES')
  if (kind === 'console') return new (await import('@opentelemetry/sdk-trace')).ConsoleSpanExporter()
  const protocol = kind === 'otlp' ? chooseProtocol(options, 'TRACES') : undefined
  if (protocol === 'http/json') return new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter()
  if (protocol) return new (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter()
  return undefined
}

export async function loadLogExporter(options: TelemetryOptions): Promise<LogRecordExporter | undefined> {
  const kind = chooseExporter(options.env, 'LOGS')
  if (kind === 'console') return new (await import('@opentelemetry/sdk-logs')).ConsoleLogRecordExporter()
  const protocol = kind === 'otlp' ? chooseProtocol(options, 'LOGS') : undefined
  if (protocol === 'http/json') return new (await import('@opentelemetry/exporter-logs-otlp-http')).OTLPLogExporter()
  if (protocol) return new (await import('@opentelemetry/exporter-logs-otlp-proto')).OTLPLogExporter()
  return undefined
}

export async function loadMetricExporter(options: TelemetryOptions): Promise<PushMetricExporter | undefined> {
  const kind = chooseExporter(options.env, 'METRICS')
  if (kind === 'console') return new (await import('@opentelemetry/sdk-metrics')).ConsoleMetricExporter()
  const protocol = kind === 'otlp' ? chooseProtocol(options, 'METRICS') : undefined
  if (protocol === 'http/json')
    return new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter()
  if (protocol) return new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter()
  return undefined
}
