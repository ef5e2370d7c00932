import type { HookTask, Progress } from '../../../contract/progress.ts'
import { Badge, Tag } from '../../ui/badge.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { formatDurationShort } from '../../../words/durations.ts'

type HooksListProps = { readonly progress: Progress; readonly iteration: number | undefined }

const tones = { running: 'info', completed: 'ok', failed: 'bad' } as const

/** The hooks that ran after the iterations. */
export function HooksList({ progress, iteration }: HooksListProps) {
  const tasks = progress.hookTasks
    .filter((task) => iteration === undefined || task.iteration === iteration)
    .toReversed()
  if (progress.perIterationHooks.length === 0 && tasks.length === 0)
    return (
      <EmptyState title="This sprint has no hooks">
        A hook is a command or prompt that runs after every iteration.
      </EmptyState>
    )
  return (
    <div tabIndex={0} role="region" aria-label="Hooks" className="min-h-0 flex-1 overflow-y-auto">
      <div className="flex flex-wrap gap-1.5 border-b border-line px-3.5 py-2">
        {progress.perIterationHooks.map((hook) => (
          <Tag key={hook.id}>
            {hook.id}
            {hook.parallel ? ' ∥' : ''}
            {hook.enabled ? '' : ' off'}
          </Tag>
        ))}
      </div>
      {tasks.length === 0 && <EmptyState title="No hook has run here" />}
      <ul className="divide-y divide-line">
        {tasks.map((task) => (
          <HookTaskRow key={`${task.iteration} ${task.hookId}`} task={task} />
        ))}
      </ul>
    </div>
  )
}

const HookTaskRow = ({ task }: { task: HookTask }) => (
  <li className="px-3.5 py-2">
    <div className="flex items-center gap-3">
      <span className="w-8 text-faint">{task.iteration}</span>
      <span className="flex-1 font-medium">{task.hookId}</span>
      {task.completedAt !== undefined && (
        <span className="text-sm text-dim">{formatDurationShort(task.completedAt - task.spawnedAt)}</span>
      )}
      <Badge tone={tones[task.status]}>{task.status === 'failed' ? `exit ${task.exitCode ?? '–'}` : task.status}</Badge>
    </div>
    {task.error !== undefined && (
      <pre className="mt-1 ml-11 overflow-x-auto font-mono text-sm whitespace-pre-wrap text-bad">{task.error}</pre>
    )}
  </li>
)
