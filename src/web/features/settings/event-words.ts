import type { WebhookEvent } from '../../../contract/fleet/webhook.ts'
import { statusWords } from '../../../words/status.ts'

/** What a notification reports, in the words of the rest of the page. */
export const eventWords: Readonly<Record<WebhookEvent, string>> = {
  'needs-human': statusWords['needs-human'].label,
  completed: statusWords.completed.label,
  failed: statusWords.failed.label,
  parked: statusWords.parked.label,
  resumed: 'Resumed',
  stopped: statusWords.interrupted.label,
  'machine-lost': 'Machine lost',
  budget: 'Budget',
}
