import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { Delivery } from '../../../contract/fleet/webhook.ts'
import { api, describeError } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { deliveriesQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState, ProblemNotice, SkeletonRows } from '../../ui/states.tsx'
import { eventWords } from './event-words.ts'
import type { Tone } from '../../../words/tone.ts'
import { formatAgo, formatAge } from '../../../words/durations.ts'
import { pluralize } from '../../../words/counts.ts'

const tones: Readonly<Record<Delivery['status'], Tone>> = {
  waiting: 'info',
  sent: 'ok',
  suppressed: 'quiet',
  failed: 'bad',
}

/** Notifications with their delivery status. */
export function Deliveries() {
  const { data, isPending, isLoadingError, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(deliveriesQuery)
  if (isPending) return <SkeletonRows rows={4} height="h-12" />
  if (isLoadingError) return <ProblemNotice {...describeError(error)} onRetry={() => void refetch()} />
  const items = data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <EmptyState title="No deliveries yet" />
  return (
    <>
      <ul className="divide-y divide-line">
        {items.map((delivery) => (
          <DeliveryItem key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      {hasNextPage && (
        <Button kind="ghost" className="m-2" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older
        </Button>
      )}
    </>
  )
}

function DeliveryItem({
  delivery: { id: deliveryId, event, to, via, status, tries, error, createdAt, nextTryAt },
}: {
  delivery: Delivery
}) {
  const now = useNow()
  const cache = useQueryClient()
  const retry = useAction(api.retryDelivery, {
    onDone: () => void cache.invalidateQueries({ queryKey: deliveriesQuery.queryKey }),
  })
  return (
    <li className="grid grid-cols-[7rem_8rem_minmax(0,1fr)_auto_auto] items-center gap-x-4 gap-y-0.5 px-3.5 py-2 max-md:grid-cols-[minmax(0,1fr)_auto]">
      <span className="max-md:text-right">
        <Badge tone={tones[status]}>{status}</Badge>
      </span>
      <span className="font-medium max-md:order-first">{eventWords[event]}</span>
      <span className="min-w-0 wrap-anywhere max-md:col-span-2">
        {via === 'browser' ? `${to}'s browser` : to}
        {error !== undefined && <span className="block text-sm text-dim">{error}</span>}
      </span>
      <span className="text-right text-sm text-dim max-md:text-left">
        {formatAgo(createdAt, now)} · {pluralize(tries, 'try', 'tries')}
        {nextTryAt !== undefined && nextTryAt > now && ` · next in ${formatAge(nextTryAt - now)}`}
      </span>
      <span className="flex w-16 justify-end max-md:w-auto">
        {status === 'failed' && via === 'webhook' && (
          <Button size="small" disabled={retry.busy} onClick={() => retry.run({ deliveryId })}>
            Retry
          </Button>
        )}
      </span>
    </li>
  )
}
