import { join } from 'node:path'
import { RalphError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/events.ts'
import type { Outcome, Usage } from '../contract/outcome.ts'
import type { Price } from '../contract/settings.ts'
import { isFile, makeFolder, pointTo, readTextSyncIfThere, realPath } from '../platform/files.ts'
import { lineSplitter } from '../platform/line-splitter.ts'
import { findProgram } from '../platform/programs.ts'
import { files, superviseProcess, type Ended } from '../platform/supervised-process.ts'
import type { AgentRequest, AgentRunner } from '../runtime/ports.ts'
import type { Driver } from './driver.ts'
import { agentEnv } from './environment.ts'
import { estimateUsd } from './prices.ts'

/** The most that one attempt may print (DESIGN §6). */
const outputCapBytes = 1024 ** 3
const stderrTailCharacters = 2000
/** While a tool runs, or the context is compacted, an agent is silent for good reasons. */
const patienceWithTools = 3

export type Place = { readonly sprintDir: string; readonly cwd: string }

export type AgentOptions = Place & {
  readonly driver: Driver
  readonly model?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pass: readonly string[]
  readonly prices?: Readonly<Record<string, Price>> | undefined
}

/** Turns what a driver knows into an agent that the runtime can run. With the shell, the only thing that starts programs. */
export function superviseAgent(options: AgentOptions): AgentRunner {
  const { driver, sprintDir, cwd, model } = options
  return {
    name: driver.name,
    transcriptPath: (transcript) => join(sprintDir, 'transcripts', transcript),
    async run(request, signal) {
      const folder = await attemptFolder(sprintDir, request.attempt, request.transcript)
      const { resume } = request
      const invocation = driver.command({
        cwd,
        folder,
        sprintDir,
        ...(model !== undefined && { model }),
        ...(resume !== undefined && { resume }),
      })
      const env = agentEnv(driver, options.env, options.pass, invocation.env ?? {})
      const found = findProgram(invocation.file, env['PATH'] ?? '', cwd)
      if (!found) throw notFound(driver)
      const file = driver.native?.(realPath(found), isFile) ?? found
      const watch = watchAttempt(driver, request, options)
      const { code, ended } = await superviseProcess({
        folder,
        file,
        args: invocation.args,
        cwd,
        env,
        stdin: request.prompt,
        files: invocation.files ?? {},
        mark: markOf(sprintDir, request.attempt),
        onOutput: watch.onOutput,
        overdue: watch.overdue,
        signal,
      })
      const outcome = watch.finish({ folder, code, ended })
      return { ...priced(outcome, watch.model(), options.prices), exitCode: code }
    },
  }
}

export const notFound = (driver: Driver): RalphError =>
  new RalphError('AGENT_NOT_FOUND', `agent "${driver.name}": the program "${driver.program}" is not on PATH`, {
    hint: `install it, or choose another one with --agent or "agent:" in SPRINT.yaml`,
  })

/** Reads the output as it comes and keeps the three clocks: silence, length, lingering after the result. */
function watchAttempt(driver: Driver, { timeouts, budget, onEvent }: AgentRequest, options: AgentOptions) {
  const reader = driver.read()
  const started = performance.now()
  let lastSign = started
  let resultAt: number | undefined
  let { model } = options
  let overspent = false
  const openTools = new Set<string>()

  const onLine = (line: string) => {
    for (const event of reader.parse(line)) {
      if (event.kind !== 'raw' || !isPing(event.line)) lastSign = performance.now()
      if (event.kind === 'terminal') resultAt = performance.now()
      if (event.kind === 'session') model = event.model ?? model
      if (event.kind === 'usage') overspent = isOver(budget, event.usage, { model, prices: options.prices })
      noteTool(openTools, event)
      onEvent(event)
    }
  }
  const lines = lineSplitter(onLine)
  return {
    model: () => model,
    onOutput: lines.push,
    overdue: (bytes: number): Ended | undefined => {
      const now = performance.now()
      const patience = openTools.size > 0 ? timeouts.idle * patienceWithTools : timeouts.idle
      if (bytes > outputCapBytes) return 'output-cap'
      if (overspent && resultAt === undefined) return 'budget'
      if (resultAt !== undefined && now - resultAt > timeouts.afterResult) return 'after-result'
      if (now - started > timeouts.attempt) return 'attempt'
      if (resultAt === undefined && now - lastSign > patience) return 'idle'
      return undefined
    },
    finish({ folder, code, ended }: { folder: string; code: number | null; ended: Ended | undefined }): Outcome {
      lines.end()
      const stderrTail = (readTextSyncIfThere(join(folder, files.stderr)) ?? '').slice(-stderrTailCharacters)
      return reader.finish({ code, signal: null, stderrTail, at: Date.now(), ...(ended && { ended }) })
    },
  }
}

/** The provider's own figure, else one by list price, and then it says so. */
function priced(outcome: Outcome, model: string | undefined, prices: AgentOptions['prices']): Outcome {
  const known = { ...outcome, ...(model !== undefined && { model }) }
  if (outcome.costUsd !== undefined) return known
  const costUsd = estimateUsd(model, outcome.usage, prices)
  return costUsd === undefined ? known : { ...known, costUsd, costEstimated: true }
}

/** Money is only known at the end; until then it is estimated by list price, and a model without one has no price. */
function isOver(
  { usd, tokens }: AgentRequest['budget'],
  usage: Usage,
  { model, prices }: Pick<AgentOptions, 'model' | 'prices'>,
): boolean {
  if (tokens !== undefined && usage.inputTokens + usage.outputTokens > tokens) return true
  return usd !== undefined && (estimateUsd(model, usage, prices) ?? 0) > usd
}

/** Lines that only say that the program is still there; one that says so for ever hangs all the same. */
const isPing = (line: string): boolean => /"type"\s*:\s*"(?:ping|keep[-_]?alive|heartbeat)"/.test(line.slice(0, 200))

function noteTool(openTools: Set<string>, event: AgentEvent): void {
  if (event.kind !== 'tool') return
  if (event.phase === 'start') openTools.add(event.id)
  else openTools.delete(event.id)
}

/** The attempt's folder, and the name under transcripts/ that the seeds know it by. */
export async function attemptFolder(sprintDir: string, attempt: string, transcript?: string): Promise<string> {
  await makeFolder(join(sprintDir, 'attempts'))
  if (transcript !== undefined) {
    await makeFolder(join(sprintDir, 'transcripts'))
    await pointTo(join(sprintDir, 'transcripts', transcript), join('..', 'attempts', attempt, files.stdout))
  }
  return join(sprintDir, 'attempts', attempt)
}

/** Unique on this machine: everything that an attempt starts carries it. */
export const markOf = (sprintDir: string, attempt: string): string => `${sprintDir}#${attempt}`
