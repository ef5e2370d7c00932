import type { StoredEvent } from '../../../contract/fleet/event.ts'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../../contract/progress.ts'
import { createBoundedLines, reportBounds, truncatePatch, type ReportData } from '../../../words/report/report-data.ts'
import { checkOutputLines } from '../../../words/check-output.ts'
import { renderHtmlReport } from '../../../words/report/html-report.ts'
import { transcriptPrinter } from '../../../words/transcript-lines.ts'
import { api } from '../../data/api.ts'
import { readBackendTime } from '../../ui/now.ts'
import { createPatch } from '../changes/patch.ts'
import { fetchNewestEvents } from './download.ts'

/** The report of `ralph report`, from what the API knows of the sprint. */
export async function exportReport(sprint: FleetSprint, all: readonly IterationRecord[]): Promise<string> {
  const { progress } = sprint
  const iterations = all.slice(-reportBounds.iterations)
  const first = iterations[0]?.number ?? 1
  const data: ReportData = {
    history: {
      progress,
      iterations,
      steps: progress.dynamicSteps,
      hookTasks: progress.hookTasks,
      waits: [],
      earlier: first > 1 ? first : undefined,
    },
    madeAt: readBackendTime(),
    diffs: await fetchDiffs(sprint.id, iterations),
    ...(await fetchEvents(sprint.id, iterations)),
  }
  return renderHtmlReport(data)
}

/** Newest first, until the page is full. An unreachable machine has no diffs; the report shows everything else. */
async function fetchDiffs(sprintId: string, iterations: readonly IterationRecord[]): Promise<Map<number, string>> {
  const diffs = new Map<number, string>()
  let room = reportBounds.allDiffs
  for (const { number, checkpoint } of iterations.toReversed()) {
    if (checkpoint === undefined || room <= 0) continue
    const range = { from: number - 1, to: number }
    // oxlint-disable-next-line no-await-in-loop -- the machine answers one after the other anyway
    const diff = await api.diffSprint({ sprintId, ...range }).catch(() => undefined)
    const patch = diff ? createPatch(diff) : ''
    if (patch === '') continue
    const shown = truncatePatch(patch, Math.max(200, Math.min(reportBounds.diff, room)))
    room -= shown.length
    diffs.set(number, shown)
  }
  return diffs
}

async function fetchEvents(
  sprintId: string,
  iterations: readonly IterationRecord[],
): Promise<Pick<ReportData, 'transcripts' | 'checkOutputs'>> {
  const [transcripts, checkOutputs] = [new Map<number, string[]>(), new Map<number, string[]>()]
  let room = reportBounds.allTranscripts
  for (const { number } of iterations.toReversed()) {
    if (room <= 0) {
      transcripts.set(number, [`omitted to keep this page small; see: ralph logs --iteration ${number}`])
      continue
    }
    // oxlint-disable-next-line no-await-in-loop -- until the page is full
    const events = await fetchNewestEvents(sprintId, { iteration: number })
    const lines = printTranscript(events)
    checkOutputs.set(number, printChecks(events))
    room -= lines.reduce((length, line) => length + line.length, 0)
    transcripts.set(number, lines)
  }
  return { transcripts, checkOutputs }
}

function printChecks(events: readonly StoredEvent[]): string[] {
  const kept = createBoundedLines(reportBounds.headLines, reportBounds.tailLines)
  const results = events.flatMap(({ event }) => (event.type === 'check-ended' ? [event.result] : []))
  for (const line of checkOutputLines(results)) kept.add(line)
  return kept.lines()
}

function printTranscript(events: readonly StoredEvent[]): string[] {
  const lines: string[] = []
  let current: { readonly attempt: number; readonly kept: ReturnType<typeof createBoundedLines> } | undefined
  let printer: ReturnType<typeof transcriptPrinter> | undefined
  const flush = (): void => void (current && lines.push(`== attempt ${current.attempt}`, ...current.kept.lines(), ''))
  for (const { event } of events) {
    if (event.type !== 'agent') continue
    if (!current || current.attempt !== event.attempt) {
      flush()
      const kept = createBoundedLines(reportBounds.headLines, reportBounds.tailLines)
      current = { attempt: event.attempt, kept }
      printer = transcriptPrinter((line) => kept.add(line))
    }
    printer?.event(event.event)
  }
  flush()
  return lines
}
