import { useQuery } from '@tanstack/react-query'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { machinesQuery } from '../../data/queries.ts'
import { TextInput, Select } from '../../ui/field.tsx'
import { Picker } from '../../ui/picker.tsx'
import { type Draft, newAgent, type DraftProblems } from './draft.ts'

type WhereFieldsProps = {
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
  readonly problems: DraftProblems
  readonly rows: readonly FleetRow[]
  readonly busy: boolean
}

/** The agent to use, or machine and folder of a new one. */
export function WhereFields({ draft, change, problems, rows, busy }: WhereFieldsProps) {
  const options = [
    ...rows
      .filter(({ access, agent }) => access !== 'read' && agent.state !== 'archived')
      .map(({ agent, machine }) => ({
        value: agent.id,
        label: `${agent.name} on ${machine.name}`,
        detail: machine.reachable ? (agent.state === 'running' ? 'running' : undefined) : 'not responding',
      }))
      .toSorted((a, b) => a.label.localeCompare(b.label, undefined, { numeric: true })),
    { value: newAgent, label: 'New agent…' },
  ]
  return (
    <>
      <div className={busy ? 'grid grid-cols-2 gap-3 max-sm:grid-cols-1' : undefined}>
        <Picker
          label="Where"
          value={draft.agentId}
          options={options}
          placeholder="Choose an agent: type a name or a machine"
          onChoose={(agentId) => change({ agentId })}
          problem={problems.agentId}
        />
        {busy && (
          <Select
            label="This agent is busy"
            value={draft.ifBusy}
            options={[
              { value: 'queue', label: 'Wait until it is done' },
              { value: 'interrupt', label: 'Interrupt it; its current work is lost' },
            ]}
            onChoose={(ifBusy) => change({ ifBusy: ifBusy === 'interrupt' ? 'interrupt' : 'queue' })}
          />
        )}
      </div>
      {draft.agentId === newAgent && <NewAgentFields draft={draft} change={change} problems={problems} />}
    </>
  )
}

function NewAgentFields({ draft, change, problems }: Pick<WhereFieldsProps, 'draft' | 'change' | 'problems'>) {
  const { data: machines = [] } = useQuery(machinesQuery)
  const usable = machines.filter(({ status }) => status === 'active')
  const chosen = usable.find(({ id }) => id === draft.machineId)
  return (
    <div className="grid grid-cols-2 gap-3 rounded-lg border border-line p-3 max-sm:grid-cols-1">
      <TextInput
        label="Name"
        value={draft.name}
        problem={problems.name}
        onChange={(event) => change({ name: event.target.value })}
      />
      <Select
        label="Machine"
        value={draft.machineId}
        options={[
          { value: '', label: 'Any with a free slot' },
          ...usable.map(({ id, name, slots, running, reachable }) => ({
            value: id,
            label: `${name} · ${reachable ? `${slots - running} of ${slots} free` : 'not responding'}`,
          })),
        ]}
        onChoose={(machineId) => change({ machineId })}
      />
      <Select
        label="Workspace"
        value={draft.workspace}
        options={[
          { value: 'worktree', label: 'New worktree of a repository on the machine' },
          { value: 'folder', label: 'Existing folder' },
          { value: 'clone', label: 'Fresh clone' },
        ]}
        onChoose={(value) => change({ workspace: value === 'folder' || value === 'clone' ? value : 'worktree' })}
      />
      <WorkspaceFields draft={draft} change={change} problems={problems} root={chosen?.roots[0]} />
    </div>
  )
}

type WorkspaceProps = Pick<WhereFieldsProps, 'draft' | 'change' | 'problems'> & { readonly root: string | undefined }

const WorkspaceFields = ({ draft, change, problems, root }: WorkspaceProps) => (
  <>
    {draft.workspace === 'clone' ? (
      <TextInput
        label="Repository"
        value={draft.repository}
        placeholder="https://…"
        problem={problems.repository}
        onChange={(event) => change({ repository: event.target.value })}
      />
    ) : (
      <TextInput
        label="Folder"
        value={draft.path}
        placeholder={root ?? '/home/me/project'}
        problem={problems.path}
        onChange={(event) => change({ path: event.target.value })}
      />
    )}
    {draft.workspace !== 'folder' && (
      <TextInput
        label="Branch"
        value={draft.branch}
        placeholder={draft.workspace === 'clone' ? 'current branch' : 'ralph/my-task'}
        problem={problems.branch}
        onChange={(event) => change({ branch: event.target.value })}
      />
    )}
  </>
)
