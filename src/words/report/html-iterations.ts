import { formatHumanDuration } from '../durations.ts'
import { formatCost } from '../money.ts'
import { html, joinMarkupLines, type HtmlMarkup } from './html.ts'
import { checkPills, iterationDuration, reportSection, toneClass } from './report-format.ts'
import { verdictMarks } from '../verdict.ts'
import { agentText, checksText } from '../receipt-text.ts'
import { formatCount } from '../counts.ts'
import type { ReportData } from './report-data.ts'

export function renderStepList({ history: { steps } }: ReportData): HtmlMarkup {
  if (steps.length === 0) return html``
  const items = steps.map(({ id, prompt, status, completedInIteration }) => {
    const when = completedInIteration === undefined ? 'open' : `iteration ${completedInIteration}`
    return html`<li class="${status}">
      <b>${status === 'completed' ? '✓' : '○'}</b>
      <div>${prompt} <span class="dim">${id}, ${when}</span></div>
    </li>`
  })
  return reportSection(
    'Steps',
    html`<ul class="steps">
      ${items}
    </ul>`,
  )
}

const titles = ['#', 'verdict', 'mode', 'agent', 'in', 'out', 'cache', 'cost', 'time', 'checks', 'summary']
const numbers = new Set(['#', 'in', 'out', 'cache', 'cost', 'time'])

export function renderReceipts({ history: { iterations } }: ReportData): HtmlMarkup {
  if (iterations.length === 0) return html``
  const rows = iterations.map((record) => {
    const { usage } = record
    const { mark, tone } = verdictMarks[record.verdict]
    return html`<tr>
      <td class="n"><a href="#i${record.number}">${record.number}</a></td>
      <td class="${toneClass(tone)}">${mark} ${record.verdict}</td>
      <td>${record.mode}</td>
      <td>${agentText(record)}</td>
      <td class="n">${formatCount(usage.inputTokens)}</td>
      <td class="n">${formatCount(usage.outputTokens)}</td>
      <td class="n">${formatCount(usage.cacheReadTokens + usage.cacheWriteTokens)}</td>
      <td class="n">${formatCost(record)}</td>
      <td class="n">${formatHumanDuration(iterationDuration(record))}</td>
      <td>${checksText(record)}</td>
      <td class="wide">${record.summary ?? ''}</td>
    </tr>`
  })
  const isEstimated = iterations.some(({ costEstimated }) => costEstimated === true)
  return reportSection(
    'Receipts',
    html`<div class="scroll">
        <table>
          <thead>
            <tr>
              ${titles.map((title) => html`<th class="${numbers.has(title) ? 'n' : ''}">${title}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </div>
      ${isEstimated ? html`<p class="dim">≈ estimated with Ralph's price list</p>` : html``}`,
  )
}

export function renderIterations({
  history: { iterations, steps },
  diffs,
  transcripts,
  checkOutputs,
}: ReportData): HtmlMarkup {
  if (iterations.length === 0) return html``
  const texts = new Map(steps.map(({ id, prompt }) => [id, prompt]))
  const items = iterations.map((record) => {
    const { number, mode, verdict, step, summary = '', checkpoint, rejected = [], tampered = [] } = record
    const { mark, tone } = verdictMarks[verdict]
    const notes = [...rejected, ...tampered.map((file) => `the agent changed ${file}, which defines a check`)]
    const facts = [
      mode,
      formatHumanDuration(iterationDuration(record)),
      formatCost(record),
      ...(checkpoint === undefined ? [] : [`checkpoint ${checkpoint.slice(0, 12)}`]),
    ]
    const diff = diffs.get(number) ?? ''
    return html`<article id="i${number}">
      <h3>
        Iteration ${number} <span class="badge ${toneClass(tone)}">${mark} ${verdict}</span> ${checkPills(record)}
      </h3>
      <p class="dim">${facts.join(' · ')}</p>
      ${step === undefined ? html`` : html`<p class="step">${texts.get(step) ?? step}</p>`}
      <p>${summary}</p>
      ${notes.map((note) => html`<p class="so-so">! ${note}</p>`)}
      ${renderFolded('Diff', renderDiffSize(diff), renderDiffLines(diff))}
      ${renderLines('Checks', checkOutputs.get(number) ?? [])}
      ${renderLines('Transcript', transcripts.get(number) ?? [])}
    </article>`
  })
  return reportSection('Iterations', html`${items}`)
}

const renderLines = (name: string, lines: readonly string[]): HtmlMarkup =>
  renderFolded(
    name,
    html`<span class="dim">${lines.length} lines</span>`,
    lines.map((line) => html`${line}`),
  )

const renderFolded = (name: string, about: HtmlMarkup, lines: readonly HtmlMarkup[]): HtmlMarkup =>
  lines.length === 0
    ? html``
    : html`<details>
        <summary>${name} ${about}</summary>
        <pre>${joinMarkupLines(lines)}</pre>
      </details>`

/** Counts the added and removed lines and the files. */
function renderDiffSize(diff: string): HtmlMarkup {
  const lines = diff.split('\n')
  const count = (sign: string) =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length
  const files = lines.filter((line) => line.startsWith('diff --git ')).length
  return html`<span class="good">+${count('+')}</span> <span class="bad">−${count('-')}</span>
    <span class="dim">in ${files} ${files === 1 ? 'file' : 'files'}</span>`
}

const renderDiffLines = (diff: string): HtmlMarkup[] =>
  diff === ''
    ? []
    : diff
        .trimEnd()
        .split('\n')
        .map((line) => html`<span class="${diffLineClass(line)}">${line}</span>`)

function diffLineClass(line: string): string {
  if (line.startsWith('diff ')) return 'file'
  if (/^(index |\+\+\+ |--- |@@ )/.test(line)) return 'dim'
  if (line.startsWith('+')) return 'good'
  return line.startsWith('-') ? 'bad' : ''
}
