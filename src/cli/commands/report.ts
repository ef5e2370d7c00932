import { join, resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Redact } from '../../contract/secrets/redact.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { isFolder, unwritableFile } from '../../platform/files/files.ts'
import { openIterationDiffs } from '../../storage/git/restore.ts'
import { renderHtmlReport } from '../../words/report/html-report.ts'
import {
  createBoundedLines,
  reportBounds,
  truncatePatch,
  type ReportData,
  type SprintHistory,
} from '../../words/report/report-data.ts'
import { transcriptPrinter } from '../../words/transcript-lines.ts'
import { defineCommand, parsePositiveNumber } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { findIterationAgent } from '../sprint/iteration-agent.ts'
import {
  isAttemptRunning,
  listOpenAttempts,
  listRecordedAttempts,
  listRecordedIterations,
  openAttemptReader,
  type RecordedAttempt,
} from '../report/attempts.ts'
import { iterationCheckLines, readCheckResults } from '../report/check-results.ts'
import { renderMarkdownReport } from '../report/markdown-report.ts'
import { readHistory } from '../report/read-history.ts'
import { displayPath } from '../io/display-path.ts'
import { createSprintRedactor } from '../io/secrets.ts'
import { findSprint } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'
import { resolveSprintWorkspace } from '../sprint/changes.ts'

export const report = defineCommand({
  name: 'report',
  summary: 'Write a report of a sprint as one HTML page or as Markdown',
  arguments: ['[sprint]'],
  options: {
    markdown: { type: 'boolean', description: 'write Markdown for a pull request instead of a page' },
    output: {
      type: 'string',
      short: 'o',
      value: 'FILE',
      description: 'file to write, "-" for stdout; default: report.html in the sprint folder, Markdown to stdout',
    },
    before: {
      type: 'string',
      value: 'N',
      description: 'report on the 200 iterations before this one; default: the newest 200',
    },
    json: {
      type: 'boolean',
      description: 'print {format, file} as JSON; includes the text if it is not written to a file',
    },
  },
  details: `The page is self-contained, without scripts or external files: timeline, cost and time, checks by iteration, receipts, steps,
and foldable diffs and transcripts. Long ones are truncated; "ralph diff" and "ralph logs" show all of it. An existing file is replaced.`,
  examples: ['ralph report', 'ralph report auth --markdown | gh pr edit --body-file -'],
  async run({ values, positionals: [sprintArgument] }, io) {
    const { sprintDir } = await findSprint(sprintArgument, io)
    const progress = await requireProgress(sprintDir, io)
    const isMarkdown = values.markdown === true
    const file = resolveReportFile(values.output ?? (isMarkdown ? '-' : join(sprintDir, 'report.html')), io)
    const before = parsePositiveNumber(values.before, '--before')
    const data = await gatherReportData(sprintDir, progress, { isMarkdown, before }, io)
    const text = isMarkdown ? renderMarkdownReport(data) : renderHtmlReport(data)
    if (file !== undefined) await writeReport(file, text)
    const shown = file === undefined ? undefined : displayPath(file, io)
    const format = isMarkdown ? 'markdown' : 'html'
    if (values.json === true) io.print(JSON.stringify({ format, file: shown ?? null, ...(!shown && { text }) }))
    else io.print(shown ?? text.trimEnd())
    return 0
  },
})

/** Undefined: stdout. */
function resolveReportFile(output: string, io: Io): string | undefined {
  if (output === '-') return undefined
  if (output === '') throw new RalphError('USAGE', 'report: --output is empty')
  const file = resolve(io.cwd, output)
  if (!isFolder(file)) return file
  throw new RalphError('USAGE', 'report: --output is a folder', {
    place: { file: output },
    hint: 'name a file in that folder',
  })
}

async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFileAtomic(file, text)
  } catch (error) {
    throw unwritableFile(file, error)
  }
}

async function gatherReportData(
  sprintDir: string,
  progress: Progress,
  { isMarkdown, before }: { readonly isMarkdown: boolean; readonly before: number | undefined },
  io: Io,
): Promise<ReportData> {
  const history = (await readHistory(sprintDir, { size: reportBounds.iterations, before })) ?? {
    progress,
    iterations: progress.iterations,
    steps: progress.dynamicSteps,
    hookTasks: progress.hookTasks,
    waits: [],
  }
  const none = {
    history,
    madeAt: io.now(),
    diffs: new Map<number, string>(),
    transcripts: new Map<number, string[]>(),
    checkOutputs: new Map<number, string[]>(),
  }
  if (isMarkdown) return none
  const redact = createSprintRedactor(sprintDir, io)
  return {
    ...none,
    diffs: await readIterationDiffs(sprintDir, history, io),
    transcripts: await readIterationTranscripts(sprintDir, history, redact),
    checkOutputs: await readCheckOutputs(sprintDir, history, redact),
  }
}

/** Only of iterations with a failed check: what a passing check printed explains nothing. */
async function readCheckOutputs(
  sprintDir: string,
  { iterations }: SprintHistory,
  redact: Redact,
): Promise<Map<number, string[]>> {
  const outputs = new Map<number, string[]>()
  for (const { number, checks = [] } of iterations) {
    if (checks.every(({ passed }) => passed)) continue
    const kept = createBoundedLines(reportBounds.headLines, reportBounds.tailLines)
    const found = await readCheckResults(sprintDir, number)
    for (const line of found.flatMap((each) => iterationCheckLines(each))) kept.add(redact(line))
    outputs.set(number, kept.lines())
  }
  return outputs
}

/** Without git, or without checkpoints, there are no diffs; the report shows everything else. */
async function readIterationDiffs(
  sprintDir: string,
  { progress, iterations }: SprintHistory,
  io: Io,
): Promise<Map<number, string>> {
  const diffs = new Map<number, string>()
  const redact = createSprintRedactor(sprintDir, io)
  const changed = iterations.filter(({ checkpoint }) => checkpoint !== undefined)
  const workspace = resolveSprintWorkspace(sprintDir, progress, io)
  const showDiff = await openIterationDiffs(workspace).catch(() => undefined)
  if (!showDiff) return diffs
  let room = reportBounds.allDiffs
  for (const { number } of changed.toReversed()) {
    const range = { from: number - 1, to: number }
    const diff = redact(await showDiff(range).catch(() => ''))
    if (diff === '') continue
    const shown = truncatePatch(diff, Math.max(200, Math.min(reportBounds.diff, room)))
    room -= shown.length
    diffs.set(number, shown)
  }
  return diffs
}

/** Newest first: when the page is full, older transcripts are only mentioned. */
async function readIterationTranscripts(
  sprintDir: string,
  { progress, iterations }: SprintHistory,
  redact: Redact,
): Promise<Map<number, string[]>> {
  const shown = new Set(iterations.map(({ number }) => number))
  const numbers = (await listRecordedIterations(sprintDir)).filter((number) => shown.has(number)).toReversed()
  const transcripts = new Map<number, string[]>()
  const open = await listOpenAttempts(sprintDir)
  let room = reportBounds.allTranscripts
  for (const number of numbers) {
    if (room <= 0) {
      transcripts.set(number, [`omitted to keep this page small; see: ralph logs --iteration ${number}`])
      continue
    }
    const agent = findIterationAgent({ ...progress, iterations: [...iterations] }, number)
    const lines: string[] = []
    for (const attempt of await listRecordedAttempts(sprintDir, number, open)) {
      lines.push(...(await attemptLogLines(attempt, { agent, redact })), '')
    }
    room -= lines.reduce((length, line) => length + line.length, 0)
    transcripts.set(number, lines)
  }
  return transcripts
}

async function attemptLogLines(
  attempt: RecordedAttempt,
  how: { readonly agent: string; readonly redact: Redact },
): Promise<string[]> {
  const kept = createBoundedLines(reportBounds.headLines, reportBounds.tailLines)
  const printer = transcriptPrinter((line) => kept.add(line))
  const reading = await openAttemptReader(attempt, how, printer.event)
  const isAtWork = isAttemptRunning(attempt)
  const outcome = await reading.end()
  if (!isAtWork) printer.end(outcome)
  return [`== attempt ${attempt.attempt}${attempt.again > 1 ? `, restarted (${attempt.again})` : ''}`, ...kept.lines()]
}
