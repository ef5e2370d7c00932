import type { Driver } from '../../agents/drivers/driver.ts'
import type { Progress, RunLimits } from '../../contract/progress.ts'
import { keepAwake } from '../../platform/processes/keep-awake.ts'
import type { ProgressStore } from '../../runtime/ports.ts'
import { runSprint } from '../../runtime/run-sprint.ts'
import { writeGitignore, findProject } from '../../storage/state/sprint-folder.ts'
import { openSprintStore, type SprintStore } from '../../storage/sprint/sprint-store.ts'
import { chooseAgents, requireInstalledDriver } from '../agents/choose-agent.ts'
import type { CiOutput } from '../ci/ci-output.ts'
import { printDiagnostics } from '../sprint/compile-sprint.ts'
import { chooseExitCode } from '../io/exit-code.ts'
import type { Io } from '../io/io.ts'
import { attachKeys } from '../live/attach-keys.ts'
import { createLiveView } from '../live/live-view.ts'
import { acceptRequests } from './run-control.ts'
import { resolveRunLocation } from './run-location.ts'
import type { Protection } from '../../agents/cells/protection.ts'
import { resolveProtection } from '../agents/protection.ts'
import { prepareSprint, type PreparedSprint } from '../sprint/prepare-sprint.ts'
import { printEnd, printHead } from '../view/run-report.ts'
import { createSprintRedactor } from '../io/secrets.ts'
import { displayPath } from '../io/display-path.ts'
import { applyFactToProgress } from '../sprint/sprint-state.ts'
import { createJsonView, createPlainView } from '../view/view.ts'
import { watchVersions } from '../agents/version-watch.ts'
import { createRunPorts } from './run-ports.ts'

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
  const { diagnostics, ready } = await prepareSprint(options, io)
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
  const inProject = { ...io, cwd: findProject(sprintDir, io.cwd) }
  const agents = chooseAgents(options.agent === undefined ? asked : [options.agent], inProject)
  const protection = await resolveProtection(sandbox, io)
  // Fail now rather than after the work is done.
  if (review) requireInstalledDriver(review.agent, inProject)
  await writeGitignore(sprintDir)
  const redact = createSprintRedactor(sprintDir, io)
  const opened = await openSprintStore({ sprintDir, fold: applyFactToProgress, now: io.now, redact }, async (known) =>
    known && known.status !== 'not-started' ? known : ready.progress,
  )
  if (!opened) return 1
  const letSleep = options.keepAwake === true ? keepAwake(machineNotes(io)) : undefined
  try {
    const progress = await applyRecompiled(opened, ready, options.json === true, io)
    const ended = await runOpenedSprint(options, { ...opened, ...agents, progress, protection }, io)
    await options.ci?.summarize(ended, displayPath(sprintDir, io))
    return chooseExitCode(ended, options.ci !== undefined)
  } finally {
    letSleep?.()
    await opened.store.close()
  }
}

const machineNotes = (io: Io) => ({ platform: process.platform, path: io.env['PATH'] ?? '', pid: process.pid })

/** Applies a changed SPRINT.yaml before the sprint resumes, and lists the changes. */
async function applyRecompiled(
  opened: { readonly store: SprintStore; readonly progress: Progress },
  ready: PreparedSprint,
  quiet: boolean,
  io: Io,
): Promise<Progress> {
  if (!ready.recompiled) return opened.progress
  const { fact, changes } = ready.recompiled
  const progress = applyFactToProgress(opened.progress, fact)
  await opened.store.save(progress, fact)
  if (!quiet) io.print(`SPRINT.yaml has changed since the last run: ${changes.join('; ')}`)
  return progress
}

type OpenedRun = {
  readonly store: SprintStore
  readonly progress: Progress
  readonly drivers: readonly [Driver, ...Driver[]]
  /** Fallbacks that are not installed. */
  readonly missing: readonly string[]
  readonly tornBytes: number
  readonly protection: Protection
}

async function runOpenedSprint(options: RunOptions, opened: OpenedRun, io: Io): Promise<Progress> {
  const { store, progress: loaded, drivers, protection } = opened
  const { sprintDir } = options
  const project = findProject(sprintDir, io.cwd)
  const { folder, notes, ...found } = await resolveRunLocation(loaded, { ...options, project }, io)
  let progress = loaded
  const current = () => progress
  const isLive = options.json !== true && options.plain !== true && io.isTerminal
  if (options.json !== true && !isLive) printHead(loaded, { driver: drivers[0], found: found.detectedChecks }, io)
  const live = isLive ? createLiveView(io, { progress: current, agent: drivers[0].name, project }) : undefined
  const plain = () => createPlainView(io, { steps: (id) => findStepText(progress, id), project })
  const lines = () => options.ci?.annotated(plain()) ?? plain()
  const view = live ?? (options.json === true ? createJsonView(io) : lines())
  for (const text of startWarnings(opened, io)) view.show({ type: 'note', level: 'warning', text })
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
  const ports = await createRunPorts(
    { sprintDir, project, folder, progress, drivers, model, sandbox, store: keep, observe },
    io,
  )
  if (progress.checkpoint !== false && progress.stats.startedAt === null) await ports.workspace.start()
  const agents = drivers.map(({ name }) => name)
  const runLimits = toRunLimits(options.limits)
  const run = runSprint(loaded, ports, { type: 'started', at: io.now(), runLimits, agents, ...found })
  const stopListening = await acceptRequests({ sprintDir, run, store, view }, io)
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
function startWarnings({ drivers, missing, tornBytes, protection }: OpenedRun, io: Io): string[] {
  const situation = { isRoot: process.getuid?.() === 0, sandboxed: protection.sandbox !== undefined, env: io.env }
  return [
    ...(tornBytes > 0 ? [`the last run was cut off while writing; dropped ${tornBytes} unacknowledged bytes`] : []),
    ...missing.map((name) => `fallback ${name} is not installed; skipping it`),
    ...drivers.flatMap(({ warn }) => warn?.(situation) ?? []),
  ]
}

const findStepText = (progress: Progress, id: string): string | undefined =>
  progress.dynamicSteps.find((step) => step.id === id)?.prompt

function toRunLimits({ iterations, usd, durationMs }: RunOptions['limits']): RunLimits | undefined {
  if (iterations === undefined && usd === undefined && durationMs === undefined) return undefined
  return {
    ...(iterations !== undefined && { iterations }),
    ...(usd !== undefined && { usd }),
    ...(durationMs !== undefined && { durationMs }),
  }
}
