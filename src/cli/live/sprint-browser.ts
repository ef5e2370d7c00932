import { transcriptPrinter } from '../../words/transcript-lines.ts'
import { errorMessage } from '../../contract/errors.ts'
import type { IterationRecord, Progress, Step } from '../../contract/progress.ts'
import { assertComparable, diffIterations } from '../../storage/git/restore.ts'
import { formatCost } from '../../words/money.ts'
import { clipLine, toOneLine } from '../../words/text.ts'
import { verdictMarks } from '../../words/verdict.ts'
import type { Io } from '../io/io.ts'
import { createPaint } from '../io/paint.ts'
import { createSprintRedactor } from '../io/secrets.ts'
import { listRecordedAttempts, openAttemptReader, readAttemptPrompt } from '../report/attempts.ts'
import { iterationCheckLines, readCheckResults } from '../report/check-results.ts'
import { checksText } from '../../words/receipt-text.ts'
import { createBoundedLines } from '../../words/report/report-data.ts'
import { requireSprintWorkspace } from '../sprint/changes.ts'
import { diffEntries } from './diff-entries.ts'
import type { OverlayContent, OverlayEntry } from './overlay.ts'
import { findIterationAgent } from '../sprint/iteration-agent.ts'

/** What a user can open of a sprint while it runs. */
export interface SprintBrowser {
  readonly root: () => Promise<OverlayContent>
  readonly transcript: () => Promise<OverlayContent>
  readonly diff: () => Promise<OverlayContent>
}

export type BrowserOptions = { readonly sprintDir: string; readonly progress: () => Progress }

/** Keeps the longest transcripts fast to open. */
const maxLines = { head: 500, tail: 4500 }

export function createSprintBrowser({ sprintDir, progress }: BrowserOptions, io: Io): SprintBrowser {
  const sprint = { sprintDir, progress, io }
  return {
    root: async () => ({ kind: 'list', title: progress().sprintId, entries: rootEntries(sprint) }),
    transcript: () => openTranscript(sprint, progress().stats.currentIteration),
    diff: () => openDiff(sprint, { from: 0, to: progress().stats.currentIteration }),
  }
}

type BrowsedSprint = BrowserOptions & { readonly io: Io }

/** The live iteration, earlier ones from the newest on, the whole diff, and the steps. */
function rootEntries(sprint: BrowsedSprint): OverlayEntry[] {
  const { live, iterations, dynamicSteps, stats } = sprint.progress()
  return [
    ...live.map(({ number, mode }) => iterationEntry(sprint, number, `● iteration ${number}  ${mode}`)),
    ...iterations.toReversed().map((record) => iterationEntry(sprint, record.number, recordText(record))),
    { text: 'changes since the start', open: () => openDiff(sprint, { from: 0, to: stats.currentIteration }) },
    ...dynamicSteps.map((step) => ({ text: stepText(step), open: async () => stepContent(step) })),
  ]
}

function recordText(record: IterationRecord): string {
  const { number, mode, verdict, summary = '' } = record
  const parts = [
    `${verdictMarks[verdict].mark} iteration ${number}`,
    mode,
    verdict,
    formatCost(record),
    checksText(record),
  ]
  return `${parts.filter((part) => part !== '').join('  ')}  ${clipLine(toOneLine(summary), 200)}`.trimEnd()
}

const stepText = ({ id, status, prompt }: Step): string =>
  `${status === 'completed' ? '✓' : '○'} ${id}  ${toOneLine(prompt)}`

const stepContent = ({ id, status, prompt }: Step): OverlayContent => ({
  kind: 'text',
  title: `${id}, ${status}`,
  lines: prompt.split('\n'),
})

const iterationEntry = (sprint: BrowsedSprint, number: number, text: string): OverlayEntry => ({
  text,
  open: async () => ({
    kind: 'list',
    title: `iteration ${number}`,
    entries: [
      { text: 'transcript: what the agent said and did', open: () => openTranscript(sprint, number) },
      { text: 'changes', open: () => openDiff(sprint, { from: number - 1, to: number }) },
      { text: 'check output', open: () => openChecks(sprint, number) },
      { text: 'prompt', open: () => openPrompt(sprint, number) },
    ],
  }),
})

async function openTranscript({ sprintDir, progress, io }: BrowsedSprint, number: number): Promise<OverlayContent> {
  const kept = createBoundedLines(maxLines.head, maxLines.tail)
  const attempts = await listRecordedAttempts(sprintDir, number)
  const how = { agent: findIterationAgent(progress(), number), redact: createSprintRedactor(sprintDir, io) }
  for (const attempt of attempts) {
    if (attempts.length > 1) kept.add(`== attempt ${attempt.attempt}`)
    const printer = transcriptPrinter((line) => kept.add(line))
    await (await openAttemptReader(attempt, how, printer.event)).end()
  }
  const lines = kept.lines().flatMap((line) => line.split('\n'))
  return { kind: 'text', title: `transcript of iteration ${number}`, lines: orNone(lines) }
}

type IterationRange = { readonly from: number; readonly to: number }

async function openDiff({ sprintDir, progress, io }: BrowsedSprint, range: IterationRange): Promise<OverlayContent> {
  const title = range.from === 0 ? 'changes since the start' : `changes of iteration ${range.to}`
  const paint = createPaint(io.useColor)
  try {
    const workspace = requireSprintWorkspace(sprintDir, progress(), io)
    await assertComparable(workspace)
    const text = await diffIterations(workspace, range)
    if (text === '') return { kind: 'text', title, lines: orNone([]) }
    return { kind: 'list', title, entries: diffEntries(createSprintRedactor(sprintDir, io)(text), paint) }
  } catch (error) {
    return { kind: 'text', title, lines: [errorMessage(error)] }
  }
}

async function openChecks({ sprintDir, io }: BrowsedSprint, number: number): Promise<OverlayContent> {
  const redact = createSprintRedactor(sprintDir, io)
  const found = await readCheckResults(sprintDir, number)
  const lines = found.flatMap((checks) => iterationCheckLines(checks)).map((line) => redact(line))
  return { kind: 'text', title: `checks of iteration ${number}`, lines: orNone(lines) }
}

async function openPrompt({ sprintDir }: BrowsedSprint, number: number): Promise<OverlayContent> {
  const last = (await listRecordedAttempts(sprintDir, number)).at(-1)
  const text = last && (await readAttemptPrompt(last))
  return { kind: 'text', title: `prompt of iteration ${number}`, lines: orNone(text?.split('\n') ?? []) }
}

const orNone = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? ['nothing yet'] : lines)
