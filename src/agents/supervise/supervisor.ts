import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome, Usage } from '../../contract/outcome.ts'
import type { Price } from '../../contract/settings.ts'
import { readStderrTail, type EndReason } from '../../platform/processes/attempt-folder.ts'
import { createActivityClock } from '../../platform/clock.ts'
import { isFile, realPath } from '../../platform/files/files.ts'
import { createLineSplitter } from '../../platform/files/line-splitter.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { superviseProcess } from '../../platform/processes/supervised-process.ts'
import type { AgentRequest, AgentRunner } from '../../runtime/ports.ts'
import { createAttemptToken, tokenVariable } from './attempt-token.ts'
import { claimAttemptFolder, type AttemptLocation } from './attempt.ts'
import type { Driver } from '../drivers/driver.ts'
import { buildAgentEnv } from './environment.ts'
import { estimateUsd } from './prices.ts'
import { isDeclaredSandbox } from '../drivers/sandbox-flag.ts'
import { noWalls, type Sandbox } from '../cells/sandbox.ts'
import { withMcpReport } from './mcp-report.ts'
import { createTextJoiner } from '../transcript/text-joiner.ts'

/** Output limit of one attempt (DESIGN §6). */
const defaultOutputCapBytes = 1024 ** 3
const stderrTailBytes = 2000
/** An agent may be silent this many times longer while it runs a tool or compacts its context. */
const toolIdleFactor = 3

export type AgentOptions = AttemptLocation & {
  /** Base of relative program paths; default: `cwd`. */
  readonly project?: string
  readonly driver: Driver
  readonly model?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pass: readonly string[]
  readonly prices?: Readonly<Record<string, Price>> | undefined
  /** Wraps every attempt, if set. */
  readonly sandbox?: Sandbox | undefined
  /** `TRACEPARENT` of an attempt, if the run is traced: spans of the agent itself nest in it. */
  readonly traceparent?: ((attempt: string) => string | undefined) | undefined
  /** One line for the user, e.g. about a host that was refused. */
  readonly onNote?: ((text: string) => void) | undefined
  /** Time for an agent to exit after TERM; default: 10 s. */
  readonly graceMs?: number
  /** Output limit of an attempt; default: 1 GiB. */
  readonly outputCapBytes?: number
}

/** Turns a driver into an agent that the runtime can run. Besides the shell, the only code that starts programs. */
export function superviseAgent(options: AgentOptions): AgentRunner {
  const { driver, sprintDir, cwd, project = cwd, model, sandbox, onNote } = options
  return {
    name: driver.name,
    slashCommands: driver.slashCommands === true,
    transcriptPath: (transcript) => join(sprintDir, 'transcripts', transcript),
    async run(request, signal) {
      const { folder, mark, showAgain } = await claimAttemptFolder(sprintDir, request)
      const { resume, answer, form } = request
      const invocation = driver.command({
        cwd,
        folder,
        sprintDir,
        project,
        ...(model !== undefined && { model }),
        ...(resume !== undefined && { resume }),
        ...(answer !== undefined && { answer }),
        ...(form !== undefined && { form }),
        ...((sandbox || isDeclaredSandbox(options.env)) && { sandboxed: true }),
      })
      const { token, files } = createAttemptToken(folder, sprintDir)
      const traceparent = options.traceparent?.(request.attempt)
      const own = { ...invocation.env, [tokenVariable]: token, ...(traceparent && { TRACEPARENT: traceparent }) }
      const env = buildAgentEnv(driver, options.env, options.pass, own)
      const programFile = findProgram(invocation.file, env['PATH'] ?? '', project)
      if (!programFile) throw programNotFound(driver)
      const bare = { file: driver.native?.(realPath(programFile), isFile) ?? programFile, args: invocation.args, env }
      const program = (await sandbox?.around(bare, { driver, folder, sprintDir, cwd, onNote })) ?? bare
      const watch = watchAttempt(driver, request, options)
      const { code, ended } = await superviseProcess({
        folder,
        ...program,
        cwd,
        stdin: request.prompt,
        files: { ...invocation.files, ...files },
        mark,
        onStart: request.onStart,
        onOutput: watch.onOutput,
        onJoined: watch.onJoined,
        overdue: (bytes) => (sandbox?.isDiskOver(folder) ? 'disk' : watch.overdue(bytes)),
        signal,
        ...(options.graceMs !== undefined && { graceMs: options.graceMs }),
      })
      const walls = (await sandbox?.clear({ folder, sprintDir, onNote })) ?? noWalls
      showAgain()
      const outcome = withMcpReport(watch.finish({ folder, code, ended }), folder)
      return { ...withPrice(outcome, watch.model(), options.prices), exitCode: code, walls }
    },
  }
}

export const programNotFound = ({ name, program }: Driver): RalphError =>
  new RalphError(
    'AGENT_NOT_FOUND',
    `agent "${name}": the program "${program}" is not ${describeSearchPlace(program)}`,
    {
      hint: `install it, or choose another one with --agent or "agent:" in SPRINT.yaml`,
    },
  )

/** A path is resolved in the project and must be executable. */
const describeSearchPlace = (program: string): string =>
  !program.includes('/') ? 'on PATH' : program.startsWith('/') ? 'there' : 'in the project'

/** Reads the output as it arrives and keeps three clocks: silence, duration, and lingering after the result. */
function watchAttempt(
  driver: Driver,
  { timeouts, budget, used, onEvent, drained }: AgentRequest,
  options: AgentOptions,
) {
  const reader = driver.read(used)
  const joiner = createTextJoiner(onEvent)
  const emit = driver.textInPieces ? joiner.onEvent : onEvent
  const now = createActivityClock()
  let started = now()
  let lastActivity = started
  let resultAt: number | undefined
  let { model } = options
  let overspent = false
  const openTools = new Set<string>()

  const onLine = (line: string) => {
    for (const event of reader.parse(line)) {
      if (event.kind !== 'raw' || !isKeepAlive(event.line)) lastActivity = now()
      if (event.kind === 'terminal') resultAt = now()
      if (event.kind === 'session') model = event.model ?? model
      if (event.kind === 'usage') overspent = isOverBudget(budget, event.usage, { model, prices: options.prices })
      trackTool(openTools, event)
      emit(event)
    }
  }
  const lines = createLineSplitter(onLine)
  return {
    model: () => model,
    onOutput: (chunk: Buffer) => {
      lines.push(chunk)
      return drained?.()
    },
    onJoined: (ranMs: number) => (started -= ranMs),
    overdue: (bytes: number): EndReason | undefined => {
      const at = now()
      const idleTimeoutMs = openTools.size > 0 ? timeouts.idle * toolIdleFactor : timeouts.idle
      if (bytes > (options.outputCapBytes ?? defaultOutputCapBytes)) return 'output-cap'
      if (resultAt === undefined && (overspent || at - started > (budget.durationMs ?? Infinity))) return 'budget'
      if (resultAt !== undefined && at - resultAt > timeouts.afterResult) return 'after-result'
      if (at - started > timeouts.attempt) return 'attempt'
      if (resultAt === undefined && at - lastActivity > idleTimeoutMs) return 'idle'
      return undefined
    },
    finish(end: { folder: string; code: number | null; ended: EndReason | undefined }): Outcome {
      const { folder, code, ended } = end
      lines.end()
      joiner.end()
      const stderrTail = readStderrTail(folder, stderrTailBytes)
      return reader.finish({ code, signal: null, stderrTail, at: Date.now(), ...(ended && { ended }) })
    },
  }
}

/** Adds the cost that the provider reports, else an estimate by list price, marked as such. */
function withPrice(outcome: Outcome, model: string | undefined, prices: AgentOptions['prices']): Outcome {
  const known = { ...outcome, ...(model !== undefined && { model }) }
  if (outcome.costUsd !== undefined || isUncounted(outcome)) return known
  const costUsd = estimateUsd(model, outcome.usage, prices)
  return costUsd === undefined ? known : { ...known, costUsd, costEstimated: true }
}

/** An answer uses tokens, so a count of zero means that the program reported none. */
const isUncounted = ({ status, usage: { inputTokens, outputTokens, cacheReadTokens } }: Outcome): boolean =>
  status === 'ok' && inputTokens + outputTokens + cacheReadTokens === 0

/** The actual cost is known only at the end; until then, estimate it by list price. Unknown models have no estimate. */
function isOverBudget(
  { usd, tokens }: AgentRequest['budget'],
  usage: Usage,
  { model, prices }: Pick<AgentOptions, 'model' | 'prices'>,
): boolean {
  if (tokens !== undefined && usage.inputTokens + usage.outputTokens > tokens) return true
  return usd !== undefined && (estimateUsd(model, usage, prices) ?? 0) > usd
}

/** Keep-alive lines do not count as activity: a program that prints nothing else is hanging. */
const isKeepAlive = (line: string): boolean =>
  /"type"\s*:\s*"(?:ping|keep[-_]?alive|heartbeat)"/.test(line.slice(0, 200))

function trackTool(openTools: Set<string>, event: AgentEvent): void {
  if (event.kind !== 'tool') return
  if (event.phase === 'start') openTools.add(event.id)
  else openTools.delete(event.id)
}
