import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startCollector, type CollectedSpan } from '../support/collector.ts'
import { createTestSprint } from '../support/sprint.ts'

const secret = 'the words of an agent'
const toolLines = [
  {
    type: 'assistant',
    message: {
      id: 'message-1',
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'tool-1', name: 'Bash', input: { command: `echo ${secret}` } }],
    },
    session_id: 'session-1',
  },
  {
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'tool-1', content: secret }] },
    session_id: 'session-1',
  },
].map((line) => JSON.stringify(line))

const goalComplete = { status: 'goal-complete', summary: secret, goalCompleteSummary: secret }
const answers = { 1: { run: 'echo "$TRACEPARENT" > traceparent', lines: toolLines, report: goalComplete } }

const find = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.find((span) => span.name.startsWith(name))
  if (!found) throw new Error(`no span ${name} in ${spans.map((span) => span.name).join(', ')}`)
  return found
}

it('sends a trace of sprint, iteration, attempt and tool by the conventions, without what the agent said', async () => {
  const collector = await startCollector()
  const sprint = await createTestSprint({
    sprint: { 'sprint-id': 'db', 'done-when': [{ run: 'true' }], proof: 'optional' },
    answers,
    env: collector.env,
  })
  expect(await sprint.run()).toMatchObject({ exitCode: 0, stderr: '' })

  const spans = collector.spans()
  const [run, iteration, attempt, tool] = [
    'invoke_workflow db',
    'iteration 1',
    'invoke_agent claude',
    'execute_tool',
  ].map((name) => find(spans, name))
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  expect([run?.parentSpanId, iteration?.parentSpanId, attempt?.parentSpanId, tool?.parentSpanId]).toEqual([
    undefined,
    run?.spanId,
    iteration?.spanId,
    attempt?.spanId,
  ])
  const checks = spans.filter(({ name }) => name === 'check true').map(({ parentSpanId }) => parentSpanId)
  expect(checks).toEqual([run?.spanId, iteration?.spanId])
  expect(attempt?.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.agent.name': 'claude',
    'gen_ai.request.model': 'fake',
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 5,
  })
  expect(tool?.attributes).toEqual({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'Bash',
    'gen_ai.tool.call.id': 'tool-1',
    'gen_ai.tool.type': 'function',
  })
  expect(run?.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_workflow',
    'ralph.sprint.status': 'completed',
  })
  // The agent's own spans nest in its attempt.
  expect((await sprint.read('traceparent')).trim()).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`)
  expect(collector.texts('/v1/metrics').join('')).toContain('gen_ai.client.token.usage')
  expect(collector.texts('/v1/logs').join('')).toContain('sprint completed')
  expect(collector.everything()).not.toContain(secret)
})

it('joins the trace of the program that started it, and sends content only if the user allows it', async () => {
  const collector = await startCollector()
  const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
  const sprint = await createTestSprint({
    sprint: { 'sprint-id': 'db' },
    answers,
    env: {
      ...collector.env,
      TRACEPARENT: `00-${parent.traceId}-${parent.spanId}-01`,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    },
  })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const spans = collector.spans()
  expect(find(spans, 'invoke_workflow')).toMatchObject({ traceId: parent.traceId, parentSpanId: parent.spanId })
  expect(find(spans, 'execute_tool').attributes).toMatchObject({ 'gen_ai.tool.call.result': secret })
})

it('runs on with one line when the collector is away or the protocol is unknown', async () => {
  const away = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '500' }
  const sprint = await createTestSprint({ sprint: { 'sprint-id': 'db' }, answers, env: away })
  const { exitCode, stdout, stderr } = await sprint.run()
  expect(exitCode).toBe(0)
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('telemetry'))
  expect(lines).toEqual([
    expect.stringMatching(/telemetry is not delivered: connect ECONNREFUSED 127\.0\.0\.1:9 \(OTEL_.*everything else/),
  ])

  const grpc = await createTestSprint({
    sprint: { 'sprint-id': 'db' },
    answers,
    env: { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  })
  const refused = await grpc.run()
  expect(refused.exitCode).toBe(0)
  expect(`${refused.stdout}${refused.stderr}`).toContain('set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf')
})

it('hands agents no trace and sends nothing without the variables', async () => {
  const sprint = await createTestSprint({ sprint: { 'sprint-id': 'db' }, answers, env: { TRACEPARENT: 'x' } })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect((await sprint.read('traceparent')).trim()).toBe('')
})

it('loads OpenTelemetry only with the variables', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-modules-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const probe = join(folder, 'probe.cjs')
  await writeFile(
    probe,
    `const Module = require('node:module')
    const { appendFileSync } = require('node:fs')
    const load = Module._load
    Module._load = function (request, ...rest) {
      appendFileSync(process.env.LOADED ?? '/dev/null', request + '\\n')
      return load.call(this, request, ...rest)
    }`,
  )
  const loadedModules = async (name: string, env: Readonly<Record<string, string>>) => {
    const list = join(folder, name)
    const variables = { ...env, NODE_OPTIONS: `--require ${probe}`, LOADED: list }
    const sprint = await createTestSprint({ sprint: { 'sprint-id': 'db' }, answers, env: variables })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    return readFile(list, 'utf8')
  }
  const off = await loadedModules('off', {})
  expect(off).toContain('node:fs')
  expect(off).not.toContain('opentelemetry')
  expect(await loadedModules('on', (await startCollector()).env)).toContain('@opentelemetry/')
})
