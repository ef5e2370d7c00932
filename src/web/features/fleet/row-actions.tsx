import { useNavigate } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { api } from '../../data/api.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuEntry } from '../../ui/menu.tsx'

/** The most likely action, or a menu. */
export function RowActions({ row }: { row: FleetRow }) {
  const navigate = useNavigate()
  const { agent, sprint, access } = row
  const toAgent = (): void => void navigate({ to: '/agents/$agentId', params: { agentId: agent.id } })
  if (sprint?.question) {
    const question = sprint.question.id
    return <Button onClick={() => void navigate({ to: '/needs-you', search: { question } })}>Answer</Button>
  }
  if (!sprint && access !== 'read') return <Button onClick={toAgent}>Prompt</Button>
  return <RowMenu row={row} />
}

function RowMenu({ row: { agent, sprint, access } }: { row: FleetRow }) {
  const navigate = useNavigate()
  const pause = useAction(api.pauseSprint, { successToast: `${agent.name} will pause after this iteration` })
  const resume = useAction(api.resumeSprint, { successToast: `${agent.name} resumed` })
  const stop = useAction(api.stopSprint, { successToast: `Stopping ${agent.name}` })
  const sprintId = sprint?.id ?? ''
  const running = sprint?.status === 'in-progress'
  const resting = sprint !== undefined && ['paused', 'interrupted', 'limit-reached', 'failed'].includes(sprint.status)
  const entries: readonly (MenuEntry | false)[] = [
    {
      label: 'Agent and queue',
      onChoose: () => void navigate({ to: '/agents/$agentId', params: { agentId: agent.id } }),
    },
    access !== 'read' &&
      running && {
        label: 'Pause',
        hint: 'After this iteration',
        onChoose: () => pause.run({ sprintId, when: 'iteration' }),
      },
    access !== 'read' && resting && { label: 'Resume', onChoose: () => resume.run({ sprintId }) },
    access !== 'read' &&
      running && { label: 'Stop now', danger: true, onChoose: () => stop.run({ sprintId, when: 'now' }) },
    access !== 'read' &&
      !running && {
        label: 'Start Ralph Mode',
        onChoose: () => void navigate({ to: '.', search: (all) => ({ ...all, start: agent.id }) }),
      },
  ]
  return (
    <Menu size="icon" label={`More about ${agent.name}`} entries={entries.filter((entry) => entry !== false)}>
      <Ellipsis aria-hidden className="size-4" />
    </Menu>
  )
}
