import { join } from 'node:path'
import { z } from 'zod'
import { Progress } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { isFolder, listFolder } from '../../platform/files.ts'
import { openSprintFolder } from '../../storage/sprint-folder.ts'
import { command } from '../command.ts'
import { shownPath } from '../compile-sprint.ts'
import type { Io } from '../io.ts'
import { clip, humanDuration, oneLine, paintFor } from '../paint.ts'
import { money, questionLines, receiptLine, tokens } from '../receipt.ts'
import { loadProgress } from '../sprint-state.ts'

export const status = command({
  name: 'status',
  summary: 'Show where sprints stand',
  arguments: ['[sprint-dir]'],
  options: { json: { type: 'boolean', description: 'print the whole progress as JSON' } },
  details: 'Without a folder: all sprints of this project.',
  examples: ['ralph status', 'ralph status .claude/sprints/2026-11-15_auth --json'],
  async run({ values, positionals: [given] }, io) {
    const found = given === undefined ? await allSprints(io) : [openSprintFolder(given)]
    const sprints = await Promise.all(found.map(async (dir) => ({ dir, progress: await loadProgress(dir) })))
    if (values.json === true) {
      const encoded = sprints.map(({ dir, progress }) => ({
        folder: shownPath(dir, io),
        progress: progress ? z.encode(Progress, progress) : null,
      }))
      io.print(JSON.stringify(given === undefined ? encoded : encoded[0]))
      return 0
    }
    if (sprints.length === 0) io.print('no sprint here yet; make one with: ralph init, or ralph run --goal "…"')
    for (const { dir, progress } of sprints) {
      if (!progress) io.print(`${shownPath(dir, io)}  not compiled`)
      else if (given === undefined) io.print(overviewLine(progress, shownPath(dir, io), io))
      else for (const line of detailLines(progress, io)) io.print(line)
    }
    return 0
  },
})

async function allSprints(io: Io): Promise<string[]> {
  const folder = join(io.cwd, '.claude', 'sprints')
  const names = await listFolder(folder)
  return names
    .toSorted()
    .map((name) => join(folder, name))
    .filter((dir) => isFolder(dir))
}

function overviewLine({ status: state, stats, goal }: Progress, folder: string, io: Io): string {
  const counts = `iteration ${stats.currentIteration}, ${stats.completedSteps}/${stats.totalSteps} steps`
  return `${folder}  ${paintFor(io.color).bold(state)}  ${counts}  ${clip(oneLine(goal), 60)}`
}

export function detailLines(progress: Progress, io: Io): string[] {
  const paint = paintFor(io.color)
  const { stats, live, dynamicSteps, iterations, humanNeeded, parked, reason } = progress
  const width = io.columns()
  const [question = '', ...more] = humanNeeded ? questionLines(humanNeeded) : []
  const limit = stats.maxIterations < 1_000_000 ? `/${stats.maxIterations}` : ''
  const mode = live[0] ? ` ${live[0].mode}` : ''
  const marks = { completed: paint.green('✓'), pending: '○' }
  return [
    `${paint.bold(progress.sprintId)}  ${progress.status}${reason ? `: ${oneLine(reason)}` : ''}`,
    clip(oneLine(progress.goal), width),
    `iteration ${stats.currentIteration}${limit}${mode}  ${humanDuration(stats.activeMs)}  ${money(stats)}  ${tokens(stats.usage)}`,
    ...(parked ? [paint.yellow(parkedLine(parked, io))] : []),
    ...(question === '' ? [] : [paint.yellow(question), ...more]),
    ...dynamicSteps
      .slice(-20)
      .map((step) => `  ${marks[step.status]} ${step.id}  ${clip(oneLine(step.prompt), width - 16)}`),
    ...iterations.slice(-5).map((record) => paint.dim(receiptLine(record, width))),
  ]
}

function parkedLine({ until, reason }: NonNullable<Progress['parked']>, io: Io): string {
  const left = until - io.now()
  const when = left > 0 ? `goes on in ${humanDuration(left)}, at ${formatTimestamp(until)}` : 'can go on'
  return `${when}: ${oneLine(reason)}`
}
