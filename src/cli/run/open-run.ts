import { join } from 'node:path'
import type { Protection } from '../../agents/cells/protection.ts'
import type { Driver } from '../../agents/drivers/driver.ts'
import type { SprintEvent } from '../../contract/events.ts'
import type { Progress, RunLimits } from '../../contract/progress.ts'
import { createPorts, openMachineLimits } from '../../host/create-ports.ts'
import { openSprint, type OpenedSprint } from '../../host/open-sprint.ts'
import { openSprintEvents, type SprintEvents } from '../../host/sprint-events.ts'
import { limitConcurrency } from '../../runtime/limit-concurrency.ts'
import { runSprint, type SprintRun } from '../../runtime/run-sprint.ts'
import { createHousekeeping, type Housekeeping } from '../../storage/sprint/prune-sprint.ts'
import type { SprintStore } from '../../storage/sprint/sprint-store.ts'
import { findProject } from '../../storage/state/sprint-folder.ts'
import { lockWorkTree } from '../../storage/state/work-tree-lock.ts'
import type { FileLock } from '../../platform/files/file-lock.ts'
import { chooseAgents, requireInstalledDriver } from '../agents/choose-agent.ts'
import { resolveProtection } from '../agents/protection.ts'
import type { Io } from '../io/io.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { ralphHome } from '../../platform/ralph-home.ts'
import { createSprintRedactor } from '../io/secrets.ts'
import { importLines } from '../sprint/import-lines.ts'
import type { SprintPlan } from '../sprint/compile-plan.ts'
import { confirmMove, requireAcceptedChanges } from './accept-changes.ts'
import { createNotifier } from './notifier.ts'
import { acceptTestEdits } from './accept-edits.ts'
import { createRunKeeper, createRunProver } from './run-prover.ts'
import { sprintName } from '../sprint/find-sprint.ts'
import { readGitNotice } from './git-notice.ts'
import { traceRun, type TracedRun } from './trace-run.ts'
import { askAboutLargeFiles } from './large-files.ts'
import { resolveRunLocation, type RunLocation } from './run-location.ts'
import { resumeAfterSignIn } from './sign-in.ts'

/** Maximum number of hooks at once. */
const hookSlots = 4

export type RunChoices = {
  readonly sprintDir: string
  readonly limits: { readonly [K in keyof RunLimits]: RunLimits[K] | undefined }
  readonly agent?: string
  readonly model?: string
  readonly json?: boolean
  readonly proof?: 'required' | 'optional' | undefined
  /** The user has moved the sprint's folder. */
  readonly rebind?: boolean
  readonly 'accept-changes'?: boolean
}

type Notice = { readonly level: 'info' | 'warning'; readonly text: string }

/** A sprint that is ready to run. It belongs to this process until closed. */
export interface OpenedRun {
  readonly sprintDir: string
  readonly project: string
  readonly store: SprintStore
  /** The state at the start; `store.current()` is the state now. */
  readonly progress: Progress
  /** First choice, then fallbacks; all of them are installed. */
  readonly drivers: readonly [Driver, ...Driver[]]
  readonly detectedChecks: Progress['doneWhen']
  /** Limits of the command line. */
  readonly runLimits: RunLimits | undefined
  /** What SPRINT.yaml has changed since the last run. */
  readonly changes: readonly string[]
  /** A user has set `status: paused` in PROGRESS.yaml since the last run, so nothing may start. */
  readonly isPausedByEdit: boolean
  /** What the user should know before the start. */
  readonly notices: readonly Notice[]
  readonly start: (observe: (event: SprintEvent) => void) => Promise<SprintRun>
  /** Releases the sprint and its files for other processes. */
  readonly close: () => Promise<void>
}

/** Opens a sprint and resolves everything its run needs, without a terminal. Close it in the end. */
export async function openRun(choices: RunChoices, plan: SprintPlan, io: Io): Promise<OpenedRun> {
  const { sprintDir } = choices
  const project = findProject(sprintDir, io.cwd)
  const inProject = { ...io, cwd: project }
  const { agent, review } = plan.configured
  const agents = chooseAgents(choices.agent === undefined ? agent : [choices.agent], inProject)
  const protection = await resolveProtection(plan.configured, io)
  // Fail now rather than after the work is done.
  if (review) requireInstalledDriver(review.agent, inProject)
  const redact = createSprintRedactor(sprintDir, io)
  // Read while the sprint opens.
  const gitNotice = readGitNotice(project)
  const openedSprint = await openSprint({
    sprintDir,
    compiled: plan.compiled,
    now: io.now,
    redact,
    confirmMove: async (from) => choices.rebind === true || confirmMove(from, io),
    acceptChanges: (changes) => requireAcceptedChanges(changes, choices, io),
  })
  let lock: FileLock | undefined
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    lock?.release()
    await openedSprint.store.close()
  }
  try {
    const opened = { ...openedSprint, progress: await resumeAfterSignIn(openedSprint, plan.configured, io) }
    const location = await resolveRunLocation(opened.progress, { ...choices, project }, io)
    const isFinished = opened.progress.status === 'completed'
    lock = isFinished ? undefined : await lockWorkTree(location.folder, await sprintName(sprintDir, io))
    if (opened.progress.checkpoint !== false && isFirstRun(opened.progress) && choices.json !== true) {
      await askAboutLargeFiles({ project: location.folder, sprintDir, sprintId: opened.progress.sprintId }, io)
    }
    const parts = { opened, project, location, protection, ...agents }
    return {
      sprintDir,
      project,
      store: opened.store,
      progress: opened.progress,
      drivers: agents.drivers,
      detectedChecks: location.detectedChecks,
      runLimits: toRunLimits(choices.limits),
      changes: opened.changes,
      isPausedByEdit: opened.edited.edits.some(({ kind }) => kind === 'pause'),
      notices: startNotices(parts, await gitNotice, io),
      start: (observe) => startRun(choices, parts, observe, io),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

type RunParts = {
  readonly opened: OpenedSprint
  readonly project: string
  readonly location: RunLocation
  readonly protection: Protection
  readonly drivers: readonly [Driver, ...Driver[]]
  /** Fallbacks that are not installed. */
  readonly missing: readonly string[]
}

async function startRun(
  choices: RunChoices,
  { opened, project, location, protection, drivers }: RunParts,
  observe: (event: SprintEvent) => void,
  io: Io,
): Promise<SprintRun> {
  const { store } = opened
  const { folder, worktree, choice, detectedChecks } = location
  const state = join(stateFolder(choices.sprintDir), 'proof')
  const wire = { sprintDir: choices.sprintDir, state, hidden: [], folder, sandbox: protection.sandbox }
  const createKeeper = (current: Progress) =>
    createRunKeeper({ ...wire, progress: current, redact: (text) => text }, io)
  const keeper = createKeeper(opened.progress)
  const isAccepting = choices['accept-changes'] === true || opened.changes.length > 0
  const progress =
    keeper && isAccepting
      ? await acceptTestEdits(opened.progress, { store, keeper, observe, now: io.now })
      : opened.progress
  await keeper?.forgetRest()
  const events = await openSprintEvents({ sprintDir: choices.sprintDir, store, now: io.now })
  const housekeeping = createHousekeeping({
    project: folder,
    sprintDir: choices.sprintDir,
    sprintId: progress.sprintId,
    now: io.now,
  })
  const traced = await traceRun({ sprintDir: choices.sprintDir, name: progress.sprintId, onNote: observe }, io)
  const ports = await createPorts({
    sprintDir: choices.sprintDir,
    sprintId: progress.sprintId,
    project,
    folder,
    progress,
    env: io.env,
    sandbox: protection.sandbox,
    store,
    limits: openMachineLimits(ralphHome(io), io.env),
    hookSlots: limitConcurrency(hookSlots),
    createNotify: (shell) => createNotifier(shell, io),
    createProver: (redact) => createRunProver({ ...wire, progress, redact }, io),
    chooseAgent: createAgentChoice(drivers, choices.model ?? progress.model, { ...io, cwd: project }),
    observe: (event) => {
      events.record(event)
      if (event.type === 'iteration-ended') housekeeping.onIterationEnd(store.current())
      traced?.observe(event)
      observe(event)
    },
    drained: events.drained,
    traceparent: traced?.traceparent,
  })
  if (progress.checkpoint !== false && isFirstRun(progress)) await ports.workspace.start()
  const agents = drivers.map(({ name }) => name)
  const runLimits = toRunLimits(choices.limits)
  const first = { type: 'started' as const, at: io.now(), runLimits, agents, worktree, choice, detectedChecks }
  const run = runSprint(progress, ports, first)
  const rememberRest = (ended: Progress) =>
    ended.status === 'completed' ? undefined : createKeeper(ended)?.rememberRest()
  return { ...run, done: closeAfter(run.done, events, { housekeeping, traced, rememberRest }) }
}

type RunClosing = {
  readonly housekeeping: Housekeeping
  readonly traced: TracedRun | undefined
  readonly rememberRest: (ended: Progress) => Promise<void> | undefined
}

async function closeAfter(
  done: Promise<Progress>,
  events: SprintEvents,
  { housekeeping, traced, rememberRest }: RunClosing,
): Promise<Progress> {
  try {
    const progress = await done
    // Without it the tests of the start count: a full disk must not fail a run that has ended.
    await rememberRest(progress)?.catch(() => {})
    await housekeeping.finish(progress)
    return progress
  } finally {
    await events.close()
    await traced?.close()
  }
}

/** Another program may have started the sprint. */
const isFirstRun = ({ stats, iterations, live }: Progress): boolean =>
  stats.startedAt === null || (iterations.length === 0 && live.length === 0)

/** The model of the run is that of its first agent; other agents use what the order names. */
const createAgentChoice =
  (drivers: readonly [Driver, ...Driver[]], runModel: string | undefined, io: Io) =>
  (name: string | undefined, model: string | undefined) => {
    const [first] = drivers
    if (name === undefined || name === first.name) return { driver: first, model: model ?? runModel }
    return { driver: drivers.find((driver) => driver.name === name) ?? requireInstalledDriver(name, io), model }
  }

function startNotices(
  { opened, drivers, missing, protection, location }: RunParts,
  gitNotice: string | undefined,
  io: Io,
): Notice[] {
  const { tornBytes } = opened
  const situation = { isRoot: process.getuid?.() === 0, sandboxed: protection.sandbox !== undefined, env: io.env }
  const { edits, refused } = opened.edited
  const warnings = [
    ...refused.map((reason) => `not applied from PROGRESS.yaml: ${reason}`),
    ...(tornBytes > 0 ? [`the last run was cut off while writing; dropped ${tornBytes} unacknowledged bytes`] : []),
    ...missing.map((name) => `fallback ${name} is not installed; skipping it`),
    ...drivers.flatMap(({ warn }) => warn?.(situation) ?? []),
  ]
  const imports = opened.imported ? importLines(opened.imported, io) : []
  const applied = edits.map(({ kind }) => `applied from PROGRESS.yaml: ${kind}`)
  return [
    ...[...imports, ...applied].map((text) => ({ level: 'info' as const, text: text.trim() })),
    ...warnings.map((text) => ({ level: 'warning' as const, text })),
    ...(gitNotice === undefined || opened.progress.checkpoint === false
      ? []
      : [{ level: 'info' as const, text: gitNotice }]),
    { level: 'info', text: `sandbox: ${protection.text}` },
    ...location.notes,
  ]
}

function toRunLimits({ iterations, usd, durationMs }: RunChoices['limits']): RunLimits | undefined {
  if (iterations === undefined && usd === undefined && durationMs === undefined) return undefined
  return {
    ...(iterations !== undefined && { iterations }),
    ...(usd !== undefined && { usd }),
    ...(durationMs !== undefined && { durationMs }),
  }
}
