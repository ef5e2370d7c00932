import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { describeError } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { conversationsQuery } from '../../data/queries.ts'
import { EmptyState, ProblemNotice, SkeletonRows } from '../../ui/states.tsx'
import { formatDurationShort } from '../../../words/durations.ts'
import { pluralize } from '../../../words/counts.ts'
import { formatTimeOfDay } from '../../words/time-of-day.ts'

/** Conversations before each reset. Those of a sprint link to its transcript. */
export function ConversationList({ agentId }: { agentId: string }) {
  const now = useNow()
  const { data, isPending, isLoadingError, error, refetch } = useQuery(conversationsQuery(agentId))
  if (isPending) return <SkeletonRows rows={3} height="h-12" />
  if (isLoadingError) return <ProblemNotice {...describeError(error)} onRetry={() => void refetch()} />
  if (data.length === 0)
    return (
      <EmptyState title="No past conversations yet">
        Each reset, and each iteration of Ralph Mode, starts a new one.
      </EmptyState>
    )
  return (
    <ul className="divide-y divide-line">
      {data.map(({ id, sprintId, iteration, startedAt, endedAt, messages }) => (
        <li key={id} className="flex items-center gap-4 px-3.5 py-2.5">
          <span className="min-w-0 flex-1">
            {sprintId !== undefined && iteration !== undefined ? (
              <Link
                to="/sprints/$sprintId"
                params={{ sprintId }}
                search={{ i: iteration }}
                className="font-medium hover:underline"
              >
                Iteration {iteration}
              </Link>
            ) : (
              <span className="font-medium">Conversation</span>
            )}
            <span className="block text-sm text-faint">{pluralize(messages, 'message')}</span>
          </span>
          <span className="text-sm text-dim">
            {formatTimeOfDay(startedAt, now)} · {formatDurationShort(endedAt - startedAt)}
          </span>
        </li>
      ))}
    </ul>
  )
}
