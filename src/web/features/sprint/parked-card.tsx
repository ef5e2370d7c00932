import { useQuery } from '@tanstack/react-query'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { isBudgetReason } from '../../../contract/fleet/budget.ts'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import { formatAge } from '../../../words/durations.ts'
import { programName } from '../../../words/status.ts'
import { api } from '../../data/api.ts'
import { machinesQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { useNow } from '../../ui/now.ts'
import { formatTimeOfDay } from '../../words/time-of-day.ts'

type ParkedCardProps = { readonly sprint: FleetSprint; readonly row: FleetRow | undefined; readonly mayWrite: boolean }

/** Whose usage limit or budget a sprint waits for, until when, and what a user can do instead of waiting. */
export function ParkedCard({ sprint, row, mayWrite }: ParkedCardProps) {
  const now = useNow()
  const { parked, status } = sprint.progress
  if (status !== 'parked' || !parked || !row) return null
  const program = programName(row.agent.program)
  const isBudget = isBudgetReason(parked.reason)
  return (
    <section
      aria-label={isBudget ? 'Budget' : 'Usage limit'}
      className="hatched mb-3.5 flex items-center gap-4 rounded-[10px] border border-warn-fill/60 px-4 py-3 max-md:flex-col max-md:items-start"
    >
      <div className="min-w-0 flex-1 rounded bg-warn-bg px-2 py-1">
        <h2 className="font-semibold">
          {isBudget ? 'A budget is spent' : `${program} on ${row.machine.name} has reached its usage limit`}
        </h2>
        <p className="text-dim">
          {parked.reason}. It resumes by itself at {formatTimeOfDay(parked.until, now)}, in{' '}
          {formatAge(Math.max(0, parked.until - now))}.{' '}
          {isBudget
            ? 'An admin can raise the budget under Spend.'
            : `Other agents with ${program} on ${row.machine.name} wait too.`}
        </p>
      </div>
      {mayWrite && !sprint.observed && !isBudget && <ParkedActions sprint={sprint} row={row} />}
    </section>
  )
}

function ParkedActions({ sprint, row }: { sprint: FleetSprint; row: FleetRow }) {
  const { data: machines = [] } = useQuery(machinesQuery)
  const resume = useAction(api.resumeSprint, { successToast: 'Trying again' })
  const change = useAction(switchProgram, { successToast: 'Switched; trying again' })
  const others = (machines.find(({ id }) => id === row.agent.machineId)?.programs ?? []).filter(
    ({ name }) => name !== row.agent.program && name !== 'scripted',
  )
  return (
    <div className="flex gap-2">
      <Button kind="primary" disabled={resume.busy} onClick={() => resume.run({ sprintId: sprint.id })}>
        Try now
      </Button>
      {row.access === 'owner' && others.length > 0 && (
        <Menu
          disabled={change.busy}
          entries={others.map(({ name, version, loggedIn }) => ({
            label: name,
            hint:
              loggedIn === 'no' ? 'Not signed in' : `${version ?? 'Installed'}; used from now on by ${row.agent.name}`,
            onChoose: () => change.run({ agentId: row.agent.id, sprintId: sprint.id, program: name }),
          }))}
        >
          Switch agent
        </Menu>
      )}
    </div>
  )
}

async function switchProgram({
  agentId,
  sprintId,
  program,
}: {
  readonly agentId: string
  readonly sprintId: string
  readonly program: string
}) {
  await api.changeAgent({ agentId, program })
  return api.resumeSprint({ sprintId, useAgentProgram: true })
}
