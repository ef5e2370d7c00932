import type { IterationRecord } from '../../contract/progress.ts'
import { humanDuration } from '../io/paint.ts'
import { money, tokens } from '../view/receipt.ts'
import { barChart } from './charts.ts'
import { iterationList, receipts, stepList } from './html-iterations.ts'
import { html, type Html } from './html.ts'
import { lengthOf, marks, moment, section } from './look.ts'
import { iterationText } from './receipts.ts'
import type { ReportData } from './report-data.ts'
import { style } from './style.ts'

/** Renders a self-contained page: no scripts, no fonts, no external images. */
export function htmlReport(data: ReportData): string {
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
          ${headOf(data)} ${timeline(data)} ${charts(data)} ${checksGrid(data)} ${stepList(data)} ${receipts(data)}
          ${iterationList(data)}
          <footer>Made by ralph report, ${moment(data.madeAt)}</footer>
        </main>
      </body>
    </html> `
  return page.html
}

function headOf({ history: { progress, iterations } }: ReportData): Html {
  const { stats, status, reason, ralphExit, humanNeeded } = progress
  const estimated = iterations.some(({ costEstimated }) => costEstimated) ? ', partly estimated' : ''
  const facts: readonly (readonly [string, string])[] = [
    ['iterations', iterationText(progress)],
    ['steps', `${stats.completedSteps} of ${stats.totalSteps}`],
    ['working time', humanDuration(stats.activeMs)],
    ['cost', `${money(stats)}${estimated}`],
    ['tokens', tokens(stats.usage)],
    ['began', stats.startedAt === null ? 'not yet' : moment(stats.startedAt)],
    ['last event', stats.updatedAt === undefined ? 'none' : moment(stats.updatedAt)],
  ]
  const unchecked = ralphExit.unchecked === true ? html` <span class="badge so-so">unchecked</span>` : html``
  return html`<header>
    <p class="name">
      <code>${progress.sprintId}</code> <span class="badge ${kindOf(status)}">${status}</span>${unchecked}
    </p>
    ${goalOf(progress.goal)}
    ${reason === undefined || reason === humanNeeded?.reason ? html`` : html`<p class="box so-so">${reason}</p>`}
    ${ralphExit.finalSummary === null ? html`` : html`<p class="box good">${ralphExit.finalSummary}</p>`}
    ${questionOf(progress)}
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

function kindOf(status: ReportData['history']['progress']['status']): string {
  if (status === 'completed') return 'good'
  return status === 'failed' || status === 'blocked' ? 'bad' : 'so-so'
}

/** The first paragraph is the title if it is short enough; the rest is mostly criteria. */
function goalOf(goal: string): Html {
  const [first = '', ...rest] = goal.trim().split(/\n\s*\n/)
  if (first.length > 240) return html`<p class="goal">${goal.trim()}</p>`
  return html`<h1>${first}</h1>
    ${rest.length === 0 ? html`` : html`<p class="goal">${rest.join('\n\n')}</p>`}`
}

function questionOf({ humanNeeded }: ReportData['history']['progress']): Html {
  if (!humanNeeded) return html``
  const { reason, details, options = [] } = humanNeeded
  return html`<div class="box so-so">
    <p><b>? ${reason}</b></p>
    <p class="goal">${details}</p>
    ${options.map((option) => html`<p>– ${option}</p>`)}
  </div>`
}

/** Cells have equal width, so that a short iteration is as easy to hit as a long one. Waits are between them. */
function timeline({ history: { iterations, waits } }: ReportData): Html {
  if (iterations.length === 0) return html`<p class="dim">No finished iterations yet.</p>`
  const cells = iterations.map((record, index) => {
    const [mark, kind] = marks[record.verdict]
    const before = iterations[index - 1]?.endedAt ?? 0
    const waited = waits.filter(({ from }) => from >= before && from < record.endedAt)
    const title = `${record.number}: ${record.verdict}, ${humanDuration(lengthOf(record))}, ${money(record)}`
    return html`${waited.map(
        ({ from, until, reason }) =>
          html`<li class="wait" title="${reason}">wait ${humanDuration(Math.max(0, until - from))}</li>`,
      )}
      <li class="${kind}">
        <a href="#i${record.number}" title="${title}"><b>${mark}</b>${record.number}</a>
      </li>`
  })
  return section(
    'Timeline',
    html`<ol class="strip">
      ${cells}
    </ol>`,
  )
}

const costOf = ({ costUsd }: IterationRecord): number => costUsd ?? 0

function charts({ history: { iterations } }: ReportData): Html {
  if (iterations.length === 0) return html``
  const bars = (value: (record: IterationRecord) => number, text: (record: IterationRecord) => string) =>
    iterations.map((record) => ({
      label: String(record.number),
      value: value(record),
      title: `iteration ${record.number}: ${text(record)}`,
      kind: marks[record.verdict][1],
    }))
  const most = (value: (record: IterationRecord) => number) => Math.max(...iterations.map(value))
  const isFree = most(costOf) === 0
  return section(
    isFree ? 'Time' : 'Cost and time',
    html`<div class="charts">
      ${isFree ? html`` : barChart('Cost of each iteration', bars(costOf, money), `$${most(costOf).toFixed(2)}`)}
      ${barChart(
        'Time of each iteration',
        bars(lengthOf, (record) => humanDuration(lengthOf(record))),
        humanDuration(most(lengthOf)),
      )}
    </div>`,
  )
}

/** A grid of checks by iteration: when each turned green, and whether it stayed green. */
function checksGrid({ history: { iterations, progress } }: ReportData): Html {
  const columns = [
    ...(progress.baseline && progress.baseline.length > 0 ? [{ name: 'before', checks: progress.baseline }] : []),
    ...iterations.flatMap(({ number, checks }) => (checks ? [{ name: String(number), checks }] : [])),
  ]
  const names = [...new Set(columns.flatMap(({ checks }) => checks.map(({ name }) => name)))]
  if (names.length === 0) return section('Checks', html`<p class="dim">No checks were run.</p>`)
  return section(
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
                ${columns.map(({ checks }) => cellOf(name, checks))}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`,
  )
}

type Marked = readonly { readonly name: string; readonly passed: boolean }[]

function cellOf(name: string, checks: Marked): Html {
  const found = checks.find((check) => check.name === name)
  if (!found) return html`<td></td>`
  return found.passed ? html`<td class="good">✓</td>` : html`<td class="bad">✗</td>`
}
