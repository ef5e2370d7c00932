import { useQueryClient } from '@tanstack/react-query'
import { Ellipsis, MessageSquare, Play } from 'lucide-react'
import { useState } from 'react'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import { api } from '../../data/api.ts'
import { keys } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { MessageDialog } from './message-dialog.tsx'

type SprintActionsProps = {
  readonly sprint: FleetSprint
  readonly mayWrite: boolean
  readonly onExport: () => void
  readonly onStartNew: () => void
}

/** Statuses from which a user can resume. */
export const resumable = new Set<FleetSprint['progress']['status']>([
  'paused',
  'paused-at-breakpoint',
  'interrupted',
  'limit-reached',
  'failed',
  'blocked',
])

export function SprintActions({ sprint, mayWrite, onExport, onStartNew }: SprintActionsProps) {
  const [telling, setTelling] = useState(false)
  const { status } = sprint.progress
  const running = status === 'in-progress' || status === 'parked'
  const more = [
    { label: 'Export as HTML', hint: 'One self-contained file to share', onChoose: onExport },
    ...(mayWrite && !running
      ? [{ label: 'Start a new run', hint: 'Ralph Mode on the same agent', onChoose: onStartNew }]
      : []),
  ]
  return (
    <div className="flex gap-2 max-md:w-full max-md:flex-wrap">
      {mayWrite && status !== 'completed' && (
        <Button onClick={() => setTelling(true)}>
          <MessageSquare aria-hidden className="size-3.5" /> Message
        </Button>
      )}
      {mayWrite && resumable.has(status) && !sprint.observed && <ResumeButton sprint={sprint} />}
      {mayWrite && running && <StopMenus sprint={sprint} />}
      <Menu size="icon" label="More" entries={more}>
        <Ellipsis aria-hidden className="size-4" />
      </Menu>
      {telling && <MessageDialog sprint={sprint} onClose={() => setTelling(false)} />}
    </div>
  )
}

function ResumeButton({ sprint }: { sprint: FleetSprint }) {
  const cache = useQueryClient()
  const resume = useAction(api.resumeSprint, { onDone: (next) => cache.setQueryData(keys.sprint(next.id), next) })
  return (
    <Button kind="primary" disabled={resume.busy} onClick={() => resume.run({ sprintId: sprint.id })}>
      <Play aria-hidden className="size-3.5" /> Resume
    </Button>
  )
}

/** Three options each, with their cost. */
function StopMenus({ sprint }: { sprint: FleetSprint }) {
  const cache = useQueryClient()
  const onDone = (next: FleetSprint): void => void cache.setQueryData(keys.sprint(next.id), next)
  const pause = useAction(api.pauseSprint, { onDone })
  const stop = useAction(api.stopSprint, { onDone })
  const sprintId = sprint.id
  return (
    <>
      <Menu
        disabled={pause.busy}
        entries={[
          {
            label: 'After this iteration',
            hint: 'No work is lost',
            onChoose: () => pause.run({ sprintId, when: 'iteration' }),
          },
          {
            label: 'After this turn',
            hint: 'Lets the agent finish its turn; skips checks and hooks',
            onChoose: () => pause.run({ sprintId, when: 'turn' }),
          },
          {
            label: 'Now',
            hint: 'Ends the attempt; resuming repeats it',
            onChoose: () => pause.run({ sprintId, when: 'now' }),
          },
        ]}
      >
        Pause
      </Menu>
      <Menu
        disabled={stop.busy}
        entries={[
          {
            label: 'After this iteration',
            hint: 'Finishes the iteration; can be resumed',
            onChoose: () => stop.run({ sprintId, when: 'iteration' }),
          },
          {
            label: 'After this turn',
            hint: 'Lets the agent finish its turn',
            onChoose: () => stop.run({ sprintId, when: 'turn' }),
          },
          {
            label: 'Now',
            hint: 'Ends the process within 30 s; files stay as they are',
            danger: true,
            onChoose: () => stop.run({ sprintId, when: 'now' }),
          },
        ]}
      >
        Stop
      </Menu>
    </>
  )
}
