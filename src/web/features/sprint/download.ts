import type { StoredEvent } from '../../../contract/fleet/event.ts'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../../contract/progress.ts'
import { api, describeError } from '../../data/api.ts'
import type { TranscriptScope } from '../../data/transcript-window.ts'
import { loadChunk } from '../../shell/load-chunk.ts'
import { toast } from '../../ui/toast.tsx'

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

export type SavedFile = { readonly name: string; readonly type: string; readonly content: string }

/** Hands a file to the browser; an error is a toast. */
export async function saveOrToast(create: () => Promise<SavedFile>): Promise<void> {
  try {
    const { name, type, content } = await create()
    const url = URL.createObjectURL(new Blob([content], { type }))
    const link = document.createElement('a')
    link.href = url
    link.download = name
    link.click()
    URL.revokeObjectURL(url)
  } catch (error) {
    toast({ ...describeError(error), bad: true })
  }
}

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
