import type { StoredEvent } from '../../../contract/fleet/event.ts'
import type { Sprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../../contract/progress.ts'
import { duration, fullTime, money } from '../../words/numbers.ts'
import { verdictSentence } from '../../words/verdict.ts'

/** A page without scripts that shows the sprint to people without access. All foreign text is escaped. */
export function exportHtml(
  sprint: Sprint,
  iterations: readonly IterationRecord[],
  events: readonly StoredEvent[],
): string {
  const { progress } = sprint
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(progress.goal)}</title><style>${style}</style><body>
<h1>${escaped(progress.goal)}</h1>
<p>${escaped(progress.status)} · ${progress.stats.currentIteration} iterations · ${money(progress.stats.costUsd)} · ${duration(progress.stats.activeMs)} at work</p>
${progress.dynamicSteps.length === 0 ? '' : `<h2>Steps</h2><ul>${progress.dynamicSteps.map((step) => `<li>${step.status === 'completed' ? '✓' : '○'} ${escaped(step.prompt)}</li>`).join('')}</ul>`}
<h2>Iterations</h2><table><tr><th>#<th>mode<th>what<th>checks<th>cost<th>time</tr>
${iterations.map(row).join('\n')}</table>
<h2>Transcript</h2>
${events.map(entry).join('\n')}
</body></html>`
}

const style =
  'body{font:14px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1b19}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #e7e6e3}pre{background:#f5f4f2;padding:.6rem;overflow-x:auto;white-space:pre-wrap}time{color:#716d66;margin-right:.6rem}.tool{font-family:ui-monospace,monospace;font-size:12px}'

const row = (record: IterationRecord): string =>
  `<tr><td>${record.number}<td>${record.mode}<td>${escaped(verdictSentence(record))}${record.summary === undefined ? '' : `<br>${escaped(record.summary)}`}<td>${(record.checks ?? []).map(({ name, passed }) => `${passed ? '✓' : '✗'} ${escaped(name)}`).join('<br>')}<td>${money(record.costUsd)}<td>${duration(record.endedAt - record.startedAt)}</tr>`

function entry({ at, event }: StoredEvent): string {
  const when = `<time>${escaped(fullTime(at))}</time>`
  if (event.type === 'iteration-started') return `<h3>Iteration ${event.iteration} <small>${event.mode}</small></h3>`
  if (event.type !== 'agent') return `<p>${when}${escaped(event.type)} ${escaped(detailOf(event))}</p>`
  const { event: said } = event
  if (said.kind === 'text') return `<p>${when}</p><pre>${escaped(said.text)}</pre>`
  if (said.kind === 'tool' && said.phase === 'start')
    return `<p class="tool">${when}${escaped(said.name ?? 'tool')} ${escaped(said.argument ?? '')}</p>`
  if (said.kind === 'tool' && said.output !== undefined)
    return `<details><summary class="tool">${said.ok === false ? 'failed' : 'output'}</summary><pre>${escaped(said.output)}</pre></details>`
  return ''
}

function detailOf(event: Exclude<StoredEvent['event'], { type: 'agent' }>): string {
  if ('reason' in event && event.reason !== undefined) return event.reason
  if ('summary' in event && event.summary !== undefined) return event.summary
  return 'text' in event && event.text !== undefined ? event.text : ''
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.codePointAt(0)};`)
