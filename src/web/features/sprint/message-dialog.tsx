import { useState } from 'react'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import { api } from '../../data/api.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/dialog.tsx'
import { Textarea } from '../../ui/field.tsx'

/** Sends the agent a message: with its next iteration, or by interrupting it. */
export function MessageDialog({ sprint, onClose }: { sprint: FleetSprint; onClose: () => void }) {
  const [text, setText] = useState('')
  const tell = useAction(api.tellSprint, { successToast: 'Queued for the next iteration', onDone: onClose })
  const send = (now: boolean): void => tell.run({ sprintId: sprint.id, text, now })
  const ready = text.trim() !== '' && !tell.busy
  const next = sprint.progress.stats.currentIteration + 1
  return (
    <Dialog open onClose={onClose} title="Message to the agent">
      <DialogBody>
        <Textarea
          label={`What should it know for iteration ${next}?`}
          rows={5}
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && ready) send(false)
          }}
        />
      </DialogBody>
      <DialogFoot>
        <Button
          disabled={!ready}
          onClick={() => send(true)}
          title="Interrupts the agent, which continues with your message in the same context"
        >
          Steer now
        </Button>
        <Button kind="primary" disabled={!ready} onClick={() => send(false)}>
          Queue for iteration {next}
        </Button>
      </DialogFoot>
    </Dialog>
  )
}
