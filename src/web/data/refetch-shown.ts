import type { Query, QueryClient } from '@tanstack/react-query'

/**
 * Refetches what is shown, and drops what is not. An answer in flight may be older than this moment, but it is better
 * than nothing: show it, then refetch once more.
 */
export function refetchShown(cache: QueryClient, matches: (query: Query) => boolean): void {
  for (const query of cache.getQueryCache().findAll({ predicate: matches })) {
    const again = (): void => void cache.invalidateQueries({ queryKey: query.queryKey, exact: true })
    const isFirst = query.state.data === undefined && query.state.fetchStatus === 'fetching'
    if (isFirst && query.promise) query.promise.then(again, () => undefined)
    else again()
  }
}
