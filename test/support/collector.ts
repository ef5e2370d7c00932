import { once } from 'node:events'
import { createServer } from 'node:http'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

const Value = z.looseObject({
  stringValue: z.string().optional(),
  intValue: z.union([z.number(), z.string()]).optional(),
  doubleValue: z.number().optional(),
  boolValue: z.boolean().optional(),
})
const Attribute = z.object({ key: z.string(), value: Value })
const OtlpSpan = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: z.array(Attribute),
  status: z.looseObject({ code: z.number().optional() }),
})
const Traces = z.looseObject({
  resourceSpans: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(z.looseObject({ spans: z.array(OtlpSpan) })),
    }),
  ),
})

export type CollectedSpan = {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly ms: number
  readonly failed: boolean
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A collector that takes OTLP as JSON. It ends with the test. */
export async function startCollector() {
  const bodies: { readonly path: string; readonly text: string }[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      bodies.push({ path: request.url ?? '', text: Buffer.concat(parts).toString() })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const texts = (path: string) => bodies.filter((body) => body.path === path).map(({ text }) => text)
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    everything: () => bodies.map(({ text }) => text).join('\n'),
    texts,
    spans: (): CollectedSpan[] =>
      texts('/v1/traces')
        .flatMap((text) => Traces.parse(JSON.parse(text)).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .map(readSpan),
  }
}

const readSpan = (span: z.output<typeof OtlpSpan>): CollectedSpan => ({
  name: span.name,
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId === '' ? undefined : span.parentSpanId,
  ms: Number((BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1_000_000n),
  failed: span.status.code === 2,
  attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, readValue(value)])),
})

const readValue = ({ stringValue, intValue, doubleValue, boolValue }: z.output<typeof Value>): unknown =>
  stringValue ?? boolValue ?? doubleValue ?? (intValue === undefined ? undefined : Number(intValue))
