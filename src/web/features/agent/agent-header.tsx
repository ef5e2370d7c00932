import { useQuery } from '@tanstack/react-query'
import { Ellipsis } from 'lucide-react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { api } from '../../data/api.ts'
import { machinesQuery } from '../../data/queries.ts'
import { useNow } from '../../ui/now.ts'
import { useAction } from '../../data/use-action.ts'
import { AgentPrograms } from '../fleet/agent-programs.tsx'
import { Dot } from '../../ui/dot.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Ago } from '../../ui/moment.tsx'
import { Separated } from '../../ui/one-line.tsx'
import { describeProgram } from '../../../words/status.ts'
import { describeSituation } from '../../words/situation.ts'

type AgentHeaderProps = { readonly row: FleetRow; readonly mayWrite: boolean; readonly onRalphMode: () => void }

export function AgentHeader({ row, mayWrite, onRalphMode }: AgentHeaderProps) {
  const now = useNow()
  const { agent, machine, lastEventAt } = row
  const { label, tone, live } = describeSituation(row, now)
  return (
    <div className="mb-3.5 flex items-start gap-4">
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-1.5">
          <Dot tone={tone} live={live === true} />
          <Separated className="min-w-0">
            <span className="font-semibold">{label}</span>
            {lastEventAt !== undefined && (
              <span className="text-dim">
                last event <Ago at={lastEventAt} />
              </span>
            )}
          </Separated>
        </div>
        <h1 className="text-xl font-semibold tracking-tight">{agent.name}</h1>
        <p className="flex flex-wrap items-center gap-x-4 text-dim">
          <span>{describeProgram(agent.program, agent.model)}</span>
          <span className="flex items-center gap-1.5">
            <Dot tone={machine.reachable ? 'ok' : 'bad'} label={machine.reachable ? 'answers' : 'not responding'} />
            {machine.name}
            {!machine.reachable && machine.lastSeenAt !== undefined && (
              <span className="text-bad">
                last seen <Ago at={machine.lastSeenAt} />
              </span>
            )}
          </span>
          <span className="min-w-0 truncate font-mono text-sm">{describeWorkspace(agent.workspace)}</span>
        </p>
        {agent.state === 'failed' && agent.reason !== undefined && <FailedAgent row={row} reason={agent.reason} />}
      </div>
      {mayWrite && <ModesMenu row={row} onRalphMode={onRalphMode} />}
    </div>
  )
}

/** The whole reason, and what to do about it. */
function FailedAgent({ row, reason }: { row: FleetRow; reason: string }) {
  const { data: machines = [] } = useQuery(machinesQuery)
  const machine = machines.find(({ id }) => id === row.agent.machineId)
  const lacksProgram = reason.startsWith('no agent program')
  return (
    <div className="mt-2 max-w-3xl rounded-md border border-line bg-panel">
      <p role="status" className="rounded-t-md bg-bad-bg px-3 py-2 break-words text-bad">
        {reason}
      </p>
      <div className="px-3 py-3">
        {lacksProgram && machine ? (
          <AgentPrograms machine={machine} />
        ) : (
          <p className="text-dim">
            Correct the folder or the program on {row.machine.name}, then create the agent again.
          </p>
        )}
      </div>
    </div>
  )
}

const describeWorkspace = (workspace: FleetRow['agent']['workspace']): string => {
  switch (workspace.kind) {
    case 'folder':
      return workspace.path
    case 'clone':
      return [workspace.repository, workspace.branch].filter(Boolean).join(' · ')
    case 'worktree':
      return `${workspace.path} · ${workspace.branch}`
  }
}

/** The modes dropdown of the seed. */
function ModesMenu({ row: { agent, access }, onRalphMode }: { row: FleetRow; onRalphMode: () => void }) {
  const reset = useAction(api.resetAgent, { successToast: 'Conversation archived; the next prompt starts a new one' })
  const archive = useAction(api.archiveAgent, { successToast: `${agent.name} is archived; its files stay` })
  const agentId = agent.id
  return (
    <div className="flex gap-2">
      <Menu
        entries={[
          {
            label: 'Ralph Mode',
            hint: 'Works on a task in a loop until its checks pass',
            disabled: agent.inRalphMode,
            onChoose: onRalphMode,
          },
        ]}
      >
        Modes
      </Menu>
      <Menu
        size="icon"
        label="More"
        entries={[
          { label: 'Fresh context', hint: 'Archives the conversation', onChoose: () => reset.run({ agentId }) },
          ...(access === 'owner'
            ? [
                {
                  label: 'Archive this agent',
                  hint: 'Stops its work; files stay on the machine',
                  danger: true,
                  onChoose: () => archive.run({ agentId }),
                },
              ]
            : []),
        ]}
      >
        <Ellipsis aria-hidden className="size-4" />
      </Menu>
    </div>
  )
}
