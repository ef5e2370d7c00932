import { join } from 'node:path'
import { superviseShell } from '../agents/shell.ts'
import { superviseAgent } from '../agents/supervisor.ts'
import type { Driver } from '../agents/driver.ts'
import type { Progress, RunLimits } from '../contract/progress.ts'
import { readTextSyncIfThere } from '../platform/files.ts'
import { systemClock } from '../platform/clock.ts'
import { detectChecks } from '../runtime/detect-checks.ts'
import type { Ports } from '../runtime/ports.ts'
import { runSprint, type SprintRun } from '../runtime/run-sprint.ts'
import { progressPath, readProgress, writeProgress } from '../storage/progress-file.ts'
import { hideState, projectOf } from '../storage/sprint-folder.ts'
import { chooseAgent } from './choose-agent.ts'
import { compileSprint, printDiagnostics, shownPath } from './compile-sprint.ts'
import { exitCodes } from './exit-code.ts'
import type { Io } from './io.ts'
import { clip, oneLine, paintFor } from './paint.ts'
import { jsonView, plainView, summaryLines, type View } from './view.ts'

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
  const loaded = await loadSprint(options, io)
  if (!loaded) return 1
  const project = projectOf(sprintDir, io.cwd)
  const driver = chooseAgent(options.agent ?? loaded.agent?.[0], io)
  const found =
    loaded.doneWhen === undefined ? detectChecks((name) => readTextSyncIfThere(join(project, name))) : undefined
  let progress = loaded
  const view = options.json === true ? jsonView(io) : plainView(io, (id) => stepText(progress, id))
  if (options.json !== true) printHead(loaded, { driver, found }, io)
  warnAboutRoot(driver, view, io)
  const ports: Ports = {
    store: {
      async save(next) {
        await writeProgress(sprintDir, next)
        progress = next
      },
    },
    agent: superviseAgent({
      driver,
      sprintDir,
      cwd: project,
      model: options.model ?? loaded.model,
      env: io.env,
      pass: loaded.env?.pass ?? [],
    }),
    shell: superviseShell({ sprintDir, cwd: project, env: io.env }),
    clock: systemClock,
    random: Math.random,
    observe: view.show,
  }
  const run = runSprint(loaded, ports, {
    type: 'started',
    at: io.now(),
    runLimits: givenLimits(options.limits),
    detectedChecks: found,
  })
  const stopListening = obeySignals(run, view, io)
  const ended = await run.done.finally(() => {
    stopListening()
    view.close()
  })
  if (options.json !== true)
    for (const line of summaryLines(ended, placesOf(sprintDir, project, io), io)) io.print(line)
  if (options.json !== true) for (const line of nextSteps(ended, sprintDir, io)) io.print(line)
  return exitCodes[ended.status]
}

/** The progress of a sprint that has run, else SPRINT.yaml compiled. */
async function loadSprint({ sprintDir, workflows }: RunOptions, io: Io): Promise<Progress | undefined> {
  const before = await readProgress(sprintDir)
  if (before && before.status !== 'not-started') return before
  const { progress, diagnostics } = await compileSprint(sprintDir, { workflows }, io)
  printDiagnostics(diagnostics, io)
  if (!progress) return undefined
  await hideState(sprintDir)
  await writeProgress(sprintDir, progress)
  return progress
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

function printHead(
  progress: Progress,
  { driver, found }: { driver: Driver; found: Progress['doneWhen'] },
  io: Io,
): void {
  const paint = paintFor(io.color)
  const checks = progress.doneWhen ?? found ?? []
  const names = checks.map(({ name, run }) => (name === undefined ? run : `${name} (${run})`)).join(', ')
  const how = progress.doneWhen ? '' : '  detected; "done-when: []" in SPRINT.yaml switches this off'
  const none = 'no check found: goal-complete will be accepted unchecked; name one with "done-when:" in SPRINT.yaml'
  io.print(`${paint.bold('ralph')}  ${progress.sprintId}`)
  io.print(`${paint.dim('goal')}       ${clip(oneLine(progress.goal), io.columns() - 12)}`)
  io.print(`${paint.dim('agent')}      ${driver.name}${progress.model ? ` ${progress.model}` : ''}`)
  io.print(`${paint.dim('done when')}  ${names === '' ? paint.yellow(none) : `${names}${paint.dim(how)}`}`)
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

const placesOf = (sprintDir: string, project: string, io: Io): Record<string, string> => ({
  progress: shownPath(progressPath(sprintDir), io),
  transcripts: shownPath(join(sprintDir, 'transcripts'), io),
  diff: `git -C ${shownPath(project, io)} diff`,
})

function nextSteps({ status, humanNeeded }: Progress, sprintDir: string, io: Io): string[] {
  const folder = shownPath(sprintDir, io)
  if (humanNeeded) return ['', `answer with: ralph answer ${folder} "…"   then: ralph run ${folder}`]
  if (status === 'completed') return []
  return ['', `go on with: ralph run ${folder}`]
}
