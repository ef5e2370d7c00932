import { useQuery } from '@tanstack/react-query'
import { ChevronRight, GitCommitHorizontal } from 'lucide-react'
import { useState } from 'react'
import type { FleetSprint, SprintDiff } from '../../../contract/fleet/sprint.ts'
import { describeError } from '../../data/api.ts'
import { diffQuery } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { DiffLines, DiffSize } from '../../ui/diff-lines.tsx'
import { Select } from '../../ui/field.tsx'
import { EmptyState, ProblemNotice, SkeletonRows } from '../../ui/states.tsx'
import { parsePatchLines } from '../../words/line-diff.ts'
import { pluralize } from '../../../words/counts.ts'
import { ChangesMenu } from './changes-menu.tsx'
import { FileComment } from './file-comment.tsx'
import { FinishDialog } from './finish-dialog.tsx'

export type CheckpointRange = { readonly from?: number; readonly to?: number }

type ChangesProps = {
  readonly sprint: FleetSprint
  readonly mayWrite: boolean
  readonly range: CheckpointRange
  readonly iterations: readonly number[]
  readonly file: string | undefined
  readonly onRange: (range: CheckpointRange) => void
  readonly onFile: (path: string | undefined) => void
}

/** The changes of an iteration, or between any two. */
export function ChangesView({ sprint, mayWrite, range, iterations, file, onRange, onFile }: ChangesProps) {
  const diff = useQuery(diffQuery(sprint.id, range))
  const options = iterations.map((number) => ({ value: String(number), label: `after iteration ${number}` }))
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3.5 py-2 text-dim">
        <Select
          label="From"
          hideLabel
          value={String(range.from ?? 0)}
          options={[{ value: '0', label: 'the start' }, ...options]}
          onChoose={(value) => onRange({ ...range, from: Number(value) })}
          className="w-44"
        />
        <span aria-hidden>→</span>
        <Select
          label="To"
          hideLabel
          value={range.to === undefined ? 'now' : String(range.to)}
          options={[...options, { value: 'now', label: 'now' }]}
          onChoose={(value) => onRange(value === 'now' ? withoutTo(range) : { ...range, to: Number(value) })}
          className="w-44"
        />
        {diff.data && <DiffSummary diff={diff.data} />}
        {mayWrite && <CommitButton sprint={sprint} />}
        {diff.data && diff.data.files.length > 0 && <ChangesMenu diff={diff.data} range={range} sprint={sprint} />}
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {diff.isPending && <SkeletonRows rows={4} height="h-9" />}
        {diff.isLoadingError && <ProblemNotice {...describeError(diff.error)} onRetry={() => void diff.refetch()} />}
        {diff.data?.files.length === 0 && <EmptyState title="No changes between these two" />}
        {diff.data?.files.map((each) => (
          <ChangedFile
            key={each.path}
            file={each}
            open={(file ?? diff.data.files[0]?.path) === each.path}
            onOpen={onFile}
            comment={mayWrite ? sprint.id : undefined}
          />
        ))}
        {diff.data?.truncated === true && (
          <p className="px-3.5 py-2 text-sm text-faint">More files have changed than are listed here.</p>
        )}
      </div>
    </div>
  )
}

function CommitButton({ sprint }: { sprint: FleetSprint }) {
  const [open, setOpen] = useState(false)
  const running = sprint.progress.status === 'in-progress'
  return (
    <>
      <Button
        disabled={running}
        title={running ? 'Pause the sprint first: its agent is working on these files' : undefined}
        onClick={() => setOpen(true)}
      >
        <GitCommitHorizontal aria-hidden className="size-3.5" /> Commit…
      </Button>
      {open && <FinishDialog sprint={sprint} onClose={() => setOpen(false)} />}
    </>
  )
}

const withoutTo = ({ to: _to, ...range }: CheckpointRange): CheckpointRange => range

const DiffSummary = ({ diff }: { diff: SprintDiff }) => (
  <span className="ml-auto flex gap-2">
    {pluralize(diff.files.length, 'file')}
    <DiffSize added={sumDiff(diff, 'added')} removed={sumDiff(diff, 'removed')} />
  </span>
)

const sumDiff = (diff: SprintDiff, what: 'added' | 'removed'): number =>
  diff.files.reduce((all, file) => all + file[what], 0)

type ChangedFileProps = {
  readonly file: SprintDiff['files'][number]
  readonly open: boolean
  readonly onOpen: (path: string | undefined) => void
  /** The sprint that a comment is sent to; undefined if the user may not write. */
  readonly comment: string | undefined
}

const ChangedFile = ({ file, open, onOpen, comment }: ChangedFileProps) => (
  <div className="border-b border-line">
    <button
      type="button"
      aria-expanded={open}
      onClick={() => onOpen(open ? '' : file.path)}
      className="flex w-full items-center gap-2 px-3.5 py-1.5 text-left font-mono text-sm -outline-offset-2 hover:bg-sunken"
    >
      <ChevronRight
        aria-hidden
        className={classes('size-3.5 shrink-0 text-faint transition-transform', open && 'rotate-90')}
      />
      <span className="min-w-0 flex-1 truncate">{file.path}</span>
      <DiffSize added={file.added} removed={file.removed} />
    </button>
    {open && (
      <div className="border-t border-line">
        {file.patch === undefined ? (
          <p className="px-3.5 py-2 text-sm text-faint">Binary, or too long to show.</p>
        ) : (
          <DiffLines lines={parsePatchLines(file.patch)} />
        )}
        {comment !== undefined && <FileComment sprintId={comment} path={file.path} />}
      </div>
    )}
  </div>
)
