import { join, resolve } from 'node:path'
import { transcriptPrinter } from '../../agents/transcript/transcript.ts'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Redact } from '../../contract/redact.ts'
import { attemptState } from '../../platform/processes/attempt-folder.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { isFolder, unwritable } from '../../platform/files/files.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { diffOf } from '../../storage/git/workspace.ts'
import { command } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { agentAt } from '../live/watch-events.ts'
import { attemptsOf, openAttempt, type AttemptFolder } from '../report/attempts.ts'
import type { History } from '../report/history.ts'
import { htmlReport } from '../report/html-report.ts'
import { markdownReport } from '../report/markdown-report.ts'
import { readHistory } from '../report/read-history.ts'
import { boundedLines, boundedText, type ReportData } from '../report/report-data.ts'
import { shownPath } from '../io/display-path.ts'
import { redactFor } from '../io/secrets.ts'
import { requireProgress } from '../sprint/sprint-state.ts'
import { workspaceOf } from './diff.ts'

/** So that the page of a sprint of a hundred iterations still opens at once. */
const bounds = {
  diff: 60_000,
  allDiffs: 3_000_000,
  allTranscripts: 6_000_000,
  headLines: 150,
  tailLines: 250,
  iterations: 200,
}

export const report = command({
  name: 'report',
  summary: 'Write what a sprint did as one HTML page, or as Markdown',
  arguments: ['<sprint-dir>'],
  options: {
    markdown: { type: 'boolean', description: 'Markdown for a pull request instead of a page' },
    output: {
      type: 'string',
      short: 'o',
      value: 'FILE',
      description: 'where to write it, "-" for stdout; default: report.html in the sprint folder, Markdown to stdout',
    },
    json: {
      type: 'boolean',
      description: 'print {format, file} as JSON; with the text if it is not written to a file',
    },
  },
  details: `The page needs nothing else, has no scripts and loads nothing: timeline, cost and time, checks by iteration, receipts, steps,
and diffs and transcripts to unfold. Long ones are cut; "ralph diff" and "ralph logs" have the rest. A file that is there is replaced.`,
  examples: ['ralph report .claude/sprints/2026-11-15_auth', 'ralph report s --markdown | gh pr edit --body-file -'],
  async run({ values, positionals: [given = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    const progress = await requireProgress(sprintDir, io)
    const isMarkdown = values.markdown === true
    const file = target(values.output ?? (isMarkdown ? '-' : join(sprintDir, 'report.html')), io)
    const data = await gather(sprintDir, progress, { isMarkdown }, io)
    const text = isMarkdown ? markdownReport(data) : htmlReport(data)
    if (file !== undefined) await write(file, text)
    const shown = file === undefined ? undefined : shownPath(file, io)
    const format = isMarkdown ? 'markdown' : 'html'
    if (values.json === true) io.print(JSON.stringify({ format, file: shown ?? null, ...(!shown && { text }) }))
    else io.print(shown ?? text.trimEnd())
    return 0
  },
})

/** Undefined: stdout. */
function target(output: string, io: Io): string | undefined {
  if (output === '-') return undefined
  if (output === '') throw new RalphError('USAGE', 'report: --output is empty')
  const file = resolve(io.cwd, output)
  if (!isFolder(file)) return file
  throw new RalphError('USAGE', 'report: --output is a folder', { place: { file: output }, hint: 'name a file in it' })
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFileAtomic(file, text)
  } catch (error) {
    throw unwritable(file, error)
  }
}

async function gather(
  sprintDir: string,
  progress: Progress,
  { isMarkdown }: { isMarkdown: boolean },
  io: Io,
): Promise<ReportData> {
  const history = (await readHistory(sprintDir)) ?? {
    progress,
    iterations: progress.iterations,
    steps: progress.dynamicSteps,
    hookTasks: progress.hookTasks,
    waits: [],
  }
  const none = { history, madeAt: io.now(), diffs: new Map<number, string>(), transcripts: new Map<number, string[]>() }
  if (isMarkdown) return none
  const redact = redactFor(sprintDir, io)
  return {
    ...none,
    diffs: await diffsOf(sprintDir, history, io),
    transcripts: await transcriptsOf(sprintDir, history, redact),
  }
}

/** A project without git, or one whose checkpoints are gone, has no diffs; the report has the rest. */
async function diffsOf(sprintDir: string, { progress, iterations }: History, io: Io): Promise<Map<number, string>> {
  const diffs = new Map<number, string>()
  const redact = redactFor(sprintDir, io)
  const changed = iterations.filter(({ checkpoint }) => checkpoint !== undefined).slice(-bounds.iterations)
  let room = bounds.allDiffs
  for (const { number } of changed.toReversed()) {
    const range = { from: number - 1, to: number }
    const diff = redact(await diffOf(workspaceOf(sprintDir, progress, io), range).catch(() => ''))
    if (diff === '') continue
    const shown = boundedText(diff, Math.max(200, Math.min(bounds.diff, room)))
    room -= shown.length
    diffs.set(number, shown)
  }
  return diffs
}

/** The newest first: if there is too much for one page, the oldest are only named. */
async function transcriptsOf(
  sprintDir: string,
  { progress, iterations }: History,
  redact: Redact,
): Promise<Map<number, string[]>> {
  const attempts = await attemptsOf(sprintDir)
  const numbers = [...new Set(attempts.map(({ iteration }) => iteration))].toReversed()
  const transcripts = new Map<number, string[]>()
  let room = bounds.allTranscripts
  for (const [index, number] of numbers.entries()) {
    if (room <= 0 || index >= bounds.iterations) {
      transcripts.set(number, [`left out to keep this page small; see: ralph logs --iteration ${number}`])
      continue
    }
    const agent = agentAt({ ...progress, iterations: [...iterations] }, number)
    const lines: string[] = []
    for (const attempt of attempts.filter(({ iteration }) => iteration === number)) {
      lines.push(...(await linesOf(attempt, { agent, redact })), '')
    }
    room -= lines.reduce((length, line) => length + line.length, 0)
    transcripts.set(number, lines)
  }
  return transcripts
}

async function linesOf(
  attempt: AttemptFolder,
  how: { readonly agent: string; readonly redact: Redact },
): Promise<string[]> {
  const kept = boundedLines(bounds.headLines, bounds.tailLines)
  const printer = transcriptPrinter((line) => kept.add(line))
  const reading = await openAttempt(attempt, how, printer.event)
  const isAtWork = attemptState(attempt.folder) === 'running'
  const outcome = await reading.end()
  if (!isAtWork) printer.end(outcome)
  return [
    `== attempt ${attempt.attempt}${attempt.again > 1 ? `, started again (${attempt.again})` : ''}`,
    ...kept.lines(),
  ]
}
