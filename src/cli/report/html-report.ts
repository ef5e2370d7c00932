import { formatTimestamp } from '../../contract/time.ts'
import type { IterationRecord, Verdict } from '../../contract/progress.ts'
import { humanDuration } from '../paint.ts'
import { money, tokens } from '../receipt.ts'
import { barChart } from './charts.ts'
import { html, onLines, type Html } from './html.ts'
import { agentText, checksText, iterationText, short } from './receipts.ts'
import type { ReportData } from './report-data.ts'
import { style } from './style.ts'

/** One page that needs nothing else: no script, no font, no picture from anywhere. */
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
          ${headOf(data)} ${timeline(data)} ${charts(data)} ${checksGrid(data)} ${receipts(data)} ${stepList(data)}
          ${iterationList(data)}
        </main>
      </body>
    </html> `
  return page.html
}

const marks: Readonly<Record<Verdict, readonly [mark: string, kind: string]>> = {
  accepted: ['✓', 'good'],
  completed: ['✓', 'good'],
  continue: ['✓', 'good'],
  refused: ['✗', 'bad'],
  failed: ['✗', 'bad'],
  premature: ['~', 'so-so'],
  malformed: ['~', 'so-so'],
  'needs-human': ['?', 'so-so'],
  interrupted: ['■', 'so-so'],
}

const lengthOf = ({ startedAt, endedAt }: IterationRecord): number => Math.max(0, endedAt - startedAt)

function headOf({ history: { progress, iterations }, madeAt }: ReportData): Html {
  const { stats, status, reason, ralphExit, humanNeeded } = progress
  const facts: readonly (readonly [string, string])[] = [
    ['iterations', iterationText(progress)],
    ['steps', `${stats.completedSteps} of ${stats.totalSteps}`],
    ['time at work', humanDuration(stats.activeMs)],
    ['cost', `${money(stats)}${iterations.some(({ costEstimated }) => costEstimated) ? ', partly estimated' : ''}`],
    ['tokens', tokens(stats.usage)],
    ['began', stats.startedAt === null ? 'not yet' : formatTimestamp(stats.startedAt)],
    ['last event', stats.updatedAt === undefined ? 'none' : formatTimestamp(stats.updatedAt)],
  ]
  const unchecked = ralphExit.unchecked === true ? html` <b class="so-so">unchecked</b>` : html``
  const kind = status === 'completed' ? 'good' : 'so-so'
  return html`<header>
    <p class="dim">ralph report, made ${formatTimestamp(madeAt)}</p>
    <h1>${progress.sprintId} <span class="badge ${kind}">${status}</span>${unchecked}</h1>
    ${reason === undefined ? html`` : html`<p class="so-so">${reason}</p>`}
    <p class="goal">${progress.goal}</p>
    ${ralphExit.finalSummary === null ? html`` : html`<p><b>${ralphExit.finalSummary}</b></p>`}
    ${
      humanNeeded
        ? html`<p class="so-so">? ${humanNeeded.reason}</p>
            <p class="goal">${humanNeeded.details}</p>`
        : html``
    }
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

/** Cells of equal width: the shortest iteration can be pointed at as well as the longest. Waits stand between them. */
function timeline({ history: { iterations, waits } }: ReportData): Html {
  if (iterations.length === 0) return html`<p class="dim">No iteration is over yet.</p>`
  const cells = iterations.map((record, index) => {
    const [mark, kind] = marks[record.verdict]
    const before = iterations[index - 1]?.endedAt ?? 0
    const waited = waits.filter(({ from }) => from >= before && from < record.endedAt)
    const title = `${record.number}: ${record.verdict}, ${humanDuration(lengthOf(record))}, ${money(record)}`
    return html`${waited.map(
        ({ from, until, reason }) =>
          html`<li class="wait" title="${reason}">⏸ ${humanDuration(Math.max(0, until - from))}</li>`,
      )}
      <li class="${kind}">
        <a href="#i${record.number}" title="${title}">${record.number}<b>${mark}</b></a>
      </li>`
  })
  return html`<section>
    <h2>Timeline</h2>
    <ol class="strip">
      ${cells}
    </ol>
  </section>`
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
  return html`<section>
    <h2>Cost and time</h2>
    ${barChart('Cost of each iteration', bars(costOf, money), `$${most(costOf).toFixed(2)}`)}
    ${barChart(
      'Time of each iteration',
      bars(lengthOf, (record) => humanDuration(lengthOf(record))),
      humanDuration(most(lengthOf)),
    )}
  </section>`
}

/** When each check first turned green, and whether it stayed so. */
function checksGrid({ history: { iterations, progress } }: ReportData): Html {
  const columns = [
    ...(progress.baseline && progress.baseline.length > 0 ? [{ name: 'before', checks: progress.baseline }] : []),
    ...iterations.flatMap(({ number, checks }) => (checks ? [{ name: String(number), checks }] : [])),
  ]
  const names = [...new Set(columns.flatMap(({ checks }) => checks.map(({ name }) => name)))]
  if (names.length === 0)
    return html`<section>
      <h2>Checks</h2>
      <p class="dim">No check was run.</p>
    </section>`
  return html`<section>
    <h2>Checks by iteration</h2>
    <div class="scroll">
      <table class="grid">
        <thead>
          <tr>
            <th></th>
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
    </div>
  </section>`
}

type Marked = readonly { readonly name: string; readonly passed: boolean }[]

function cellOf(name: string, checks: Marked): Html {
  const found = checks.find((check) => check.name === name)
  if (!found) return html`<td></td>`
  return found.passed ? html`<td class="good">✓</td>` : html`<td class="bad">✗</td>`
}

function receipts({ history: { iterations } }: ReportData): Html {
  if (iterations.length === 0) return html``
  const titles = ['#', 'mode', 'verdict', 'agent', 'in', 'out', 'cache', 'cost', 'time', 'checks', 'summary']
  const rows = iterations.map((record) => {
    const { usage } = record
    const [mark, kind] = marks[record.verdict]
    const cost = `${money(record)}${record.costEstimated === true ? ' estimated' : ''}`
    return html`<tr>
      <td class="n"><a href="#i${record.number}">${record.number}</a></td>
      <td>${record.mode}</td>
      <td class="${kind}">${mark} ${record.verdict}</td>
      <td>${agentText(record)}</td>
      <td class="n">${short(usage.inputTokens)}</td>
      <td class="n">${short(usage.outputTokens)}</td>
      <td class="n">${short(usage.cacheReadTokens + usage.cacheWriteTokens)}</td>
      <td class="n">${cost}</td>
      <td class="n">${humanDuration(lengthOf(record))}</td>
      <td>${checksText(record)}</td>
      <td>${record.summary ?? ''}</td>
    </tr>`
  })
  return html`<section>
    <h2>Receipts</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            ${titles.map((title) => html`<th>${title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </section>`
}

function stepList({ history: { steps } }: ReportData): Html {
  if (steps.length === 0) return html``
  const items = steps.map(({ id, prompt, status, completedInIteration }) => {
    const when = completedInIteration === undefined ? '' : `iteration ${completedInIteration}`
    return html`<li class="${status}">
      <b>${status === 'completed' ? '✓' : '○'}</b> ${prompt} <span class="dim">${id} ${when}</span>
    </li>`
  })
  return html`<section>
    <h2>Steps</h2>
    <ul class="steps">
      ${items}
    </ul>
  </section>`
}

function iterationList({ history: { iterations }, diffs, transcripts }: ReportData): Html {
  const items = iterations.map((record) => {
    const { number, mode, verdict, summary = '', checkpoint, rejected = [], tampered = [] } = record
    const [mark, kind] = marks[verdict]
    const notes = [...rejected, ...tampered.map((file) => `the agent changed ${file}, which defines a check`)]
    return html`<article id="i${number}">
      <h3>
        <span class="${kind}">${mark}</span> Iteration ${number}
        <span class="dim"
          >${mode}, ${verdict}${checkpoint === undefined ? '' : `, checkpoint ${checkpoint.slice(0, 12)}`}</span
        >
      </h3>
      <p>${summary}</p>
      ${notes.map((note) => html`<p class="so-so">! ${note}</p>`)} ${folded('Diff', diffLines(diffs.get(number)))}
      ${folded(
        'Transcript',
        (transcripts.get(number) ?? []).map((line) => html`${line}`),
      )}
    </article>`
  })
  return html`<section>
    <h2>Iterations</h2>
    ${items}
  </section>`
}

const folded = (name: string, lines: readonly Html[]): Html =>
  lines.length === 0
    ? html``
    : html`<details>
        <summary>${name} <span class="dim">${lines.length} lines</span></summary>
        <pre>${onLines(lines)}</pre>
      </details>`

const diffLines = (diff: string | undefined): Html[] =>
  (diff ?? '') === ''
    ? []
    : (diff ?? '')
        .trimEnd()
        .split('\n')
        .map((line) => html`<span class="${kindOf(line)}">${line}</span>`)

function kindOf(line: string): string {
  if (/^(diff |index |\+\+\+ |--- |@@ )/.test(line)) return 'dim'
  if (line.startsWith('+')) return 'good'
  return line.startsWith('-') ? 'bad' : ''
}
