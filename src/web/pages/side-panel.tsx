import { useQuery } from '@tanstack/react-query'
import type { FleetSprint } from '../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../contract/progress.ts'
import { diffQuery } from '../data/queries.ts'
import { Receipt } from '../features/sprint/receipt.tsx'
import { ClaimsCard } from '../features/sprint/claims-card.tsx'
import { ProofCard } from '../features/sprint/proof-card.tsx'
import { RestoreButton } from '../features/changes/restore.tsx'
import { CallInspector } from '../features/transcript/inspector.tsx'
import type { ToolCall } from '../features/transcript/tool-call.ts'
import { Card, CardHead } from '../ui/card.tsx'
import { DiffSize } from '../ui/diff-lines.tsx'
import { Skeleton } from '../ui/states.tsx'
import { pluralize } from '../../words/counts.ts'
import type { SetSearch } from './sprint-detail.tsx'

const claimed = new Set<IterationRecord['verdict']>(['accepted', 'refused'])

type SidePanelProps = {
  readonly sprint: FleetSprint
  readonly iterations: readonly IterationRecord[]
  readonly chosen: number | undefined
  readonly call: ToolCall | undefined
  readonly mayWrite: boolean
  readonly set: SetSearch
}

/** The right column: the selected call, or the receipt of the selected or last iteration. */
export function SidePanel({ sprint, iterations, chosen, call, mayWrite, set }: SidePanelProps) {
  const record = chosen === undefined ? iterations.at(-1) : iterations.find(({ number }) => number === chosen)
  // Without a chosen iteration, the last claim: why the sprint is done, or why it is not.
  const claim = chosen === undefined ? iterations.findLast((each) => each.proof ?? claimed.has(each.verdict)) : record
  return (
    <div className="min-w-0 space-y-3.5 max-xl:col-start-2 max-lg:order-3 max-lg:col-start-1">
      {call && (
        <Card label="Inspector">
          <CallInspector sprintId={sprint.id} call={call} onClose={() => set({ event: undefined })} />
        </Card>
      )}
      {claim && <ProofCard sprint={sprint} record={claim} mayWrite={mayWrite} />}
      {iterations.length === 0 && <NoClaimYet />}
      <ClaimsCard iterations={iterations} shown={claim?.number} onChoose={(i) => set({ i })} />
      <ChangedFiles sprint={sprint} number={record?.number} scoped={chosen !== undefined} set={set} />
      {record && (
        <Card label="Receipt">
          <CardHead
            aside={
              mayWrite && record.checkpoint !== undefined && <RestoreButton sprint={sprint} iteration={record.number} />
            }
          >
            Receipt <span className="font-normal text-faint">iteration {record.number}</span>
          </CardHead>
          <Receipt
            record={record}
            hooks={sprint.progress.hookTasks.filter(({ iteration }) => iteration === record.number)}
          />
        </Card>
      )}
    </div>
  )
}

/** Before the first receipt: what this column is for. */
const NoClaimYet = () => (
  <Card label="Proof">
    <CardHead>Proof</CardHead>
    <p className="px-3.5 py-3 text-dim">
      No claim yet. When the agent says that it is done, Ralph runs the checks itself in a clean copy, with the tests of
      the start, and shows here what they prove.
    </p>
  </Card>
)

type ChangedFilesProps = {
  readonly sprint: FleetSprint
  readonly number: number | undefined
  readonly scoped: boolean
  readonly set: SetSearch
}

const maxFiles = 8

function ChangedFiles({ sprint, number, scoped, set }: ChangedFilesProps) {
  const range = scoped && number !== undefined ? { from: number - 1, to: number } : { from: 0 }
  const diff = useQuery({ ...diffQuery(sprint.id, range), enabled: number !== undefined, retry: false })
  if (number === undefined || diff.isLoadingError) return null
  const files = diff.data?.files ?? []
  return (
    <Card label="Files changed">
      <CardHead aside={diff.data && <span className="text-sm text-dim">{pluralize(files.length, 'file')}</span>}>
        {scoped ? `Changed in iteration ${number}` : 'Changed so far'}
      </CardHead>
      {diff.isPending && <Skeleton className="m-3.5 h-12" />}
      {diff.data && files.length === 0 && <p className="px-3.5 py-3 text-dim">No files.</p>}
      <ul className="divide-y divide-line">
        {files.slice(0, maxFiles).map((file) => (
          <li key={file.path}>
            <button
              type="button"
              className="flex w-full items-center gap-2 px-3.5 py-1.5 text-left text-sm -outline-offset-2 hover:bg-sunken"
              onClick={() => set({ tab: 'changes', file: file.path })}
            >
              <span className="min-w-0 flex-1 truncate font-mono" title={file.path}>
                {file.path}
              </span>
              <DiffSize added={file.added} removed={file.removed} />
            </button>
          </li>
        ))}
      </ul>
      {files.length > maxFiles && (
        <button
          type="button"
          className="w-full border-t border-line py-1.5 text-sm text-dim hover:bg-sunken"
          onClick={() => set({ tab: 'changes' })}
        >
          All {files.length} files
        </button>
      )}
    </Card>
  )
}
