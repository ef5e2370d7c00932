import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
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
            Restore to iteration {iteration}
          </Button>
        </DialogFoot>
      </Dialog>
    </>
  )
}

/** The page may be a moment behind; what is asked for is right in any state in which nothing works in the files. */
const restoreFiles: typeof api.restoreSprint = async (given, options) => {
  const { rev } = await api.getSprint(given)
  return api.restoreSprint(given, { ...options, revision: rev })
}
