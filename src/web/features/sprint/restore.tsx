import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { RalphError } from '../../../contract/errors.ts'
import type { Sprint } from '../../../contract/fleet/sprint.ts'
import { api } from '../../data/api.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/dialog.tsx'

type Props = { readonly sprint: Sprint; readonly iteration: number }

/** Files back to where they were after an iteration. Asks first, and says what is kept. */
export function RestoreButton({ sprint, iteration }: Props) {
  const [asking, setAsking] = useState(false)
  const restore = useAction(restoreFiles, {
    said: ({ saved }) =>
      `The files are as after iteration ${iteration}${saved === undefined ? '' : `; what was there is in ${saved}`}`,
    onDone: () => setAsking(false),
  })
  const running = sprint.progress.status === 'in-progress'
  return (
    <>
      <Button
        size="small"
        disabled={running}
        title={running ? 'Pause the sprint first: its agent works in these files' : undefined}
        onClick={() => setAsking(true)}
      >
        <RotateCcw aria-hidden className="size-3" /> Restore to {iteration}
      </Button>
      <Dialog open={asking} onClose={() => setAsking(false)} title={`Restore the files to iteration ${iteration}?`}>
        <DialogBody>
          <p>
            The work tree on the machine becomes what it was after iteration {iteration}. What is there now is kept as a
            checkpoint of its own, so nothing is lost. The sprint stays where it is; resuming goes on with the next
            number.
          </p>
        </DialogBody>
        <DialogFoot>
          <Button onClick={() => setAsking(false)}>Keep as it is</Button>
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

/** A program that was told to end may take this long, and its sprint is stopped already. */
const patienceMs = 45_000

/**
 * The page may be a moment behind; what is asked for is right in any state in which nothing works in the files. So it is asked
 * for again while the agent of a stopped sprint ends, and when the sprint has moved between the question and the request.
 */
const restoreFiles: typeof api.restoreSprint = async (given, options) => {
  for (const until = Date.now() + patienceMs; ; await pause(500)) {
    const { agentId, progress, observed } = await api.getSprint(given)
    const ends = progress.status !== 'in-progress' && Date.now() < until
    if (ends && !observed && (await api.getAgent({ agentId })).agent.state === 'running') continue
    // Only now: the end of its agent is a revision of its own.
    const { rev } = await api.getSprint(given)
    try {
      return await api.restoreSprint(given, { ...options, revision: rev })
    } catch (error) {
      const passes = error instanceof RalphError && (error.code === 'AGENT_BUSY' || error.code === 'REVISION_STALE')
      if (!passes || !ends) throw error
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
