import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { keepAwake } from '../../platform/processes/keep-awake.ts'
import { watchVersions } from '../agents/version-watch.ts'
import type { CiOutput } from '../ci/ci-output.ts'
import { displayPath } from '../io/display-path.ts'
import { chooseExitCode, exitCodes } from '../io/exit-code.ts'
import type { Io } from '../io/io.ts'
import { attachKeys } from '../live/attach-keys.ts'
import { createRepositoryWatch } from '../live/repository-facts.ts'
import { createLiveView } from '../live/live-view.ts'
import { sprintPath } from '../../storage/state/sprint-folder.ts'
import { compilePlan, type SprintPlan } from '../sprint/compile-plan.ts'
import { sprintName } from '../sprint/find-sprint.ts'
import { isPlaceholderGoal } from '../sprint/sprint-files.ts'
import { printDiagnostics } from '../sprint/compile-sprint.ts'
import { hasPauseFile } from '../../storage/state/sprint-folder.ts'
import { printEnd, printHead } from '../view/run-report.ts'
import { createJsonView, createPlainView, type RunView } from '../view/view.ts'
import { askQuestion } from './ask-question.ts'
import { openRun, type OpenedRun, type RunChoices } from './open-run.ts'
import { findUnmergedBranch, recheckLines, recheckSprint, unmergedLines } from './recheck.ts'
import { acceptRequests, handleStopSignals } from './run-control.ts'

export type RunOptions = RunChoices & {
  readonly workflows?: string
  readonly json?: boolean
  readonly plain?: boolean
  readonly ci?: CiOutput | undefined
  readonly keepAwake?: boolean
}

/** Runs a sprint for a user or a program, and reports the result as the exit code. */
export async function runInTerminal(options: RunOptions, io: Io): Promise<number> {
  const { diagnostics, plan } = await compilePlan(options, io)
  if (options.json !== true) {
    printDiagnostics(diagnostics, io)
    options.ci?.showDiagnostics(diagnostics)
  } else if (diagnostics.length > 0) io.printError(JSON.stringify({ valid: plan !== undefined, diagnostics }))
  if (!plan) return 1
  refusePlaceholder(plan, options.sprintDir, io)
  if (hasPauseFile(options.sprintDir))
    return refusePaused('is paused: remove the file PAUSE in it, then run it again', options, io)
  const opened = await openRun(options, plan, io)
  const letSleep = options.keepAwake === true ? keepAwake(describeMachine(opened.project, io)) : undefined
  try {
    if (opened.isPausedByEdit)
      return refusePaused('was paused in PROGRESS.yaml; run it again to resume it', options, io)
    if (opened.progress.status === 'completed') return await showFinished(opened, options, io)
    const ended = await showRun(opened, options, io)
    if (ended.humanNeeded && options.json !== true && options.plain !== true) {
      // Another terminal may answer too, so this process does not keep the sprint while it asks.
      await opened.close()
      const sprint = { sprintDir: options.sprintDir, name: await sprintName(options.sprintDir, io) }
      if ((await askQuestion(ended, sprint, io)) === 'answered') return await runInTerminal(options, io)
    }
    await options.ci?.summarize(ended, displayPath(options.sprintDir, io))
    return chooseExitCode(ended, options.ci !== undefined)
  } finally {
    letSleep?.()
    await opened.close()
  }
}

function refusePlaceholder({ configured }: SprintPlan, sprintDir: string, io: Io): void {
  if (!isPlaceholderGoal(configured.goal)) return
  throw new RalphError('RALPH_MISSING_GOAL', 'the goal is still the placeholder', {
    place: { file: displayPath(sprintPath(sprintDir), io) },
    hint: 'replace it by what the agent should achieve',
  })
}

/** Finishes hooks that an earlier run left, then runs the checks again on the files as they are now. */
async function showFinished(opened: OpenedRun, options: RunOptions, io: Io): Promise<number> {
  const { sprintDir } = opened
  const view = createLineView(opened, options, io)
  const progress = await (await opened.start(view.show)).done
  await opened.store.flush()
  const sprint = { sprintDir, name: await sprintName(sprintDir, io), progress }
  const branch = await findUnmergedBranch(sprint, io)
  const results = branch === undefined ? await recheckSprint(sprint, view, io) : []
  view.close()
  const lines = branch === undefined ? recheckLines(sprint, results, io) : unmergedLines(sprint, branch, io)
  if (options.json !== true) for (const line of lines) io.print(line)
  await options.ci?.summarize(progress, displayPath(sprintDir, io))
  return results.every(({ passed }) => passed) ? chooseExitCode(progress, options.ci !== undefined) : 1
}

/** Nothing starts, and nothing is paid. */
function refusePaused(why: string, { sprintDir, json }: RunOptions, io: Io): number {
  const text = `${displayPath(sprintDir, io)} ${why}`
  if (json === true) io.print(JSON.stringify({ type: 'note', level: 'warning', text }))
  else io.printError(text)
  return exitCodes.paused
}

const describeMachine = (project: string, io: Io) => ({
  platform: process.platform,
  path: io.env['PATH'] ?? '',
  project,
  pid: process.pid,
})

const leaveHint = 'to leave: p pauses after this iteration, s stops; "ralph run --detach" runs without a terminal'

/** Shows the run from its plan to its result. */
async function showRun(opened: OpenedRun, options: RunOptions, io: Io): Promise<Progress> {
  const { sprintDir, store, progress, drivers, changes } = opened
  const isLive = options.json !== true && options.plain !== true && io.canRedraw
  if (options.json !== true && changes.length > 0)
    io.print(`the plan has changed since the start: ${changes.join('; ')}`)
  if (options.json !== true && !isLive)
    printHead(progress, { driver: drivers[0], found: opened.detectedChecks, runLimits: opened.runLimits }, io)
  const { project } = opened
  const live = isLive
    ? createLiveView(io, {
        progress: store.current,
        agent: drivers[0].name,
        project,
        repository: createRepositoryWatch(sprintDir, store.current, io),
      })
    : undefined
  const view = live ?? createLineView(opened, options, io)
  for (const notice of opened.notices) view.show({ type: 'note', ...notice })
  const versions = watchVersions(drivers, view.show, io)
  const run = await opened.start(versions.observe)
  const stopSignals = handleStopSignals({ run, view }, io)
  const stopListening = await acceptRequests({ sprintDir, run, store, view }, io)
  const stopKeys =
    live && attachKeys({ view: live, run, sprintDir, progress: store.current, leave: () => live.footer(leaveHint) }, io)
  const ended = await run.done.finally(() => {
    stopSignals()
    stopListening()
    versions.stop()
    stopKeys?.()
    view.close()
  })
  await store.flush()
  if (options.json !== true) printEnd(ended, { sprintDir, name: await sprintName(sprintDir, io) }, io)
  return ended
}

function createLineView({ store, project }: OpenedRun, { json, ci }: RunOptions, io: Io): RunView {
  if (json === true) return createJsonView(io)
  const steps = (id: string) => store.current().dynamicSteps.find((step) => step.id === id)?.prompt
  const plain = createPlainView(io, { steps, project })
  return ci?.annotated(plain) ?? plain
}
