import type { StoredEvent } from '../../../contract/fleet/event.ts'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../../contract/progress.ts'
import { api, describeError } from '../../data/api.ts'
import { toast } from '../../ui/toast.tsx'
import { renderExport } from './export-html.ts'

/** Maximum number of events in an exported page; the newest ones. */
const maxEvents = 20_000

export async function downloadSprint(sprint: FleetSprint, iterations: readonly IterationRecord[]): Promise<void> {
  try {
    const html = renderExport(sprint, iterations, await fetchNewestEvents(sprint.id))
    const url = URL.createObjectURL(new Blob([html], { type: 'text/html' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${sprint.progress.sprintId}.html`
    link.click()
    URL.revokeObjectURL(url)
  } catch (error) {
    toast({ ...describeError(error), bad: true })
  }
}

async function fetchNewestEvents(sprintId: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  let cursor: string | undefined
  do {
    // oxlint-disable-next-line no-await-in-loop -- each page says where the next one begins
    const page = await api.listEvents({ sprintId, cursor, limit: 200 })
    events.push(...page.items)
    cursor = page.next
  } while (cursor !== undefined && events.length < maxEvents)
  return events.toReversed()
}
