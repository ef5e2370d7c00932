import { useInfiniteQuery } from '@tanstack/react-query'
import { describeError } from '../../data/api.ts'
import { auditQuery } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, ProblemNotice, SkeletonRows } from '../../ui/states.tsx'
import { formatFullTime } from '../../words/time-of-day.ts'

/** The audit log, newest first. */
export function Audit() {
  const { data, isPending, isLoadingError, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(auditQuery)
  if (isPending) return <SkeletonRows rows={6} height="h-9" />
  if (isLoadingError) return <ProblemNotice {...describeError(error)} onRetry={() => void refetch()} />
  const items = data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <EmptyState title="No entries yet" />
  return (
    <div className="overflow-x-auto">
      <table className="w-full">
        <thead>
          <tr className="border-b border-line text-left text-sm text-dim">
            {['When', 'Who', 'What', 'On'].map((name) => (
              <th key={name} scope="col" className="px-3.5 py-2 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {items.map(({ id, at, who, what, target, details }) => (
            <tr key={id} title={details === undefined ? undefined : JSON.stringify(details)}>
              <td className="px-3.5 py-1.5 whitespace-nowrap text-dim">{formatFullTime(at)}</td>
              <td className="px-3.5">{who}</td>
              <td className="px-3.5 font-mono text-sm">{what}</td>
              <td className="max-w-60 truncate px-3.5 text-dim">{target}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasNextPage && (
        <Button kind="ghost" className="m-2" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older
        </Button>
      )}
    </div>
  )
}
