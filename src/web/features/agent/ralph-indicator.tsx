import { Link } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { api } from '../../data/api.ts'
import { useAction } from '../../data/use-action.ts'
import { buttonLook } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { formatCap, formatUsd } from '../../../words/money.ts'

/** Shows a running Ralph Mode: iteration, task, cost, and the stop menu. */
export function RalphIndicator({ row: { agent, sprint }, mayWrite }: { row: FleetRow; mayWrite: boolean }) {
  const stop = useAction(api.stopRalphMode, { successToast: 'Stopping Ralph Mode' })
  if (!agent.inRalphMode) return null
  const task = agent.ralphModeTaskDescription ?? sprint?.goal ?? ''
  const agentId = agent.id
  return (
    <section
      aria-label="Ralph Mode"
      className="mb-3.5 flex items-center gap-3 rounded-[10px] border border-accent/40 bg-accent-bg px-4 py-2.5 max-sm:flex-wrap"
    >
      <RefreshCw aria-hidden className="size-4 shrink-0 text-accent-text" />
      <div className="min-w-0 flex-1">
        <p className="font-semibold text-accent-text">
          Ralph Mode
          {sprint &&
            ` · iteration ${sprint.iteration}${sprint.maxIterations === undefined ? '' : ` of ${sprint.maxIterations}`}`}
        </p>
        <p className="truncate text-dim" title={task}>
          {task}
        </p>
      </div>
      {sprint && (
        <span className="text-dim max-sm:hidden">
          {formatUsd(sprint.spentUsd)}
          {sprint.capUsd !== undefined && ` of ${formatCap(sprint.capUsd)}`}
        </span>
      )}
      {sprint && (
        <Link to="/sprints/$sprintId" params={{ sprintId: sprint.id }} className={buttonLook()}>
          Watch
        </Link>
      )}
      {mayWrite && (
        <Menu
          disabled={stop.busy}
          entries={[
            {
              label: 'After this iteration',
              hint: 'No work is lost',
              onChoose: () => stop.run({ agentId, when: 'iteration' }),
            },
            {
              label: 'After this turn',
              hint: 'Lets the agent finish its turn',
              onChoose: () => stop.run({ agentId, when: 'turn' }),
            },
            {
              label: 'Now',
              hint: 'Ends the process; files stay as they are',
              danger: true,
              onChoose: () => stop.run({ agentId, when: 'now' }),
            },
          ]}
        >
          Stop
        </Menu>
      )}
    </section>
  )
}
