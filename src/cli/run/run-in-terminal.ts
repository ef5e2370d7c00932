import type { Driver } from '../../agents/drivers/driver.ts'
import type { Progress, RunLimits } from '../../contract/progress.ts'
import { keepAwake } from '../../platform/processes/keep-awake.ts'
import type { ProgressStore } from '../../runtime/ports.ts'
import { runSprint } from '../../runtime/run-sprint.ts'
import { hideState, projectOf } from '../../storage/state/sprint-folder.ts'
import { openSprintStore, type SprintStore } from '../../storage/sprint/sprint-store.ts'
import { chooseAgents, driverOf } from '../agents/choose-agent.ts'
import type { CiOutput } from '../ci/ci-output.ts'
import { printDiagnostics } from '../sprint/compile-sprint.ts'
import { exitCodes } from '../io/exit-code.ts'
import type { Io } from '../io/io.ts'
import { attachKeys } from '../live/attach-keys.ts'
import { liveView } from '../live/live-view.ts'
import { listen } from './run-control.ts'
import { placeOf } from './place.ts'
import type { Protection } from '../../agents/cells/protection.ts'
import { protectionFor } from '../agents/protection.ts'
import { readySprint, type Ready } from '../sprint/prepare-sprint.ts'
import { printEnd, printHead } from '../view/run-report.ts'
import { redactFor } from '../io/secrets.ts'
import { shownPath } from '../io/display-path.ts'
import { fold } from '../sprint/sprint-state.ts'
import { jsonView, plainView } from '../view/view.ts'
import { watchVersions } from '../agents/version-watch.ts'
import { wire } from './wiring.ts'

export type RunOptions = {
  readonly sprintDir: string
  readonly limits: { readonly [K in keyof RunLimits]: RunLimits[K] | undefined }
  readonly agent?: string
  readonly model?: string
  readonly workflows?: string
  readonly json?: boolean
  readonly plain?: boolean
  readonly ci?: CiOutput | undefined
  readonly keepAwake?: boolean
}

/** Runs a sprint for a user or a program, and reports the result as the exit code. */
export async function runInTerminal(options: RunOptions, io: Io): Promise<number> {
  const { sprintDir } = options
  const { diagnostics, ready } = await readySprint(options, io)
  if (options.json !== true) {
    printDiagnostics(diagnostics, io)
    options.ci?.showDiagnostics(diagnostics)
  } else if (diagnostics.length > 0) io.printError(JSON.stringify({ valid: ready !== undefined, diagnostics }))
  if (!ready) return 1
  const {
    agent: asked,
    review,
    sandbox,
  } = ready.recompiled?.fact.type === 'recompiled' ? ready.recompiled.fact.compiled : ready.progress
  const inProject = { ...io, cwd: projectOf(sprintDir, io.cwd) }
  const agents = chooseAgents(options.agent === undefined ? asked : [options.agent], inProject)
  const protection = await protectionFor(sandbox, io)
  // Fail now rather than after the work is done.
  if (review) driverOf(review.agent, inProject)
  await hideState(sprintDir)
  const redact = redactFor(sprintDir, io)
  const opened = await openSprintStore({ sprintDir, fold, now: io.now, redact }, async (known) =>
    known && known.status !== 'not-started' ? known : ready.progress,
  )
  if (!opened) return 1
  const letSleep = options.keepAwake === true ? keepAwake(thisMachine(io)) : undefined
  try {
    const progress = await takeOver(opened, ready, options.json === true, io)
    const ended = await runOpened(options, { ...opened, ...agents, progress, protection }, io)
    await options.ci?.summarize(ended, shownPath(sprintDir, io))
    return exitCodes[ended.status]
  } finally {
    letSleep?.()
    await opened.store.close()
  }
}

const thisMachine = (io: Io) => ({ platform: process.platform, path: io.env['PATH'] ?? '', pid: process.pid })

/** Applies a changed SPRINT.yaml before the sprint resumes, and lists the changes. */
async function takeOver(
  opened: { readonly store: SprintStore; readonly progress: Progress },
  ready: Ready,
  quiet: boolean,
  io: Io,
): Promise<Progress> {
  if (!ready.recompiled) return opened.progress
  const { fact, changes } = ready.recompiled
  const progress = fold(opened.progress, fact)
  await opened.store.save(progress, fact)
  if (!quiet) io.print(`SPRINT.yaml has changed since the last run: ${changes.join('; ')}`)
  return progress
}

type Opened = {
  readonly store: SprintStore
  readonly progress: Progress
  readonly drivers: readonly [Driver, ...Driver[]]
  /** Fallbacks that are not installed. */
  readonly missing: readonly string[]
  readonly tornBytes: number
  readonly protection: Protection
}

async function runOpened(options: RunOptions, opened: Opened, io: Io): Promise<Progress> {
  const { store, progress: loaded, drivers, protection } = opened
  const { sprintDir } = options
  const project = projectOf(sprintDir, io.cwd)
  const { folder, notes, ...found } = await placeOf(loaded, { ...options, project }, io)
  let progress = loaded
  const current = () => progress
  const isLive = options.json !== true && options.plain !== true && io.isTerminal
  if (options.json !== true && !isLive) printHead(loaded, { driver: drivers[0], found: found.detectedChecks }, io)
  const live = isLive ? liveView(io, { progress: current, agent: drivers[0].name, project }) : undefined
  const plain = () => plainView(io, { steps: (id) => stepText(progress, id), project })
  const lines = () => options.ci?.annotated(plain()) ?? plain()
  const view = live ?? (options.json === true ? jsonView(io) : lines())
  for (const text of warnings(opened, io)) view.show({ type: 'note', level: 'warning', text })
  view.show({ type: 'note', level: 'info', text: `sandbox: ${protection.text}` })
  for (const note of notes) view.show({ type: 'note', ...note })
  const keep: ProgressStore = {
    async save(next, fact) {
      await store.save(next, fact)
      progress = next
    },
  }
  const model = options.model ?? loaded.model
  const versions = watchVersions(drivers, view.show, io)
  const observe = versions.observe
  const { sandbox } = protection
  const ports = await wire({ sprintDir, project, folder, progress, drivers, model, sandbox, store: keep, observe }, io)
  if (progress.checkpoint !== false && progress.stats.startedAt === null) await ports.workspace.start()
  const agents = drivers.map(({ name }) => name)
  const runLimits = givenLimits(options.limits)
  const run = runSprint(loaded, ports, { type: 'started', at: io.now(), runLimits, agents, ...found })
  const stopListening = await listen({ sprintDir, run, store, view }, io)
  const stopKeys = live && attachKeys({ view: live, run, sprintDir, progress: current }, io)
  const ended = await run.done.finally(() => {
    stopListening()
    versions.stop()
    stopKeys?.()
    view.close()
  })
  await store.flush()
  if (options.json !== true) printEnd(ended, sprintDir, io)
  return ended
}

/** Notices printed before the start. */
function warnings({ drivers, missing, tornBytes, protection }: Opened, io: Io): string[] {
  const situation = { isRoot: process.getuid?.() === 0, sandboxed: protection.sandbox !== undefined, env: io.env }
  return [
    ...(tornBytes > 0 ? [`the last run was cut off while writing; dropped ${tornBytes} unacknowledged bytes`] : []),
    ...missing.map((name) => `fallback ${name} is not installed; skipping it`),
    ...drivers.flatMap(({ warn }) => warn?.(situation) ?? []),
  ]
}

const stepText = (progress: Progress, id: string): string | undefined =>
  progress.dynamicSteps.find((step) => step.id === id)?.prompt

function givenLimits({ iterations, usd, durationMs }: RunOptions['limits']): RunLimits | undefined {
  if (iterations === undefined && usd === undefined && durationMs === undefined) return undefined
  return {
    ...(iterations !== undefined && { iterations }),
    ...(usd !== undefined && { usd }),
    ...(durationMs !== undefined && { durationMs }),
  }
}
