import type { Progress } from '../../contract/progress.ts'
import { keepAwake } from '../../platform/processes/keep-awake.ts'
import { watchVersions } from '../agents/version-watch.ts'
import type { CiOutput } from '../ci/ci-output.ts'
import { displayPath } from '../io/display-path.ts'
import { chooseExitCode, exitCodes } from '../io/exit-code.ts'
import type { Io } from '../io/io.ts'
import { attachKeys } from '../live/attach-keys.ts'
import { createLiveView } from '../live/live-view.ts'
import { compilePlan } from '../sprint/compile-plan.ts'
import { printDiagnostics } from '../sprint/compile-sprint.ts'
import { hasPauseFile } from '../../storage/state/sprint-folder.ts'
import { printEnd, printHead } from '../view/run-report.ts'
import { createJsonView, createPlainView, type RunView } from '../view/view.ts'
import { openRun, type OpenedRun, type RunChoices } from './open-run.ts'
import { acceptRequests } from './run-control.ts'

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
  if (hasPauseFile(options.sprintDir))
    return refusePaused('is paused: remove the file PAUSE in it, then run it again', options, io)
  const opened = await openRun(options, plan, io)
  const letSleep = options.keepAwake === true ? keepAwake(machineNotes(io)) : undefined
  try {
    if (opened.isPausedByEdit)
      return refusePaused('was paused in PROGRESS.yaml; run it again to resume it', options, io)
    const ended = await showRun(opened, options, io)
    await options.ci?.summarize(ended, displayPath(options.sprintDir, io))
    return chooseExitCode(ended, options.ci !== undefined)
  } finally {
    letSleep?.()
    await opened.store.close()
  }
}

/** Nothing starts, and nothing is paid. */
function refusePaused(why: string, { sprintDir, json }: RunOptions, io: Io): number {
  const text = `${displayPath(sprintDir, io)} ${why}`
  if (json === true) io.print(JSON.stringify({ type: 'note', level: 'warning', text }))
  else io.printError(text)
  return exitCodes.paused
}

const machineNotes = (io: Io) => ({ platform: process.platform, path: io.env['PATH'] ?? '', pid: process.pid })

/** Shows the run from its plan to its result. */
async function showRun(opened: OpenedRun, options: RunOptions, io: Io): Promise<Progress> {
  const { sprintDir, store, progress, drivers, changes } = opened
  const isLive = options.json !== true && options.plain !== true && io.isTerminal
  if (options.json !== true && changes.length > 0)
    io.print(`the plan has changed since the start: ${changes.join('; ')}`)
  if (options.json !== true && !isLive) printHead(progress, { driver: drivers[0], found: opened.detectedChecks }, io)
  const { project } = opened
  const live = isLive ? createLiveView(io, { progress: store.current, agent: drivers[0].name, project }) : undefined
  const view = live ?? createLineView(opened, options, io)
  for (const notice of opened.notices) view.show({ type: 'note', ...notice })
  const versions = watchVersions(drivers, view.show, io)
  const run = await opened.start(versions.observe)
  const stopListening = await acceptRequests({ sprintDir, run, store, view }, io)
  const stopKeys = live && attachKeys({ view: live, run, sprintDir, progress: store.current }, io)
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

function createLineView({ store, project }: OpenedRun, { json, ci }: RunOptions, io: Io): RunView {
  if (json === true) return createJsonView(io)
  const steps = (id: string) => store.current().dynamicSteps.find((step) => step.id === id)?.prompt
  const plain = createPlainView(io, { steps, project })
  return ci?.annotated(plain) ?? plain
}
