import type { IterationRecord } from '../../contract/progress.ts'
import { summarizeSprint } from '../../contract/sprint-summary.ts'
import { formatHumanDuration } from '../durations.ts'
import { formatCost, formatDollars } from '../money.ts'
import { formatTokens } from '../counts.ts'
import { describeExit } from '../proof-text.ts'
import { renderBarChart } from './charts.ts'
import { renderIterations, renderReceipts, renderStepList } from './html-iterations.ts'
import { html, type HtmlMarkup } from './html.ts'
import { iterationDuration, formatMinute, reportSection, toneClass } from './report-format.ts'
import { statusWords } from '../status.ts'
import { verdictMarks } from '../verdict.ts'
import { iterationText } from '../receipt-text.ts'
import type { ReportData } from './report-data.ts'
import { style } from './style.ts'

/** Renders a self-contained page: no scripts, no fonts, no external images. */
export function renderHtmlReport(data: ReportData): string {
  const { progress } = data.history
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${progress.sprintId}: ${progress.status}</title>
        <style>
          ${style}
        </style>
      </head>
      <body>
        <main>
          ${renderHead(data)} ${renderTimeline(data)} ${renderCharts(data)} ${renderChecksGrid(data)}
          ${renderStepList(data)} ${renderReceipts(data)} ${renderIterations(data)} ${renderEarlier(data)}
          <footer>Made by ralph report, ${formatMinute(data.madeAt)}</footer>
        </main>
      </body>
    </html> `
  return page.html
}

const renderEarlier = ({ history: { earlier } }: ReportData): HtmlMarkup =>
  earlier === undefined ? html`` : html`<p class="dim">Earlier iterations: ralph report --before ${earlier}</p>`

function renderHead({ history: { progress, iterations } }: ReportData): HtmlMarkup {
  const { stats, status, reason, ralphExit, humanNeeded } = progress
  const estimated = iterations.some(({ costEstimated }) => costEstimated) ? ', partly estimated' : ''
  const how = ralphExit.unchecked === true ? undefined : describeExit(progress)
  const facts: readonly (readonly [string, string])[] = [
    ['iterations', iterationText(progress)],
    ['steps', `${stats.completedSteps} of ${stats.totalSteps}`],
    ['working time', formatHumanDuration(stats.activeMs)],
    ['cost', `${formatCost(stats)}${estimated}`],
    ['tokens', formatTokens(stats.usage)],
    ['began', stats.startedAt === null ? 'not yet' : formatMinute(stats.startedAt)],
    ...(how === undefined ? [] : [['proof', how] as const]),
    ['last event', stats.updatedAt === undefined ? 'none' : formatMinute(stats.updatedAt)],
  ]
  const doubt = summarizeSprint(progress).doubt
  const doubtBadge = doubt === undefined ? html`` : html` <span class="badge so-so">${doubt}</span>`
  return html`<header>
    <p class="name">
      <code>${progress.sprintId}</code>
      <span class="badge ${toneClass(statusWords[status].tone)}">${status}</span>${doubtBadge}
    </p>
    ${renderGoal(progress.goal)}
    ${reason === undefined || reason === humanNeeded?.reason ? html`` : html`<p class="box so-so">${reason}</p>`}
    ${ralphExit.finalSummary === null ? html`` : html`<p class="box good">${ralphExit.finalSummary}</p>`}
    ${renderQuestion(progress)}
    <dl>
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </header>`
}

/** The first paragraph is the title if it is short enough; the rest is mostly criteria. */
function renderGoal(goal: string): HtmlMarkup {
  const [first = '', ...rest] = goal.trim().split(/\n\s*\n/)
  if (first.length > 240) return html`<p class="goal">${goal.trim()}</p>`
  return html`<h1>${first}</h1>
    ${rest.length === 0 ? html`` : html`<p class="goal">${rest.join('\n\n')}</p>`}`
}

function renderQuestion({ humanNeeded }: ReportData['history']['progress']): HtmlMarkup {
  if (!humanNeeded) return html``
  const { reason, details, options = [] } = humanNeeded
  return html`<div class="box so-so">
    <p><b>? ${reason}</b></p>
    <p class="goal">${details}</p>
    ${options.map((option) => html`<p>– ${option}</p>`)}
  </div>`
}

/** Cells have equal width, so that a short iteration is as easy to hit as a long one. Waits are between them. */
function renderTimeline({ history: { iterations, waits } }: ReportData): HtmlMarkup {
  if (iterations.length === 0) return html`<p class="dim">No finished iterations yet.</p>`
  const cells = iterations.map((record, index) => {
    const { mark, tone } = verdictMarks[record.verdict]
    const before = iterations[index - 1]?.endedAt ?? 0
    const waited = waits.filter(({ from }) => from >= before && from < record.endedAt)
    const title = `${record.number}: ${record.verdict}, ${formatHumanDuration(iterationDuration(record))}, ${formatCost(record)}`
    return html`${waited.map(
        ({ from, until, reason }) =>
          html`<li class="wait" title="${reason}">wait ${formatHumanDuration(Math.max(0, until - from))}</li>`,
      )}
      <li class="${toneClass(tone)}">
        <a href="#i${record.number}" title="${title}"><b>${mark}</b>${record.number}</a>
      </li>`
  })
  return reportSection(
    'Timeline',
    html`<ol class="strip">
      ${cells}
    </ol>`,
  )
}

const iterationCost = ({ costUsd }: IterationRecord): number => costUsd ?? 0

function renderCharts({ history: { iterations } }: ReportData): HtmlMarkup {
  if (iterations.length === 0) return html``
  const bars = (value: (record: IterationRecord) => number, text: (record: IterationRecord) => string) =>
    iterations.map((record) => ({
      label: String(record.number),
      value: value(record),
      title: `iteration ${record.number}: ${text(record)}`,
      kind: toneClass(verdictMarks[record.verdict].tone),
    }))
  const findHighest = (value: (record: IterationRecord) => number) => Math.max(...iterations.map(value))
  const isFree = findHighest(iterationCost) === 0
  return reportSection(
    isFree ? 'Time' : 'Cost and time',
    html`<div class="charts">
      ${isFree ? html`` : renderBarChart('Cost of each iteration', bars(iterationCost, formatCost), formatDollars(findHighest(iterationCost)))}
      ${renderBarChart(
        'Time of each iteration',
        bars(iterationDuration, (record) => formatHumanDuration(iterationDuration(record))),
        formatHumanDuration(findHighest(iterationDuration)),
      )}
    </div>`,
  )
}

/** A grid of checks by iteration: when each turned green, and whether it stayed green. */
function renderChecksGrid({ history: { iterations, progress } }: ReportData): HtmlMarkup {
  const columns = [
    ...(progress.baseline && progress.baseline.length > 0 ? [{ name: 'before', checks: progress.baseline }] : []),
    ...iterations.flatMap(({ number, checks }) => (checks ? [{ name: String(number), checks }] : [])),
  ]
  const names = [...new Set(columns.flatMap(({ checks }) => checks.map(({ name }) => name)))]
  if (names.length === 0) return reportSection('Checks', html`<p class="dim">No checks were run.</p>`)
  return reportSection(
    'Checks by iteration',
    html`<div class="scroll">
      <table class="grid">
        <thead>
          <tr>
            <td></td>
            ${columns.map(({ name }) => html`<th>${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${names.map(
            (name) =>
              html`<tr>
                <th>${name}</th>
                ${columns.map(({ checks }) => renderCheckCell(name, checks))}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`,
  )
}

type GridChecks = readonly { readonly name: string; readonly passed: boolean }[]

function renderCheckCell(name: string, checks: GridChecks): HtmlMarkup {
  const found = checks.find((check) => check.name === name)
  if (!found) return html`<td></td>`
  return found.passed ? html`<td class="good">✓</td>` : html`<td class="bad">✗</td>`
}
