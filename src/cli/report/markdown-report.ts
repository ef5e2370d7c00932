import { formatTimestamp } from '../../contract/time.ts'
import type { IterationRecord } from '../../contract/progress.ts'
import { humanDuration, oneLine } from '../io/paint.ts'
import { money, tokens } from '../view/receipt.ts'
import { agentText, checksText, iterationText } from './receipts.ts'
import type { ReportData } from './report-data.ts'

/** Keeps the report short enough for a pull request. */
const mostRows = 50
const mostSteps = 100

/** The report for the description of a pull request. */
export function markdownReport({ history: { progress, iterations, steps }, madeAt }: ReportData): string {
  const { stats, status, reason, ralphExit } = progress
  const checks = (progress.doneWhen ?? []).map(({ name, run }) => textOf(name ?? run)).join(', ')
  const isDone = status === 'completed'
  const judged = ralphExit.unchecked === true ? 'unchecked: the sprint has no check' : checks || 'none'
  return [
    `## ${isDone ? '✅' : '⏸'} ${textOf(progress.sprintId)}: ${status}${reason === undefined ? '' : `, ${textOf(reason)}`}`,
    '',
    textOf(progress.goal),
    ...(ralphExit.finalSummary === null ? [] : ['', `**${textOf(ralphExit.finalSummary)}**`]),
    '',
    '| iterations | steps | checks | working time | cost | tokens |',
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

const leftOut = (count: number): string[] => (count > 0 ? ['', `${count} earlier iterations are omitted.`] : [])

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

/** Foreign text on one line: no markup, table, link, or mention of people or issues. */
export const textOf = (text: string): string =>
  oneLine(text).replaceAll(/:\/\/|[&<>@#\\`*_{}[\]|!~$]/g, (found) => entities[found] ?? `\\${found}`)
