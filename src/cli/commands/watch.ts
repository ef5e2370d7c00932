import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { findProject } from '../../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { isCi } from '../ci/ci-output.ts'
import { askYesOrNo } from '../io/confirm.ts'
import { defineCommand } from '../io/command.ts'
import { chooseExitCode, exitCodes } from '../io/exit-code.ts'
import type { Io } from '../io/io.ts'
import { attachKeys } from '../live/attach-keys.ts'
import { createLiveView, type LiveView } from '../live/live-view.ts'
import { askQuestion } from '../run/ask-question.ts'
import { startInBackground } from '../run/start-in-background.ts'
import { findIterationAgent } from '../sprint/iteration-agent.ts'
import { createRepositoryWatch } from '../live/repository-facts.ts'
import { createRemoteRun, watchSprint } from '../live/watch-sprint.ts'
import { clipLine, toShortGoal } from '../../words/text.ts'
import { createPaint } from '../io/paint.ts'
import { printWrapped } from '../io/print-wrapped.ts'
import { printEnd, type NamedSprint } from '../view/run-report.ts'
import { findSprint, type FoundSprint } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'
import { createJsonView, createPlainView, type RunView } from '../view/view.ts'
import { sprintDetailLines } from './status.ts'

type WatchFlags = { readonly json?: boolean; readonly plain?: boolean; readonly ci?: boolean }

export const watch = defineCommand({
  name: 'watch',
  summary: 'Watch a sprint that runs in the background or in another terminal',
  arguments: ['[sprint]'],
  options: {
    plain: { type: 'boolean', description: 'print plain lines, even on a terminal' },
    json: { type: 'boolean', description: 'print one JSON event per line' },
    ci: {
      type: 'boolean',
      description: 'exit with 5 if the goal is reached without proof; automatic in GitHub Actions',
    },
  },
  details: `Starts with the current attempt and ends when the sprint's process ends, with the exit code of "ralph run".
On a terminal, the keys of "ralph run" work here too. Ctrl-C exits with 130; the sprint continues. When the agent has asked a question, you can
answer it here and resume the sprint in the background.
A sprint that is not running is shown once.`,
  examples: ['ralph watch', 'ralph watch auth --json | jq .type'],
  async run({ values, positionals: [sprintArgument] }, io) {
    const sprint = await findSprint(sprintArgument, io, (dir) => readSprintOwner(dir) !== undefined)
    const canAsk = values.json !== true && values.plain !== true
    for (;;) {
      const progress = await requireProgress(sprint.sprintDir, io)
      const exitCode =
        readSprintOwner(sprint.sprintDir) === undefined
          ? showStoppedSprint(progress, sprint.name, values, io)
          : await watchRunningSprint({ ...sprint, progress, ...values }, io)
      if (!canAsk || !(await answerAndResume(sprint, io))) return exitCode
    }
  },
})

/** Asks the open question of a sprint that is not running, and resumes the sprint in the background. True if it runs again. */
async function answerAndResume(sprint: FoundSprint, io: Io): Promise<boolean> {
  if (readSprintOwner(sprint.sprintDir) !== undefined) return false
  const answered = await askQuestion(await requireProgress(sprint.sprintDir, io), sprint, io)
  if (answered === 'later' || (await askYesOrNo('Resume the sprint in the background?', io, 'yes')) !== 'yes')
    return false
  // The terminal where it ran may have resumed it by now.
  if (readSprintOwner(sprint.sprintDir) !== undefined) return true
  const started = await startInBackground(sprint.sprintDir, {}, io)
  if (!started.running) io.printError(started.output.trimEnd())
  return started.running
}

function showStoppedSprint(progress: Progress, name: string, { json, ci }: WatchFlags, io: Io): number {
  const { status, reason } = progress
  const exitCode = chooseExitCode(progress, isCi(ci, io.env))
  if (json === true) {
    createJsonView(io).show({ type: 'note', level: 'info', text: 'this sprint is not running' })
    createJsonView(io).show({ type: 'sprint-rested', status, ...(reason !== undefined && { reason }) })
    return exitCode
  }
  printWrapped(sprintDetailLines(progress, io), io)
  const next = status === 'completed' ? '' : `; start it with: ralph run ${name}`
  printWrapped(['', `this sprint is not running${next}`], io)
  return exitCode
}

type WatchContext = WatchFlags & NamedSprint & { readonly progress: Progress }

async function watchRunningSprint(context: WatchContext, io: Io): Promise<number> {
  const { sprintDir, name, json, plain } = context
  let { progress } = context
  const current = () => progress
  const clock = settableClock(io)
  const project = findProject(sprintDir, io.cwd)
  const live =
    json !== true && plain !== true && io.canRedraw ? clock.at(progress.stats.updatedAt, openLive) : undefined
  const view = live ?? openPlain()
  const leaving = new AbortController()
  const stopSignals = onExitSignals(io, () => leaving.abort())
  const stopKeys = live && bindKeys(live)
  try {
    const watched = await watchSprint({
      sprintDir,
      progress,
      signal: leaving.signal,
      onProgress: (next) => (progress = next),
      show: ({ event, at }) => clock.at(at, () => view.show(event)),
    })
    progress = watched.progress
    stopKeys?.()
    view.close()
    return watched.owner === 'gone'
      ? reportWatchEnd({ ...context, progress }, io)
      : reportWatchExit(name, json === true, io)
  } finally {
    stopKeys?.()
    view.close()
    stopSignals()
  }

  function openLive(): LiveView {
    const agent = findIterationAgent(progress, progress.stats.currentIteration)
    const repository = createRepositoryWatch(sprintDir, current, io)
    return createLiveView(clock.io, { progress: current, agent, project, repository })
  }
  function openPlain(): RunView {
    if (json === true) return createJsonView(clock.io)
    for (const line of watchHeadLines(progress, io)) io.print(line)
    return createPlainView(clock.io, {
      project,
      steps: (id) => progress.dynamicSteps.find((step) => step.id === id)?.prompt,
    })
  }
  function bindKeys(opened: LiveView): () => void {
    const run = createRemoteRun(sprintDir, opened.footer, io.now)
    return attachKeys({ view: opened, run, sprintDir, progress: current, leave: () => leaving.abort() }, io)
  }
}

/** Views take the time from their Io, and watched events may be older than the moment they are read. */
function settableClock(io: Io) {
  let set: number | undefined
  return {
    io: { ...io, now: () => set ?? io.now() },
    at<T>(at: number | undefined, act: () => T): T {
      set = at
      try {
        return act()
      } finally {
        set = undefined
      }
    },
  }
}

function watchHeadLines({ sprintId, goal, status, stats }: Progress, io: Io): string[] {
  const paint = createPaint(io.useColor)
  return [
    `${paint.bold('ralph')}  ${sprintId}  ${status}, iteration ${stats.currentIteration}`,
    `${paint.dim('goal')}   ${clipLine(toShortGoal(goal), io.columns() - 8)}`,
  ]
}

function reportWatchEnd({ progress, json, ci, ...sprint }: WatchContext, io: Io): number {
  const { status } = progress
  const text = 'the process that ran the sprint is gone and did not finish it'
  const isCut = status === 'in-progress' || status === 'parked'
  const note: SprintEvent = { type: 'note', level: 'warning', text }
  if (json === true && isCut) createJsonView(io).show(note)
  if (json !== true && isCut) io.print(createPaint(io.useColor).yellow(`! ${text}`))
  if (json !== true) printEnd(progress, sprint, io)
  return chooseExitCode(progress, isCi(ci, io.env))
}

function reportWatchExit(name: string, json: boolean, io: Io): number {
  if (!json) io.print(`\nthe sprint continues; watch it again with: ralph watch ${name}`)
  return exitCodes.interrupted
}

function onExitSignals({ outputClosed }: Io, leave: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, leave)
  outputClosed.addEventListener('abort', leave)
  if (outputClosed.aborted) leave()
  return () => {
    for (const name of signals) process.off(name, leave)
    outputClosed.removeEventListener('abort', leave)
  }
}
