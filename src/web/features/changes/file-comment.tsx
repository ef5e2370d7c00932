import { useState } from 'react'
import { api } from '../../data/api.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/field.tsx'

/** A comment on a file becomes a message to the agent, which names the file. */
export function FileComment({ sprintId, path }: { sprintId: string; path: string }) {
  const [text, setText] = useState('')
  const tell = useAction(api.tellSprint, {
    successToast: 'Queued for the next iteration',
    onDone: () => setText(''),
  })
  const ready = text.trim() !== '' && !tell.busy
  const send = (): void => {
    if (ready) tell.run({ sprintId, text: `Review comment on ${path}: ${text.trim()}`, now: false })
  }
  return (
    <form
      className="flex items-end gap-2 border-t border-line px-3.5 py-2"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <TextInput
        label={`Comment on ${path}`}
        hideLabel
        value={text}
        placeholder="Comment for the agent…"
        className="flex-1"
        onChange={(event) => setText(event.target.value)}
      />
      <Button disabled={!ready} onClick={send}>
        Comment
      </Button>
    </form>
  )
}
