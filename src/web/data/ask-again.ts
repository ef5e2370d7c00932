import type { Query, QueryClient } from '@tanstack/react-query'

/**
 * Asks again for what is shown, and forgets what is not shown. An answer that is still on its way may be older than this
 * moment too, but it is better than nothing: it is shown, and asked for once more when it is there.
 */
export function askAgain(cache: QueryClient, wanted: (query: Query) => boolean): void {
  for (const query of cache.getQueryCache().findAll({ predicate: wanted })) {
    const again = (): void => void cache.invalidateQueries({ queryKey: query.queryKey, exact: true })
    const isFirst = query.state.data === undefined && query.state.fetchStatus === 'fetching'
    if (isFirst && query.promise) query.promise.then(again, () => undefined)
    else again()
  }
}
