import type { StoredEvent } from '../../../contract/fleet/event.ts'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../../contract/progress.ts'
import { formatDurationShort } from '../../../words/durations.ts'
import { formatFullTime } from '../../words/time-of-day.ts'
import { formatUsd } from '../../../words/money.ts'
import { describeVerdict } from '../../../words/verdict.ts'

/** A page without scripts that shows the sprint to people without access. All foreign text is escaped. */
export function renderExport(
  sprint: FleetSprint,
  iterations: readonly IterationRecord[],
  events: readonly StoredEvent[],
): string {
  const { progress } = sprint
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeExportText(progress.goal)}</title><style>${style}</style><body>
<h1>${escapeExportText(progress.goal)}</h1>
<p>${escapeExportText(progress.status)} · ${progress.stats.currentIteration} iterations · ${formatUsd(progress.stats.costUsd)} · ${formatDurationShort(progress.stats.activeMs)} at work</p>
${progress.dynamicSteps.length === 0 ? '' : `<h2>Steps</h2><ul>${progress.dynamicSteps.map((step) => `<li>${step.status === 'completed' ? '✓' : '○'} ${escapeExportText(step.prompt)}</li>`).join('')}</ul>`}
<h2>Iterations</h2><table><tr><th>#<th>mode<th>what<th>checks<th>cost<th>time</tr>
${iterations.map(exportIterationRow).join('\n')}</table>
<h2>Transcript</h2>
${events.map(exportEventEntry).join('\n')}
</body></html>`
}

const style =
  'body{font:14px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1b19}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #e7e6e3}pre{background:#f5f4f2;padding:.6rem;overflow-x:auto;white-space:pre-wrap}time{color:#716d66;margin-right:.6rem}.tool{font-family:ui-monospace,monospace;font-size:12px}'

const exportIterationRow = (record: IterationRecord): string =>
  `<tr><td>${record.number}<td>${record.mode}<td>${escapeExportText(describeVerdict(record))}${record.summary === undefined ? '' : `<br>${escapeExportText(record.summary)}`}<td>${(record.checks ?? []).map(({ name, passed }) => `${passed ? '✓' : '✗'} ${escapeExportText(name)}`).join('<br>')}<td>${formatUsd(record.costUsd)}<td>${formatDurationShort(record.endedAt - record.startedAt)}</tr>`

function exportEventEntry({ at, event }: StoredEvent): string {
  const when = `<time>${escapeExportText(formatFullTime(at))}</time>`
  if (event.type === 'iteration-started') return `<h3>Iteration ${event.iteration} <small>${event.mode}</small></h3>`
  if (event.type !== 'agent')
    return `<p>${when}${escapeExportText(event.type)} ${escapeExportText(eventDetail(event))}</p>`
  const { event: agentEvent } = event
  if (agentEvent.kind === 'text') return `<p>${when}</p><pre>${escapeExportText(agentEvent.text)}</pre>`
  if (agentEvent.kind === 'tool' && agentEvent.phase === 'start')
    return `<p class="tool">${when}${escapeExportText(agentEvent.name ?? 'tool')} ${escapeExportText(agentEvent.argument ?? '')}</p>`
  if (agentEvent.kind === 'tool' && agentEvent.output !== undefined)
    return `<details><summary class="tool">${agentEvent.ok === false ? 'failed' : 'output'}</summary><pre>${escapeExportText(agentEvent.output)}</pre></details>`
  return ''
}

function eventDetail(event: Exclude<StoredEvent['event'], { type: 'agent' }>): string {
  if ('reason' in event && event.reason !== undefined) return event.reason
  if ('summary' in event && event.summary !== undefined) return event.summary
  return 'text' in event && event.text !== undefined ? event.text : ''
}

const escapeExportText = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.codePointAt(0)};`)
