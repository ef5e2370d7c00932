import { formatTimestamp } from '../../contract/time.ts'
import type { IterationRecord } from '../../contract/progress.ts'
import { humanDuration, oneLine } from '../io/paint.ts'
import { money, tokens } from '../view/receipt.ts'
import { agentText, checksText, iterationText } from './receipts.ts'
import type { ReportData } from './report-data.ts'

/** What a pull request can hold without being all report. */
const mostRows = 50
const mostSteps = 100

/** The report for the description of a pull request. */
export function markdownReport({ history: { progress, iterations, steps }, madeAt }: ReportData): string {
  const { stats, status, reason, ralphExit } = progress
  const checks = (progress.doneWhen ?? []).map(({ name, run }) => textOf(name ?? run)).join(', ')
  const isDone = status === 'completed'
  const judged = ralphExit.unchecked === true ? 'unchecked: there was no check' : checks || 'none'
  return [
    `## ${isDone ? '✅' : '⏸'} ${textOf(progress.sprintId)}: ${status}${reason === undefined ? '' : `, ${textOf(reason)}`}`,
    '',
    textOf(progress.goal),
    ...(ralphExit.finalSummary === null ? [] : ['', `**${textOf(ralphExit.finalSummary)}**`]),
    '',
    '| iterations | steps | checks | time at work | cost | tokens |',
    '| --- | --- | --- | --- | --- | --- |',
    rowOf([
      iterationText(progress),
      `${stats.completedSteps} of ${stats.totalSteps}`,
      judged,
      humanDuration(stats.activeMs),
      money(stats),
      tokens(stats.usage),
    ]),
    ...section(`${iterations.length} iterations`, iterationRows(iterations)),
    ...section(`${steps.length} steps`, [
      ...steps
        .slice(-mostSteps)
        .map(({ status: is, prompt }) => `- [${is === 'completed' ? 'x' : ' '}] ${textOf(prompt)}`),
      ...leftOut(steps.length - mostSteps),
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
      .slice(-mostRows)
      .map((record) =>
        rowOf([
          String(record.number),
          record.mode,
          record.verdict,
          textOf(agentText(record)),
          `${money(record)}${record.costEstimated === true ? ' estimated' : ''}`,
          humanDuration(record.endedAt - record.startedAt),
          checksText(record),
          textOf(record.summary ?? ''),
        ]),
      ),
    ...leftOut(iterations.length - mostRows),
  ]
}

const leftOut = (count: number): string[] => (count > 0 ? ['', `${count} earlier ones are left out.`] : [])

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const section = (name: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `<details><summary>${name}</summary>`, '', ...lines, '', '</details>']

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '@': '&#64;',
  '#': '&#35;',
  '://': '&#58;//',
}

/** Somebody else's text on one line: no markup, no table, no link, no mention of people or issues. */
export const textOf = (text: string): string =>
  oneLine(text).replaceAll(/:\/\/|[&<>@#\\`*_{}[\]|!~$]/g, (found) => entities[found] ?? `\\${found}`)
