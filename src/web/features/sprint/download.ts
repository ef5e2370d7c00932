import type { StoredEvent } from '../../../contract/fleet/event.ts'
import type { Sprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../../contract/progress.ts'
import { api, told } from '../../data/api.ts'
import { toast } from '../../ui/toast.tsx'
import { exportHtml } from './export-html.ts'

/** Maximum number of events in an exported page; the newest ones. */
const mostEvents = 20_000

export async function downloadSprint(sprint: Sprint, iterations: readonly IterationRecord[]): Promise<void> {
  try {
    const html = exportHtml(sprint, iterations, await newestEvents(sprint.id))
    const url = URL.createObjectURL(new Blob([html], { type: 'text/html' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${sprint.progress.sprintId}.html`
    link.click()
    URL.revokeObjectURL(url)
  } catch (error) {
    toast({ ...told(error), bad: true })
  }
}

async function newestEvents(sprintId: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  let cursor: string | undefined
  do {
    // oxlint-disable-next-line no-await-in-loop -- each page says where the next one begins
    const page = await api.listEvents({ sprintId, cursor, limit: 200 })
    events.push(...page.items)
    cursor = page.next
  } while (cursor !== undefined && events.length < mostEvents)
  return events.toReversed()
}
