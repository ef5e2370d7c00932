import { Link } from '@tanstack/react-router'
import { ArrowDown, ArrowUp, X } from 'lucide-react'
import { useState } from 'react'
import type { AgentPrompt } from '../../../contract/fleet/prompt.ts'
import { api } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { useAction } from '../../data/use-action.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { MarkdownText } from '../../ui/markdown.tsx'
import { EmptyState } from '../../ui/states.tsx'
import type { Tone } from '../../../words/tone.ts'
import { formatAgo, formatDurationShort } from '../../../words/durations.ts'
import { formatUsd } from '../../../words/money.ts'
import { findMoveTarget, orderPrompts } from './queue-order.ts'

type PromptQueueProps = {
  readonly prompts: readonly AgentPrompt[]
  readonly mayWrite: boolean
  readonly why: string | undefined
  /** The events of a prompt outside a sprint, loaded when the user opens it. */
  readonly Transcript: React.ComponentType<{ readonly prompt: AgentPrompt }>
}

export function PromptQueue({ prompts, mayWrite, why, Transcript }: PromptQueueProps) {
  const { running, queued, ended } = orderPrompts(prompts)
  if (prompts.length === 0)
    return <EmptyState title="No prompts yet">Send a prompt, or start Ralph Mode from the modes menu above.</EmptyState>
  return (
    <ul className="divide-y divide-line">
      {running.map((prompt) => (
        <PromptItem key={prompt.id} prompt={prompt} Transcript={Transcript} />
      ))}
      {queued.map((prompt) => (
        <PromptItem
          key={prompt.id}
          prompt={prompt}
          note={why}
          actions={mayWrite && <QueueActions prompt={prompt} queued={queued} />}
        />
      ))}
      {ended.map((prompt) => (
        <PromptItem key={prompt.id} prompt={prompt} Transcript={Transcript} />
      ))}
    </ul>
  )
}

const tones: Readonly<Record<AgentPrompt['status'], Tone>> = {
  queued: 'quiet',
  running: 'info',
  parked: 'warn',
  finished: 'ok',
  failed: 'bad',
  cancelled: 'quiet',
}

function PromptItem({
  prompt,
  note,
  actions,
  Transcript,
}: {
  prompt: AgentPrompt
  Transcript?: PromptQueueProps['Transcript']
  note?: string | undefined
  actions?: React.ReactNode
}) {
  const now = useNow()
  return (
    <li className="px-3.5 py-2.5">
      <div className="flex items-start gap-3">
        <span className="w-20 shrink-0">
          <Badge tone={tones[prompt.status]}>{prompt.status}</Badge>
        </span>
        <div className="min-w-0 flex-1">
          <p className="line-clamp-3 break-words whitespace-pre-line">{prompt.prompt}</p>
          <p className="text-sm text-faint">
            {[
              prompt.by,
              describePromptTime(prompt, now),
              note,
              prompt.costUsd === undefined ? undefined : formatUsd(prompt.costUsd),
            ]
              .filter(Boolean)
              .join(' · ')}
          </p>
          {prompt.error !== undefined && <p className="text-sm text-bad">{prompt.error}</p>}
          {prompt.answer !== undefined && (
            <details className="mt-1">
              <summary className="text-sm text-dim">Last message</summary>
              <div className="mt-1 border-l-2 border-line pl-3">
                <MarkdownText text={prompt.answer} />
              </div>
            </details>
          )}
          {Transcript && prompt.startedAt !== undefined && <PromptEvents prompt={prompt} Transcript={Transcript} />}
        </div>
        {actions}
      </div>
    </li>
  )
}

function PromptEvents({ prompt, Transcript }: { prompt: AgentPrompt } & Pick<PromptQueueProps, 'Transcript'>) {
  const [open, setOpen] = useState(false)
  if (prompt.sprintId !== undefined)
    return (
      <Link
        to="/sprints/$sprintId"
        params={{ sprintId: prompt.sprintId }}
        search={{ i: prompt.iteration }}
        className="text-sm text-dim underline-offset-2 hover:underline"
      >
        Open its iteration
      </Link>
    )
  return (
    <details className="mt-1" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="text-sm text-dim">What happened</summary>
      {open && <Transcript prompt={prompt} />}
    </details>
  )
}

function describePromptTime({ status, createdAt, startedAt, endedAt, attempt }: AgentPrompt, now: number): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : ''
  if (status === 'running' && startedAt !== undefined) return `for ${formatDurationShort(now - startedAt)}${again}`
  if (endedAt !== undefined && startedAt !== undefined)
    return `${formatAgo(endedAt, now)}, took ${formatDurationShort(endedAt - startedAt)}${again}`
  return `asked ${formatAgo(createdAt, now)}`
}

function QueueActions({ prompt, queued }: { prompt: AgentPrompt; queued: readonly AgentPrompt[] }) {
  const move = useAction(api.movePrompt)
  const cancel = useAction(api.cancelPrompt)
  const { agentId, id: promptId } = prompt
  const moved = (direction: 'up' | 'down') => {
    const before = findMoveTarget(queued, promptId, direction)
    return {
      disabled: before === undefined || move.busy,
      onClick: () => before !== undefined && move.run({ agentId, promptId, before }),
    }
  }
  return (
    <span className="flex">
      <IconButton label="Earlier" {...moved('up')}>
        <ArrowUp aria-hidden className="size-3.5" />
      </IconButton>
      <IconButton label="Later" {...moved('down')}>
        <ArrowDown aria-hidden className="size-3.5" />
      </IconButton>
      <IconButton label="Cancel" disabled={cancel.busy} onClick={() => cancel.run({ agentId, promptId })}>
        <X aria-hidden className="size-3.5" />
      </IconButton>
    </span>
  )
}
