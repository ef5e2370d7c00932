import { formatTimestamp } from '../../contract/time.ts'
import type { IterationRecord } from '../../contract/progress.ts'
import { formatHumanDuration } from '../../words/durations.ts'
import { escapeReportText } from '../../words/markdown.ts'
import { formatCost } from '../../words/money.ts'
import { formatTokens, pluralize } from '../../words/counts.ts'
import { describeOpenWalls } from '../../words/walls.ts'
import { describeExit } from '../../words/proof-text.ts'
import { agentText, checksText, iterationText } from '../../words/receipt-text.ts'
import type { ReportData } from '../../words/report/report-data.ts'

/** Keeps the report short enough for a pull request. */
const maxRows = 50
const maxSteps = 100

/** The report for the description of a pull request. */
export function renderMarkdownReport({ history, madeAt }: ReportData): string {
  const { progress, iterations, steps, earlier } = history
  const { stats, status, reason, ralphExit } = progress
  const checks = (progress.doneWhen ?? []).map(({ name, run }) => escapeReportText(name ?? run)).join(', ')
  const isDone = status === 'completed'
  const how = describeExit(progress)
  const open = describeOpenWalls(progress.walls)
  const judged = ralphExit.unchecked === true ? 'unchecked: the sprint has no check' : checks || 'none'
  return [
    `## ${isDone ? '✅' : '⏸'} ${escapeReportText(progress.sprintId)}: ${status}${reason === undefined ? '' : `, ${escapeReportText(reason)}`}`,
    '',
    escapeReportText(progress.goal),
    ...(ralphExit.finalSummary === null ? [] : ['', `**${escapeReportText(ralphExit.finalSummary)}**`]),
    ...(how === undefined || ralphExit.unchecked === true ? [] : ['', `Proof: ${escapeReportText(how)}`]),
    ...(open === undefined ? [] : ['', `Walls: ${escapeReportText(open)}`]),
    '',
    '| iterations | steps | checks | working time | cost | tokens |',
    '| --- | --- | --- | --- | --- | --- |',
    tableRow([
      iterationText(progress),
      `${stats.completedSteps} of ${stats.totalSteps}`,
      judged,
      formatHumanDuration(stats.activeMs),
      formatCost(stats),
      formatTokens(stats.usage),
    ]),
    ...markdownSection(pluralize(iterations.length, 'iteration'), iterationRows(iterations)),
    ...(earlier === undefined ? [] : ['', `Earlier iterations: \`ralph report --markdown --before ${earlier}\``]),
    ...markdownSection(pluralize(steps.length, 'step'), [
      ...steps
        .slice(-maxSteps)
        .map(({ status: is, prompt }) => `- [${is === 'completed' ? 'x' : ' '}] ${escapeReportText(prompt)}`),
      ...omittedRow(steps.length - maxSteps),
    ]),
    '',
    `<sub>Made by ralph report, ${formatTimestamp(madeAt)}</sub>`,
    '',
  ].join('\n')
}

function iterationRows(iterations: readonly IterationRecord[]): string[] {
  if (iterations.length === 0) return []
  return [
    '| # | mode | verdict | agent | cost | time | checks | summary |',
    '| ---: | --- | --- | --- | ---: | ---: | --- | --- |',
    ...iterations
      .slice(-maxRows)
      .map((record) =>
        tableRow([
          String(record.number),
          record.mode,
          record.verdict,
          escapeReportText(agentText(record)),
          `${formatCost(record)}${record.costEstimated === true ? ' estimated' : ''}`,
          formatHumanDuration(record.endedAt - record.startedAt),
          checksText(record),
          escapeReportText(record.summary ?? ''),
        ]),
      ),
    ...omittedRow(iterations.length - maxRows),
  ]
}

const omittedRow = (count: number): string[] => (count > 0 ? ['', `${count} earlier iterations are omitted.`] : [])

const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const markdownSection = (name: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `<details><summary>${name}</summary>`, '', ...lines, '', '</details>']
