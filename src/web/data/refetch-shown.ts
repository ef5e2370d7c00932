import type { Query, QueryClient } from '@tanstack/react-query'

/** Queries whose first answer is awaited before they are refetched: several reasons to refetch need only one request. */
const awaited = new WeakSet<Query>()

/**
 * Refetches what is shown, and drops what is not. An answer in flight may be older than this moment, but it is better
 * than nothing: show it, then refetch once more.
 */
export function refetchShown(cache: QueryClient, matches: (query: Query) => boolean): void {
  for (const query of cache.getQueryCache().findAll({ predicate: matches })) {
    if (awaited.has(query)) continue
    const again = (): void => {
      awaited.delete(query)
      void cache.invalidateQueries({ queryKey: query.queryKey, exact: true })
    }
    const isFirst = query.state.data === undefined && query.state.fetchStatus === 'fetching'
    if (!isFirst || !query.promise) {
      again()
      continue
    }
    awaited.add(query)
    query.promise.then(again, () => awaited.delete(query))
  }
}
