import { useQuery } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { RalphError } from '../../../contract/errors.ts'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import { api, describeError } from '../../data/api.ts'
import { restorePreviewQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/dialog.tsx'
import { DiffLines, DiffSize } from '../../ui/diff-lines.tsx'
import { ProblemNotice, Skeleton } from '../../ui/states.tsx'
import { pluralize } from '../../../words/counts.ts'
import { parsePatchLines } from '../../words/line-diff.ts'

type RestoreButtonProps = { readonly sprint: FleetSprint; readonly iteration: number }

/** Restores the files to their state after an iteration. Asks first, and says what is kept. */
export function RestoreButton({ sprint, iteration }: RestoreButtonProps) {
  const [asking, setAsking] = useState(false)
  const restore = useAction(restoreFiles, {
    successToast: ({ saved }) =>
      saved === undefined
        ? `The files are already as they were after iteration ${iteration}`
        : `Files restored to iteration ${iteration}; the previous files are saved in ${saved}`,
    onDone: () => setAsking(false),
  })
  const running = sprint.progress.status === 'in-progress'
  return (
    <>
      <Button
        size="small"
        disabled={running}
        title={running ? 'Pause the sprint first: its agent is working on these files' : undefined}
        onClick={() => setAsking(true)}
      >
        <RotateCcw aria-hidden className="size-3" /> Restore to {iteration}
      </Button>
      <Dialog open={asking} onClose={() => setAsking(false)} title={`Restore the files to iteration ${iteration}?`}>
        <DialogBody>
          <p>
            The files on the machine go back to how they were after iteration {iteration}. The current files are saved
            as a checkpoint first, so nothing is lost. The sprint keeps its state; resuming continues with the next
            iteration number.
          </p>
          {asking && <RestorePreview sprint={sprint} iteration={iteration} />}
        </DialogBody>
        <DialogFoot>
          <Button onClick={() => setAsking(false)}>Cancel</Button>
          <Button
            kind="primary"
            disabled={restore.busy}
            onClick={() => restore.run({ sprintId: sprint.id, iteration })}
          >
            {restore.busy ? 'Restoring…' : `Restore to iteration ${iteration}`}
          </Button>
        </DialogFoot>
      </Dialog>
    </>
  )
}

/** What a restore changes in the files as they are now, also in those that the user edited since. */
function RestorePreview({ sprint, iteration }: RestoreButtonProps) {
  const { data, error, isLoadingError } = useQuery(restorePreviewQuery(sprint.id, iteration))
  if (isLoadingError) return <ProblemNotice {...describeError(error)} />
  if (!data) return <Skeleton className="h-16" />
  if (data.files.length === 0) return <p className="text-dim">No file changes: they are as they were then.</p>
  return (
    <section aria-label="What restoring changes" className="rounded-md border border-line">
      <h3 className="border-b border-line px-3 py-1.5 text-sm font-medium">
        Changes {pluralize(data.files.length, 'file')}
        {data.truncated && ', and more than fit here'}
      </h3>
      <ul className="max-h-60 overflow-y-auto py-1">
        {data.files.map(({ path, added, removed, patch }) => (
          <li key={path}>
            <details>
              <summary className="flex gap-2 px-3 py-0.5 font-mono text-sm">
                <span className="min-w-0 flex-1 truncate">{path}</span>
                <DiffSize added={added} removed={removed} />
              </summary>
              {patch !== undefined && <DiffLines lines={parsePatchLines(patch)} />}
            </details>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** How long a stopped agent program may take to end; its sprint already counts as stopped. */
const restoreTimeoutMs = 45_000

/**
 * The page may lag behind the backend. Restoring is valid whenever no agent works on the files, so retry while the
 * agent of a stopped sprint is ending, and when the revision changed between reading and requesting.
 */
const restoreFiles: typeof api.restoreSprint = async (target, options) => {
  for (const until = Date.now() + restoreTimeoutMs; ; await delay(500)) {
    const { agentId, progress, observed } = await api.getSprint(target)
    const ends = progress.status !== 'in-progress' && Date.now() < until
    if (ends && !observed && (await api.getAgent({ agentId })).agent.state === 'running') continue
    // Only now: the end of its agent creates another revision.
    const { rev } = await api.getSprint(target)
    try {
      return await api.restoreSprint(target, { ...options, revision: rev })
    } catch (error) {
      const passes = error instanceof RalphError && (error.code === 'AGENT_BUSY' || error.code === 'REVISION_STALE')
      if (!passes || !ends) throw error
    }
  }
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
