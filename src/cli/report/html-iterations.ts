import { humanDuration } from '../io/paint.ts'
import { money } from '../view/receipt.ts'
import { html, onLines, type Html } from './html.ts'
import { checkPills, lengthOf, marks, section } from './look.ts'
import { agentText, checksText, short } from './receipts.ts'
import type { ReportData } from './report-data.ts'

export function stepList({ history: { steps } }: ReportData): Html {
  if (steps.length === 0) return html``
  const items = steps.map(({ id, prompt, status, completedInIteration }) => {
    const when = completedInIteration === undefined ? 'open' : `iteration ${completedInIteration}`
    return html`<li class="${status}">
      <b>${status === 'completed' ? '✓' : '○'}</b>
      <div>${prompt} <span class="dim">${id}, ${when}</span></div>
    </li>`
  })
  return section(
    'Steps',
    html`<ul class="steps">
      ${items}
    </ul>`,
  )
}

const titles = ['#', 'verdict', 'mode', 'agent', 'in', 'out', 'cache', 'cost', 'time', 'checks', 'summary']
const numbers = new Set(['#', 'in', 'out', 'cache', 'cost', 'time'])

export function receipts({ history: { iterations } }: ReportData): Html {
  if (iterations.length === 0) return html``
  const rows = iterations.map((record) => {
    const { usage } = record
    const [mark, kind] = marks[record.verdict]
    return html`<tr>
      <td class="n"><a href="#i${record.number}">${record.number}</a></td>
      <td class="${kind}">${mark} ${record.verdict}</td>
      <td>${record.mode}</td>
      <td>${agentText(record)}</td>
      <td class="n">${short(usage.inputTokens)}</td>
      <td class="n">${short(usage.outputTokens)}</td>
      <td class="n">${short(usage.cacheReadTokens + usage.cacheWriteTokens)}</td>
      <td class="n">${money(record)}</td>
      <td class="n">${humanDuration(lengthOf(record))}</td>
      <td>${checksText(record)}</td>
      <td class="wide">${record.summary ?? ''}</td>
    </tr>`
  })
  const isEstimated = iterations.some(({ costEstimated }) => costEstimated === true)
  return section(
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

export function iterationList({ history: { iterations, steps }, diffs, transcripts }: ReportData): Html {
  if (iterations.length === 0) return html``
  const texts = new Map(steps.map(({ id, prompt }) => [id, prompt]))
  const items = iterations.map((record) => {
    const { number, mode, verdict, step, summary = '', checkpoint, rejected = [], tampered = [] } = record
    const [mark, kind] = marks[verdict]
    const notes = [...rejected, ...tampered.map((file) => `the agent changed ${file}, which defines a check`)]
    const facts = [
      mode,
      humanDuration(lengthOf(record)),
      money(record),
      ...(checkpoint === undefined ? [] : [`checkpoint ${checkpoint.slice(0, 12)}`]),
    ]
    const diff = diffs.get(number) ?? ''
    return html`<article id="i${number}">
      <h3>Iteration ${number} <span class="badge ${kind}">${mark} ${verdict}</span> ${checkPills(record)}</h3>
      <p class="dim">${facts.join(' · ')}</p>
      ${step === undefined ? html`` : html`<p class="step">${texts.get(step) ?? step}</p>`}
      <p>${summary}</p>
      ${notes.map((note) => html`<p class="so-so">! ${note}</p>`)} ${folded('Diff', sizeOf(diff), diffLines(diff))}
      ${transcriptOf(transcripts.get(number) ?? [])}
    </article>`
  })
  return section('Iterations', html`${items}`)
}

const transcriptOf = (lines: readonly string[]): Html =>
  folded(
    'Transcript',
    html`<span class="dim">${lines.length} lines</span>`,
    lines.map((line) => html`${line}`),
  )

const folded = (name: string, about: Html, lines: readonly Html[]): Html =>
  lines.length === 0
    ? html``
    : html`<details>
        <summary>${name} ${about}</summary>
        <pre>${onLines(lines)}</pre>
      </details>`

/** Counts the added and removed lines and the files. */
function sizeOf(diff: string): Html {
  const lines = diff.split('\n')
  const count = (sign: string) =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length
  const files = lines.filter((line) => line.startsWith('diff --git ')).length
  return html`<span class="good">+${count('+')}</span> <span class="bad">−${count('-')}</span>
    <span class="dim">in ${files} ${files === 1 ? 'file' : 'files'}</span>`
}

const diffLines = (diff: string): Html[] =>
  diff === ''
    ? []
    : diff
        .trimEnd()
        .split('\n')
        .map((line) => html`<span class="${kindOf(line)}">${line}</span>`)

function kindOf(line: string): string {
  if (line.startsWith('diff ')) return 'file'
  if (/^(index |\+\+\+ |--- |@@ )/.test(line)) return 'dim'
  if (line.startsWith('+')) return 'good'
  return line.startsWith('-') ? 'bad' : ''
}
