import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type HrTime,
  type SpanContext,
} from '@opentelemetry/api'
import { SeverityNumber } from '@opentelemetry/api-logs'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import { loadLogExporter, loadMetricExporter, loadSpanExporter } from './exporters.ts'
import type { FinishedSpan, LogEntry, Measurement, Telemetry, TelemetryOptions } from './telemetry.ts'
import type { TraceContext } from './trace-context.ts'

type Env = TelemetryOptions['env']
const scope = 'ralph-mode'
/** A collector that is down must not hold up the end of a run. */
const closeTimeoutMs = 3000

/** The official SDK, set up by the standard variables. */
export async function startSdk(options: TelemetryOptions): Promise<Telemetry> {
  const { env, service, version } = options
  diag.setLogger(createDiagnosticLogger(options), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const resource = resourceFromAttributes({ 'service.name': service, 'service.version': version }).merge(
    detectResources({ detectors: [envDetector] }),
  )
  const spans = openTracer(await loadSpanExporter(options), { env, resource, version })
  const logs = openLogger(await loadLogExporter(options), { env, resource, version })
  const metrics = openMeter(await loadMetricExporter(options), { env, resource, version })
  return {
    hasContent: env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']?.toLowerCase() === 'true',
    recordSpan: spans.record,
    recordLog: logs.record,
    measure: metrics.record,
    close: async () => {
      const closing = Promise.allSettled([spans.close(), logs.close(), metrics.close()])
      let timer: NodeJS.Timeout | undefined
      const timeout = new Promise((done) => (timer = setTimeout(done, closeTimeoutMs)))
      await Promise.race([closing, timeout])
      clearTimeout(timer)
    },
  }
}

type Setup = {
  readonly env: Env
  readonly resource: ReturnType<typeof resourceFromAttributes>
  readonly version: string
}

const nothing = { record: () => {}, close: async () => {} }

/**
 * Ralph records spans that have ended, with ids of its own, so they go to the processor without a tracer: `startSpan` and
 * `end` of the SDK were a third of what telemetry costs.
 */
function openTracer(exporter: SpanExporter | undefined, { env, resource, version }: Setup) {
  if (!exporter) return nothing
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: readNumber(env, 'OTEL_BSP_SCHEDULE_DELAY', 5000),
    maxQueueSize: readNumber(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048),
    maxExportBatchSize: readNumber(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    exportTimeoutMillis: readNumber(env, 'OTEL_BSP_EXPORT_TIMEOUT', 30_000),
  })
  const sampler = chooseSampler(env)
  const shared = { ...plainSpan, resource, instrumentationScope: { name: scope, version } }
  const record = (span: FinishedSpan) => {
    if (isSampled(sampler, span)) processor.onEnd({ ...shared, ...toReadableSpan(span) })
  }
  return { record, close: () => processor.shutdown() }
}

const isSampled = (sampler: Sampler, { traceId, name, attributes }: FinishedSpan): boolean =>
  sampler.shouldSample(ROOT_CONTEXT, traceId, name, SpanKind.INTERNAL, attributes, []).decision ===
  SamplingDecision.RECORD_AND_SAMPLED

const plainSpan = {
  kind: SpanKind.INTERNAL,
  links: [],
  events: [],
  ended: true,
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
}

function toReadableSpan({ name, traceId, spanId, parentSpanId, ...span }: FinishedSpan) {
  const context: SpanContext = { traceId, spanId, traceFlags: TraceFlags.SAMPLED }
  const { startedAt, endedAt, attributes, error } = span
  return {
    name,
    spanContext: () => context,
    ...(parentSpanId !== undefined && { parentSpanContext: { ...context, spanId: parentSpanId, isRemote: true } }),
    startTime: toHrTime(startedAt),
    endTime: toHrTime(endedAt),
    duration: toHrTime(Math.max(0, endedAt - startedAt)),
    status: { code: error === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes: error === undefined ? attributes : { ...attributes, 'error.type': error },
  } satisfies Partial<ReadableSpan>
}

/** Seconds and nanoseconds. */
const toHrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]

const remoteContext = (context: TraceContext) =>
  trace.setSpanContext(ROOT_CONTEXT, { ...context, traceFlags: TraceFlags.SAMPLED, isRemote: true })

/** The ratio decides for all of a trace, by its id. */
function chooseSampler(env: Env): Sampler {
  const [, kind] = /^(?:parentbased_)?(always_on|always_off|traceidratio)$/.exec(env['OTEL_TRACES_SAMPLER'] ?? '') ?? []
  if (kind === 'always_off') return new AlwaysOffSampler()
  if (kind === 'traceidratio') return new TraceIdRatioBasedSampler(Number(env['OTEL_TRACES_SAMPLER_ARG'] ?? 1))
  return new AlwaysOnSampler()
}

function openLogger(exporter: LogRecordExporter | undefined, { env, resource, version }: Setup) {
  if (!exporter) return nothing
  const scheduledDelayMillis = readNumber(env, 'OTEL_BLRP_SCHEDULE_DELAY', 1000)
  const processor = new BatchLogRecordProcessor({ exporter, scheduledDelayMillis })
  const provider = new LoggerProvider({ resource, processors: [processor] })
  const logger = provider.getLogger(scope, version)
  const record = ({ at, level, text, attributes, trace: place }: LogEntry) => {
    logger.emit({
      timestamp: at,
      severityNumber: severities[level],
      severityText: level.toUpperCase(),
      body: text,
      attributes,
      ...(place && { context: remoteContext(place) }),
    })
  }
  return { record, close: () => provider.shutdown() }
}

const severities = { info: SeverityNumber.INFO, warning: SeverityNumber.WARN, error: SeverityNumber.ERROR }

const secondBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200]
const tokenBuckets = [1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6]

function openMeter(exporter: PushMetricExporter | undefined, { env, resource, version }: Setup) {
  if (!exporter) return nothing
  const exportIntervalMillis = readNumber(env, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000)
  const exportTimeoutMillis = readNumber(env, 'OTEL_METRIC_EXPORT_TIMEOUT', 30_000)
  const provider = new MeterProvider({
    resource,
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis })],
  })
  const meter = provider.getMeter(scope, version)
  const duration = { unit: 's', advice: { explicitBucketBoundaries: secondBuckets } }
  const tokens = { unit: '{token}', advice: { explicitBucketBoundaries: tokenBuckets } }
  const histograms = {
    'gen_ai.client.operation.duration': meter.createHistogram('gen_ai.client.operation.duration', duration),
    'gen_ai.client.token.usage': meter.createHistogram('gen_ai.client.token.usage', tokens),
  }
  const counters = {
    'ralph.iterations': meter.createCounter('ralph.iterations', { unit: '{iteration}' }),
    'ralph.cost': meter.createCounter('ralph.cost', { unit: 'USD' }),
  }
  const record = ({ name, value, attributes }: Measurement) => {
    if (name === 'ralph.iterations' || name === 'ralph.cost') counters[name].add(value, attributes)
    else histograms[name].record(value, attributes)
  }
  return { record, close: () => provider.shutdown() }
}

function readNumber(env: Env, variable: string, usual: number): number {
  const value = Number(env[variable] || undefined)
  return Number.isFinite(value) && value > 0 ? value : usual
}

const ignore = () => {}

/** The SDK reports errors as JSON with a stack; a user needs the message. */
const readDiagnostic = (text: string): string => /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text

/** The SDK reports every failed export; a user needs to know once. */
function createDiagnosticLogger({ onTrouble }: TelemetryOptions) {
  let isReported = false
  const report = (message: string, ...rest: readonly unknown[]) => {
    if (isReported) return
    isReported = true
    const parts = [readDiagnostic(message), ...rest.map((part) => (part instanceof Error ? part.message : ''))]
    const why = parts.filter(Boolean).join(': ').replaceAll(/\s+/g, ' ').slice(0, 200)
    onTrouble(`telemetry is not delivered: ${why} (OTEL_EXPORTER_OTLP_ENDPOINT); everything else continues`)
  }
  return { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore }
}
