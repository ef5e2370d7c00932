import { useState } from 'react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { api } from '../../data/api.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/badge.tsx'
import { commandKey } from '../../words/command-key.ts'
import { Textarea } from '../../ui/field.tsx'

/** Three actions: queue, steer the running prompt, or interrupt it. */
export function PromptComposer({ row: { agent, sprint } }: { row: FleetRow }) {
  const key = `ralph.prompt.${agent.id}`
  const [text, setText] = useState(() => localStorage.getItem(key) ?? '')
  const change = (next: string): void => {
    setText(next)
    localStorage.setItem(key, next)
  }
  const sent = { onDone: () => change('') }
  const queue = useAction(api.queuePrompt, sent)
  const tell = useAction(api.tellSprint, { ...sent, successToast: 'Sent to the agent' })
  const interrupt = useAction(api.interruptAgent, { successToast: 'Interrupted' })
  const running = agent.state === 'running'
  const ready = text.trim() !== '' && !queue.busy && !tell.busy
  const submit = (): void => {
    if (ready) queue.run({ agentId: agent.id, prompt: text })
  }
  return (
    <div className="mb-3.5 rounded-[10px] border border-line bg-panel p-3">
      <Textarea
        label={`Prompt for ${agent.name}`}
        hideLabel
        rows={3}
        placeholder={`Ask ${agent.name} to do something…`}
        value={text}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
        }}
      />
      <div className="mt-2 flex items-center justify-end gap-2">
        {running && (
          <Button
            kind="danger"
            disabled={interrupt.busy}
            title="Ends the running prompt; pauses a loop"
            onClick={() => interrupt.run({ agentId: agent.id })}
          >
            Interrupt
          </Button>
        )}
        {running && agent.inRalphMode && sprint && (
          <Button
            disabled={!ready}
            title="Interrupts the turn and continues with this message in the same context"
            onClick={() => tell.run({ sprintId: sprint.id, text, now: true })}
          >
            Steer now
          </Button>
        )}
        <Button kind="primary" disabled={!ready} onClick={submit}>
          {running ? 'Queue' : 'Send'}
        </Button>
        <span className="max-sm:hidden">
          <Kbd>{commandKey}↵</Kbd>
        </span>
      </div>
    </div>
  )
}
