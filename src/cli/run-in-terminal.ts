import { join } from 'node:path'
import type { Driver } from '../agents/driver.ts'
import { superviseShell } from '../agents/shell.ts'
import { superviseAgent } from '../agents/supervisor.ts'
import type { Progress, RunLimits } from '../contract/progress.ts'
import { systemClock } from '../platform/clock.ts'
import { readTextSyncIfThere } from '../platform/files.ts'
import { detectChecks } from '../runtime/detect-checks.ts'
import type { Ports } from '../runtime/ports.ts'
import { runSprint, type SprintRun } from '../runtime/run-sprint.ts'
import { hideState, projectOf } from '../storage/sprint-folder.ts'
import { openSprintStore, type SprintStore } from '../storage/sprint-store.ts'
import { chooseAgent } from './choose-agent.ts'
import { compileSprint, printDiagnostics } from './compile-sprint.ts'
import { exitCodes } from './exit-code.ts'
import type { Io } from './io.ts'
import { printEnd, printHead } from './run-report.ts'
import { fold, loadProgress } from './sprint-state.ts'
import { jsonView, plainView, type View } from './view.ts'

export type RunOptions = {
  readonly sprintDir: string
  readonly limits: { readonly [K in keyof RunLimits]: RunLimits[K] | undefined }
  readonly agent?: string
  readonly model?: string
  readonly workflows?: string
  readonly json?: boolean
  readonly plain?: boolean
}

/** Runs a sprint in front of a person or a program, and says how it ended by the exit code. */
export async function runInTerminal(options: RunOptions, io: Io): Promise<number> {
  const { sprintDir } = options
  const ready = await loadSprint(options, io)
  if (!ready) return 1
  const driver = chooseAgent(options.agent ?? ready.agent?.[0], io)
  await hideState(sprintDir)
  const opened = await openSprintStore({ sprintDir, fold, now: io.now }, async (known) =>
    hasRun(known) ? known : ready,
  )
  if (!opened) return 1
  try {
    const ended = await runOpened(options, { ...opened, driver }, io)
    return exitCodes[ended.status]
  } finally {
    await opened.store.close()
  }
}

/** The progress of a sprint that has run, else SPRINT.yaml compiled; undefined if it has errors. */
async function loadSprint({ sprintDir, workflows, json }: RunOptions, io: Io): Promise<Progress | undefined> {
  const before = await loadProgress(sprintDir)
  if (hasRun(before)) return before
  const { progress, diagnostics } = await compileSprint(sprintDir, { workflows }, io)
  if (json !== true) printDiagnostics(diagnostics, io)
  else if (diagnostics.length > 0) io.printError(JSON.stringify({ valid: progress !== undefined, diagnostics }))
  return progress
}

const hasRun = (progress: Progress | undefined): progress is Progress =>
  progress !== undefined && progress.status !== 'not-started'

type Opened = {
  readonly store: SprintStore
  readonly progress: Progress
  readonly driver: Driver
  readonly tornBytes: number
}

async function runOpened(
  options: RunOptions,
  { store, progress: loaded, driver, tornBytes }: Opened,
  io: Io,
): Promise<Progress> {
  const { sprintDir } = options
  const project = projectOf(sprintDir, io.cwd)
  const detectedChecks = loaded.doneWhen ? undefined : detectChecks((name) => readTextSyncIfThere(join(project, name)))
  let progress = loaded
  const view = options.json === true ? jsonView(io) : plainView(io, { steps: (id) => stepText(progress, id), project })
  if (options.json !== true) printHead(loaded, { driver, found: detectedChecks }, io)
  warnAboutRoot(driver, view, io)
  if (tornBytes > 0)
    view.show({
      type: 'note',
      level: 'warning',
      text: `the last run was cut off while writing; ${tornBytes} bytes that were never acknowledged are dropped`,
    })
  const place = { sprintDir, cwd: project, env: io.env }
  const ports: Ports = {
    store: {
      async save(next, fact) {
        await store.save(next, fact)
        progress = next
      },
    },
    agent: superviseAgent({ ...place, driver, model: options.model ?? loaded.model, pass: loaded.env?.pass ?? [] }),
    shell: superviseShell(place),
    clock: systemClock,
    random: Math.random,
    observe: view.show,
  }
  const runLimits = givenLimits(options.limits)
  const run = runSprint(loaded, ports, { type: 'started', at: io.now(), runLimits, detectedChecks })
  const stopListening = obeySignals(run, view, io)
  const ended = await run.done.finally(() => {
    stopListening()
    view.close()
  })
  await store.flush()
  if (options.json !== true) printEnd(ended, { sprintDir, project }, io)
  return ended
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

/** The first Ctrl-C pauses after the iteration; a second one, or SIGTERM, ends the attempt now. */
function obeySignals(run: SprintRun, view: View, io: Io): () => void {
  let asked = 0
  const onSignal = (name: NodeJS.Signals) => {
    asked++
    if (name === 'SIGINT' && asked === 1) {
      view.show({ type: 'note', level: 'info', text: 'pausing after this iteration; Ctrl-C again stops now' })
      run.send({ type: 'pause-requested', at: io.now() })
    } else {
      run.send({ type: 'interrupted', at: io.now() })
    }
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, onSignal)
  return () => {
    for (const name of signals) process.off(name, onSignal)
  }
}

/** Claude Code refuses to skip permissions as root unless it is told that it is in a sandbox. */
function warnAboutRoot(driver: Driver, view: View, io: Io): void {
  if (driver.name !== 'claude' || process.getuid?.() !== 0 || io.env['IS_SANDBOX'] === '1') return
  view.show({
    type: 'note',
    level: 'warning',
    text: 'running as root: Claude Code refuses to work unattended unless IS_SANDBOX=1 is set',
  })
}
