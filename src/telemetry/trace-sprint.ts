import type { AgentEvent, SprintEvent } from '../contract/events.ts'
import { noUsage, type Usage } from '../contract/outcome.ts'
import { describeEvent } from './describe-event.ts'
import type { Attributes, Telemetry } from './telemetry.ts'
import { attemptSpanId, deriveSpanId, deriveTraceId, iterationSpanId, type TraceContext } from './trace-context.ts'

export type SprintTrace = {
  /** Names the sprint in all processes that see it: the id of its state, or its id in the fleet. */
  readonly sprint: string
  /** What people call it. */
  readonly name: string
  /** Trace of the program that started the run, if it has one. */
  readonly parent?: TraceContext | undefined
}

type OpenSpan = { readonly startedAt: number; readonly attributes: Attributes }
type OpenAttempt = OpenSpan & {
  readonly spanId: string
  readonly agent: string
  usage: Usage
  session: string | undefined
  model: string | undefined
  text: string
}

/** Turns the events of one sprint into spans, logs and measurements, following the conventions for generative AI. */
export class SprintTracer {
  readonly #telemetry: Telemetry
  readonly #trace: SprintTrace
  readonly #traceId: string
  readonly #open = new Map<string, OpenSpan>()
  readonly #attempts = new Map<string, OpenAttempt>()
  #run: (OpenSpan & { readonly spanId: string }) | undefined

  constructor(telemetry: Telemetry, trace: SprintTrace) {
    this.#telemetry = telemetry
    this.#trace = trace
    this.#traceId = trace.parent?.traceId ?? deriveTraceId(trace.sprint)
  }

  observe(event: SprintEvent, at: number): void {
    this.#log(event, at)
    switch (event.type) {
      case 'sprint-started': {
        const attributes = { 'ralph.sprint.resumed': event.resumed }
        this.#run = { spanId: deriveSpanId(this.#trace.sprint, 'run', `${at}`), startedAt: at, attributes }
        return
      }
      case 'iteration-started':
        return this.#begin(iterationKey(event.iteration), at, { 'ralph.iteration.mode': event.mode })
      case 'attempt-started':
        return this.#beginAttempt(event, at)
      case 'agent':
        return this.#observeAgent(event, at)
      case 'attempt-failed':
        return this.#endAttempt(event, at, event.class)
      case 'check-started':
        return this.#begin(`check ${event.iteration} ${event.name}`, at, {})
      case 'check-ended':
        return this.#endCheck(event, at)
      case 'hook-started':
        return this.#begin(`hook ${event.iteration} ${event.hook}`, at, {})
      case 'hook-ended':
        return this.#endHook(event, at)
      case 'iteration-ended':
        return this.#endIteration(event, at)
      case 'sprint-rested':
        return this.#endRun(event, at)
      case 'note':
      case 'steps-changed':
      case 'report-rejected':
      case 'claim-made':
      case 'claim-refused':
      case 'claim-accepted':
      case 'gate-started':
      case 'gate-ended':
      case 'work-ended':
      case 'breakpoint-reached':
      case 'question-asked':
      case 'user-said':
    }
  }

  #begin(key: string, startedAt: number, attributes: Attributes): void {
    this.#open.set(key, { startedAt, attributes })
  }

  #beginAttempt({ iteration, attempt, agent }: EventByType<'attempt-started'>, at: number): void {
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': providers[agent] ?? agent,
      'gen_ai.agent.name': agent,
      'ralph.iteration': iteration,
      'ralph.attempt': attempt,
    }
    const spanId = attemptSpanId(this.#trace.sprint, iteration, attempt)
    const rest = { spanId, usage: noUsage, session: undefined, model: undefined, text: '' }
    this.#attempts.set(attemptKey(iteration, attempt), { startedAt: at, attributes, agent, ...rest })
  }

  #observeAgent({ iteration, attempt, event }: EventByType<'agent'>, at: number): void {
    const open = this.#attempts.get(attemptKey(iteration, attempt))
    if (!open) return
    if (event.kind === 'session') {
      open.session = event.id
      open.model = event.model ?? open.model
    }
    if (event.kind === 'usage') open.usage = event.usage
    if (event.kind === 'text' && this.#telemetry.hasContent) open.text += event.text
    if (event.kind === 'tool') this.#observeTool(event, { iteration, attempt, at, attemptSpanId: open.spanId })
    if (event.kind === 'terminal') this.#endAttempt({ iteration, attempt }, at, event.ok ? undefined : 'agent_error')
  }

  #observeTool(tool: ToolEvent, { iteration, attempt, at, attemptSpanId: parentSpanId }: Moment): void {
    const key = `tool ${iteration} ${attempt} ${tool.id}`
    if (tool.phase === 'start') return this.#begin(key, at, this.#toolAttributes(tool))
    const open = this.#open.get(key)
    if (!open) return
    this.#open.delete(key)
    this.#telemetry.recordSpan({
      traceId: this.#traceId,
      spanId: deriveSpanId(this.#trace.sprint, key),
      parentSpanId,
      name: `execute_tool ${open.attributes['gen_ai.tool.name']}`,
      startedAt: open.startedAt,
      endedAt: at,
      attributes: {
        ...open.attributes,
        ...(this.#telemetry.hasContent && tool.output !== undefined && { 'gen_ai.tool.call.result': tool.output }),
      },
      error: tool.ok === false ? 'tool_error' : undefined,
    })
  }

  #toolAttributes({ id, name = 'unknown', input }: ToolEvent): Attributes {
    return {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.type': 'function',
      ...(this.#telemetry.hasContent && input !== undefined && { 'gen_ai.tool.call.arguments': JSON.stringify(input) }),
    }
  }

  #endAttempt(
    { iteration, attempt }: { readonly iteration: number; readonly attempt: number },
    at: number,
    error?: string,
  ) {
    const key = attemptKey(iteration, attempt)
    const open = this.#attempts.get(key)
    if (!open) return
    this.#attempts.delete(key)
    const model = open.model !== undefined && {
      'gen_ai.request.model': open.model,
      'gen_ai.response.model': open.model,
    }
    const output = open.text && { 'gen_ai.output.messages': outputMessages(open.text) }
    this.#telemetry.recordSpan({
      traceId: this.#traceId,
      spanId: open.spanId,
      parentSpanId: iterationSpanId(this.#trace.sprint, iteration),
      name: `invoke_agent ${open.agent}`,
      startedAt: open.startedAt,
      endedAt: at,
      attributes: {
        ...open.attributes,
        ...model,
        ...(open.session !== undefined && { 'gen_ai.conversation.id': open.session }),
        ...usageAttributes(open.usage),
        ...output,
      },
      error,
    })
    this.#measureAttempt(open, at, error)
  }

  #measureAttempt({ attributes, startedAt, usage, model }: OpenAttempt, at: number, error: string | undefined): void {
    const shared = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': attributes['gen_ai.provider.name'] ?? 'unknown',
      ...(model !== undefined && { 'gen_ai.request.model': model }),
    }
    const duration = { ...shared, ...(error !== undefined && { 'error.type': error }) }
    const value = Math.max(0, at - startedAt) / 1000
    this.#telemetry.measure({ name: 'gen_ai.client.operation.duration', value, attributes: duration })
    for (const [type, count] of [['input', sumInput(usage)] as const, ['output', usage.outputTokens] as const]) {
      if (count === 0) continue
      const tokens = { ...shared, 'gen_ai.token.type': type }
      this.#telemetry.measure({ name: 'gen_ai.client.token.usage', value: count, attributes: tokens })
    }
  }

  #endCheck({ iteration, result }: EventByType<'check-ended'>, at: number): void {
    const attributes = { 'ralph.check.name': result.name, 'ralph.check.passed': result.passed }
    const about = { key: `check ${iteration} ${result.name}`, name: `check ${result.name}`, iteration, at, attributes }
    this.#endPart(about, result.passed ? undefined : 'check_failed')
  }

  #endHook({ iteration, hook, ok }: EventByType<'hook-ended'>, at: number): void {
    const about = {
      key: `hook ${iteration} ${hook}`,
      name: `hook ${hook}`,
      iteration,
      at,
      attributes: { 'ralph.hook.id': hook },
    }
    this.#endPart(about, ok ? undefined : 'hook_failed')
  }

  #endPart({ key, name, iteration, at, attributes }: EndedPart, error: string | undefined): void {
    const open = this.#open.get(key)
    this.#open.delete(key)
    this.#telemetry.recordSpan({
      traceId: this.#traceId,
      spanId: deriveSpanId(this.#trace.sprint, key, `${open?.startedAt ?? at}`),
      // Before the first iteration, the checks run on the code as it is.
      parentSpanId: iteration === 0 ? this.#run?.spanId : iterationSpanId(this.#trace.sprint, iteration),
      name,
      startedAt: open?.startedAt ?? at,
      endedAt: at,
      attributes: { ...open?.attributes, ...attributes },
      error,
    })
  }

  #endIteration({ iteration, verdict, durationMs, costUsd }: EventByType<'iteration-ended'>, at: number): void {
    const attributes = { 'ralph.iteration.verdict': verdict, ...(costUsd !== null && { 'ralph.cost.usd': costUsd }) }
    const error = verdict === 'failed' ? 'failed' : undefined
    this.#closeIteration({ iteration, startedAt: at - durationMs, at, attributes }, error)
    this.#telemetry.measure({ name: 'ralph.iterations', value: 1, attributes: { 'ralph.iteration.verdict': verdict } })
    if (costUsd) this.#telemetry.measure({ name: 'ralph.cost', value: costUsd, attributes: {} })
  }

  /** Records the iteration with its open attempts. Its open tools, checks and hooks never ended. */
  #closeIteration({ iteration, startedAt, at, attributes }: EndedIteration, error: string | undefined): void {
    for (const key of this.#attempts.keys())
      if (key.startsWith(`${iteration}-`))
        this.#endAttempt({ iteration, attempt: Number(key.split('-')[1]) }, at, error)
    const open = this.#open.get(iterationKey(iteration))
    const prefixes = ['tool', 'check', 'hook'].map((kind) => `${kind} ${iteration} `)
    for (const key of this.#open.keys())
      if (key === iterationKey(iteration) || prefixes.some((prefix) => key.startsWith(prefix))) this.#open.delete(key)
    this.#telemetry.recordSpan({
      traceId: this.#traceId,
      spanId: iterationSpanId(this.#trace.sprint, iteration),
      parentSpanId: this.#run?.spanId ?? this.#trace.parent?.spanId,
      name: `iteration ${iteration}`,
      startedAt: open?.startedAt ?? startedAt,
      endedAt: at,
      attributes: { ...open?.attributes, 'ralph.iteration': iteration, ...attributes },
      error,
    })
  }

  #endRun({ status }: EventByType<'sprint-rested'>, at: number): void {
    const run = this.#run
    if (!run) return
    for (const key of this.#open.keys()) {
      const [kind, number] = key.split(' ')
      const iteration = { iteration: Number(number), startedAt: at, at, attributes: {} }
      if (kind === 'iteration') this.#closeIteration(iteration, 'interrupted')
    }
    this.#run = undefined
    this.#telemetry.recordSpan({
      traceId: this.#traceId,
      spanId: run.spanId,
      parentSpanId: this.#trace.parent?.spanId,
      name: `invoke_workflow ${this.#trace.name}`,
      startedAt: run.startedAt,
      endedAt: at,
      attributes: {
        ...run.attributes,
        'gen_ai.operation.name': 'invoke_workflow',
        'gen_ai.workflow.name': this.#trace.name,
        'ralph.sprint.id': this.#trace.sprint,
        'ralph.sprint.status': status,
      },
      error: status === 'failed' ? 'failed' : undefined,
    })
  }

  #log(event: SprintEvent, at: number): void {
    const described = describeEvent(event)
    if (!described) return
    const iteration = 'iteration' in event ? event.iteration : undefined
    const spanId = iteration === undefined ? this.#run?.spanId : iterationSpanId(this.#trace.sprint, iteration)
    this.#telemetry.recordLog({
      at,
      ...described,
      attributes: {
        'event.name': `ralph.${event.type}`,
        'ralph.sprint.id': this.#trace.sprint,
        ...(iteration !== undefined && { 'ralph.iteration': iteration }),
      },
      trace: spanId === undefined ? undefined : { traceId: this.#traceId, spanId },
    })
  }
}

type EventByType<Type extends SprintEvent['type']> = Extract<SprintEvent, { readonly type: Type }>
type ToolEvent = Extract<AgentEvent, { readonly kind: 'tool' }>
type Moment = {
  readonly iteration: number
  readonly attempt: number
  readonly at: number
  readonly attemptSpanId: string
}
type EndedPart = {
  readonly key: string
  readonly name: string
  readonly iteration: number
  readonly at: number
  readonly attributes: Attributes
}

type EndedIteration = {
  readonly iteration: number
  /** Where its start was not seen. */
  readonly startedAt: number
  readonly at: number
  readonly attributes: Attributes
}

/** Names of the conventions for those who answer the agents of these drivers. */
const providers: Readonly<Record<string, string>> = { claude: 'anthropic', codex: 'openai', gemini: 'gcp.gemini' }

const iterationKey = (iteration: number): string => `iteration ${iteration}`
const attemptKey = (iteration: number, attempt: number): string => `${iteration}-${attempt}`

const sumInput = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number =>
  inputTokens + cacheReadTokens + cacheWriteTokens

/** The conventions count cached tokens as input too. */
const usageAttributes = (usage: Usage): Attributes =>
  usage === noUsage
    ? {}
    : {
        'gen_ai.usage.input_tokens': sumInput(usage),
        'gen_ai.usage.output_tokens': usage.outputTokens,
        'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
        'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
      }

const outputMessages = (content: string): string =>
  JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content }] }])
