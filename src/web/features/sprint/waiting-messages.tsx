import { X } from 'lucide-react'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import { formatTimestamp } from '../../../contract/time.ts'
import { api } from '../../data/api.ts'
import { useAction } from '../../data/use-action.ts'
import { IconButton } from '../../ui/button.tsx'
import { Ago } from '../../ui/moment.tsx'

/** Messages that no prompt contains yet. A user can still take them back. */
export function WaitingMessages({ sprint, mayWrite }: { sprint: FleetSprint; mayWrite: boolean }) {
  const withdraw = useAction(api.withdrawMessage, { successToast: 'Withdrawn; the agent will not see it' })
  const { messages = [], live } = sprint.progress
  const prompted = Math.max(0, ...live.map(({ promptedAt = 0 }) => promptedAt))
  const waiting = messages.filter(({ at }) => at > prompted)
  if (waiting.length === 0) return null
  return (
    <ul aria-label="Messages that wait" className="border-t border-line bg-sunken text-sm">
      {waiting.map(({ text, at, by }) => (
        <li key={at} className="flex items-center gap-2 px-3.5 py-1">
          <span className="min-w-0 flex-1 truncate" title={text}>
            {by !== undefined && <span className="font-medium">{by}: </span>}
            {text}
          </span>
          <span className="shrink-0 text-faint">
            waits for the next prompt · <Ago at={at} />
          </span>
          {mayWrite && !sprint.observed && (
            <IconButton
              label={`Withdraw “${text.slice(0, 40)}”`}
              disabled={withdraw.busy}
              onClick={() => withdraw.run({ sprintId: sprint.id, at: formatTimestamp(at) })}
            >
              <X aria-hidden className="size-3.5" />
            </IconButton>
          )}
        </li>
      ))}
    </ul>
  )
}
