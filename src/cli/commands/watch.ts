import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { openSprintFolder, findProject } from '../../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { defineCommand } from '../io/command.ts'
import { exitCodes } from '../io/exit-code.ts'
import type { Io } from '../io/io.ts'
import { attachKeys } from '../live/attach-keys.ts'
import { createLiveView, type LiveView } from '../live/live-view.ts'
import { findIterationAgent } from '../sprint/iteration-agent.ts'
import { createRemoteRun, watchSprint } from '../live/watch-sprint.ts'
import { clipLine, toOneLine } from '../../words/text.ts'
import { createPaint } from '../io/paint.ts'
import { printEnd } from '../view/run-report.ts'
import { displayPath } from '../io/display-path.ts'
import { requireProgress } from '../sprint/sprint-state.ts'
import { createJsonView, createPlainView, type RunView } from '../view/view.ts'
import { sprintDetailLines } from './status.ts'

type WatchFlags = { readonly json?: boolean; readonly plain?: boolean }

export const watch = defineCommand({
  name: 'watch',
  summary: 'Watch a sprint that runs in another terminal',
  arguments: ['<sprint-dir>'],
  options: {
    plain: { type: 'boolean', description: 'print plain lines, even on a terminal' },
    json: { type: 'boolean', description: 'print one JSON event per line' },
  },
  details: `Starts with the current attempt and ends when the sprint's process ends, with the exit code of "ralph run".
On a terminal, the keys of "ralph run" work here too. Ctrl-C exits; the sprint continues.
A sprint that is not running is shown once.`,
  examples: ['ralph watch .claude/sprints/2026-11-15_auth', 'ralph watch s --json | jq .type'],
  async run({ values, positionals: [given = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    const progress = await requireProgress(sprintDir, io)
    if (readSprintOwner(sprintDir) === undefined) return showStoppedSprint(progress, sprintDir, values, io)
    return watchRunningSprint({ sprintDir, progress, ...values }, io)
  },
})

function showStoppedSprint(progress: Progress, sprintDir: string, { json }: WatchFlags, io: Io): number {
  const { status, reason } = progress
  if (json === true) {
    createJsonView(io).show({ type: 'note', level: 'info', text: 'this sprint is not running' })
    createJsonView(io).show({ type: 'sprint-rested', status, ...(reason !== undefined && { reason }) })
    return 0
  }
  for (const line of sprintDetailLines(progress, io)) io.print(line)
  const next = status === 'completed' ? '' : `; start it with: ralph run ${displayPath(sprintDir, io)}`
  io.print(`\nthis sprint is not running${next}`)
  return 0
}

type WatchContext = WatchFlags & { readonly sprintDir: string; readonly progress: Progress }

async function watchRunningSprint({ sprintDir, json, plain, ...loaded }: WatchContext, io: Io): Promise<number> {
  let { progress } = loaded
  const current = () => progress
  const clock = settableClock(io)
  const project = findProject(sprintDir, io.cwd)
  const live =
    json !== true && plain !== true && io.isTerminal ? clock.at(progress.stats.updatedAt, openLive) : undefined
  const view = live ?? openPlain()
  const leaving = new AbortController()
  const stopSignals = onExitSignals(() => leaving.abort())
  const stopKeys = live && keysOf(live)
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
      ? reportWatchEnd(progress, sprintDir, json === true, io)
      : reportWatchExit(sprintDir, json === true, io)
  } finally {
    stopKeys?.()
    view.close()
    stopSignals()
  }

  function openLive(): LiveView {
    const agent = findIterationAgent(progress, progress.stats.currentIteration)
    return createLiveView(clock.io, { progress: current, agent, project })
  }
  function openPlain(): RunView {
    if (json === true) return createJsonView(clock.io)
    for (const line of watchHeadLines(progress, io)) io.print(line)
    return createPlainView(clock.io, {
      project,
      steps: (id) => progress.dynamicSteps.find((step) => step.id === id)?.prompt,
    })
  }
  function keysOf(opened: LiveView): () => void {
    const footer = (text: string) => opened.footer(watcherHelp(text))
    const run = createRemoteRun(sprintDir, footer, io.now)
    return attachKeys({ view: { ...opened, footer }, run, sprintDir, progress: current }, io)
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

/** Ctrl-C only ends the watcher. This comes first because the end of the line may be cut off. */
export function watcherHelp(text: string): string {
  const [keys, ofRun] = text.split(' · Ctrl-C ')
  return ofRun === undefined ? text : `Ctrl-C exits, the sprint continues · ${keys}`
}

function watchHeadLines({ sprintId, goal, status, stats }: Progress, io: Io): string[] {
  const paint = createPaint(io.color)
  return [
    `${paint.bold('ralph')}  ${sprintId}  ${status}, iteration ${stats.currentIteration}`,
    `${paint.dim('goal')}   ${clipLine(toOneLine(goal), io.columns() - 8)}`,
  ]
}

function reportWatchEnd(progress: Progress, sprintDir: string, json: boolean, io: Io): number {
  const { status } = progress
  const text = 'the process that ran the sprint is gone and did not finish it'
  const isCut = status === 'in-progress' || status === 'parked'
  const note: SprintEvent = { type: 'note', level: 'warning', text }
  if (json && isCut) createJsonView(io).show(note)
  if (!json && isCut) io.print(createPaint(io.color).yellow(`! ${text}`))
  if (!json) printEnd(progress, sprintDir, io)
  return exitCodes[status]
}

function reportWatchExit(sprintDir: string, json: boolean, io: Io): number {
  if (!json) io.print(`\nthe sprint continues; watch it again with: ralph watch ${displayPath(sprintDir, io)}`)
  return 0
}

function onExitSignals(leave: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, leave)
  return () => {
    for (const name of signals) process.off(name, leave)
  }
}
