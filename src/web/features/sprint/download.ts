import type { StoredEvent } from '../../../contract/fleet/event.ts'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../../contract/progress.ts'
import { api } from '../../data/api.ts'
import { saveOrToast } from '../../data/save-file.ts'
import type { TranscriptScope } from '../../data/transcript-window.ts'
import { loadChunk } from '../../shell/load-chunk.ts'

/** Maximum number of events in an exported page; the newest ones. */
const maxEvents = 20_000

/** The report that `ralph report` writes. */
export const downloadSprint = (sprint: FleetSprint, iterations: readonly IterationRecord[]): Promise<void> =>
  saveOrToast(async () => ({
    name: `${sprint.progress.sprintId}.html`,
    type: 'text/html',
    content: await (await loadChunk(() => import('./export-report.ts'))).exportReport(sprint, iterations),
  }))

/** What was measured when an iteration claimed the goal: its receipt with the proof, and the output of each check. */
export const downloadEvidence = (sprint: FleetSprint, record: IterationRecord): Promise<void> =>
  saveOrToast(async () => {
    const events = await fetchNewestEvents(sprint.id, { iteration: record.number, kind: 'other' })
    const checks = events.flatMap(({ event, at }) => (event.type === 'check-ended' ? [{ at, ...event.result }] : []))
    const decisions = events.flatMap(({ event, at }) => (event.type.startsWith('claim-') ? [{ at, ...event }] : []))
    const { goal, sprintId, doneWhen, baseline } = sprint.progress
    const evidence = { sprintId, goal, doneWhen, baseline, record, decisions, checks }
    return {
      name: `${sprintId}-iteration-${record.number}-evidence.json`,
      type: 'application/json',
      content: JSON.stringify(evidence, undefined, 2),
    }
  })

export async function fetchNewestEvents(sprintId: string, scope: TranscriptScope = {}): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  let cursor: string | undefined
  do {
    // oxlint-disable-next-line no-await-in-loop -- each page says where the next one begins
    const page = await api.listEvents({ sprintId, ...scope, cursor, limit: 200 })
    events.push(...page.items)
    cursor = page.next
  } while (cursor !== undefined && events.length < maxEvents)
  return events.toReversed()
}
