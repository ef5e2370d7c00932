import { useState } from 'react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { isUnderWay } from '../../../contract/sprint-summary.ts'
import { pluralize } from '../../../words/counts.ts'
import { api, describeError } from '../../data/api.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'

type BulkAction = {
  readonly label: string
  readonly done: string
  readonly hint: string
  readonly applies: (row: FleetRow) => boolean
  readonly act: (row: FleetRow) => Promise<unknown>
}

const isActive = ({ sprint, access }: FleetRow): boolean =>
  access !== 'read' && sprint !== undefined && isUnderWay(sprint.status)

const actions: readonly BulkAction[] = [
  {
    label: 'Pause',
    done: 'will pause after its iteration',
    hint: 'Each sprint pauses after its iteration. No work is lost.',
    applies: isActive,
    act: ({ sprint }) => api.pauseSprint({ sprintId: sprint?.id ?? '', when: 'iteration' }),
  },
  {
    label: 'Stop',
    done: 'stopped',
    hint: 'Each agent program ends now; files stay as they are, and the sprints can be resumed.',
    applies: isActive,
    act: ({ sprint }) => api.stopSprint({ sprintId: sprint?.id ?? '', when: 'now' }),
  },
  {
    label: 'Archive',
    done: 'archived',
    hint: 'Stops their work and removes them from the fleet; files stay on the machines.',
    applies: ({ access }) => access === 'owner',
    act: ({ agent }) => api.archiveAgent({ agentId: agent.id }),
  },
]

/** What can be done with all selected agents at once. Each action asks first and says what it skips. */
export function BulkBar({ rows, onClear }: { rows: readonly FleetRow[]; onClear: () => void }) {
  const [asking, setAsking] = useState<BulkAction>()
  const [busy, setBusy] = useState(false)
  const chosen = asking ? rows.filter(asking.applies) : []
  const run = async (action: BulkAction): Promise<void> => {
    setBusy(true)
    const failed = await actOnAll(chosen, action.act)
    setBusy(false)
    setAsking(undefined)
    onClear()
    const done = chosen.length - failed.length
    if (done > 0) toast({ title: `${pluralize(done, 'agent')} ${action.done}` })
    if (failed[0]) toast({ ...describeError(failed[0]), bad: true })
  }
  return (
    <div role="toolbar" aria-label="Selected agents" className="mb-3 flex flex-wrap items-center gap-2">
      <span className="font-medium">{pluralize(rows.length, 'agent')} selected</span>
      {actions.map((action) => (
        <Button key={action.label} disabled={!rows.some(action.applies)} onClick={() => setAsking(action)}>
          {action.label}
        </Button>
      ))}
      <Button kind="ghost" onClick={onClear}>
        Clear
      </Button>
      {asking && (
        <Dialog
          open
          onClose={() => setAsking(undefined)}
          title={`${asking.label} ${pluralize(chosen.length, 'agent')}?`}
        >
          <DialogBody>
            <p>{asking.hint}</p>
            {chosen.length < rows.length && (
              <p className="text-dim">
                {pluralize(rows.length - chosen.length, 'agent')} skipped: nothing runs there, or you may not.
              </p>
            )}
          </DialogBody>
          <DialogFoot>
            <Button onClick={() => setAsking(undefined)}>Cancel</Button>
            <Button kind="primary" disabled={busy} onClick={() => void run(asking)}>
              {asking.label} {pluralize(chosen.length, 'agent')}
            </Button>
          </DialogFoot>
        </Dialog>
      )}
    </div>
  )
}

const maxConcurrent = 5

/** Runs a few at a time; one failure does not stop the others. */
async function actOnAll(rows: readonly FleetRow[], act: BulkAction['act']): Promise<unknown[]> {
  const failed: unknown[] = []
  const waiting = [...rows]
  const work = async (): Promise<void> => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      // oxlint-disable-next-line no-await-in-loop -- each worker handles one row after the other
      await act(row).catch((error: unknown) => failed.push(error))
    }
  }
  await Promise.all(Array.from({ length: maxConcurrent }, work))
  return failed
}
