import { isNotesProtocol } from '../../../contract/way.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { describeError } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { sprintsQuery } from '../../data/queries.ts'
import { Badge } from '../../ui/badge.tsx'
import { Separated } from '../../ui/one-line.tsx'
import { EmptyState, ProblemNotice, SkeletonRows } from '../../ui/states.tsx'
import { formatAgo } from '../../../words/durations.ts'
import { formatUsd } from '../../../words/money.ts'
import { pluralize } from '../../../words/counts.ts'
import { statusWords } from '../../../words/status.ts'

/** Every sprint of this agent, newest first. */
export function SprintList({ agentId }: { agentId: string }) {
  const now = useNow()
  const { data, isPending, isLoadingError, error, refetch } = useQuery(sprintsQuery(agentId))
  if (isPending) return <SkeletonRows rows={3} height="h-14" />
  if (isLoadingError) return <ProblemNotice {...describeError(error)} onRetry={() => void refetch()} />
  if (data.length === 0) return <EmptyState title="No sprints yet" />
  return (
    <ul className="divide-y divide-line">
      {data.map(({ id, progress, createdAt, protocol }) => (
        <li key={id} className="flex items-center gap-4 px-3.5 py-2.5">
          <span className="min-w-0 flex-1">
            <Link
              to="/sprints/$sprintId"
              params={{ sprintId: id }}
              className="block truncate font-medium hover:underline"
            >
              {progress.goal}
            </Link>
            <Separated className="text-sm text-faint">
              <span>{isNotesProtocol(protocol) ? 'Ralph Mode' : 'planned'}</span>
              <span>{formatAgo(createdAt, now)}</span>
              <span>{pluralize(progress.stats.currentIteration, 'iteration')}</span>
              <span>{formatUsd(progress.stats.costUsd)}</span>
            </Separated>
          </span>
          <Badge tone={statusWords[progress.status].tone}>{statusWords[progress.status].label}</Badge>
        </li>
      ))}
    </ul>
  )
}
