import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { api } from '../../data/api.ts'
import { eventsPageSize, keys, transcriptQuery } from '../../data/queries.ts'
import { recallEvents } from '../../data/recent-events.ts'
import {
  appendPage,
  appendToWindow,
  prependPage,
  type TranscriptScope,
  type TranscriptWindow,
} from '../../data/transcript-window.ts'

/** Loads the newest part, or the wanted one, at once; older and newer parts on demand, and new events as they arrive. */
export function useTranscript(sprintId: string, scope: TranscriptScope) {
  const cache = useQueryClient()
  const query = useQuery(transcriptQuery(sprintId, scope))
  const loading = useRef(false)
  const older = query.data?.older
  const newest = query.data?.detached === true ? query.data.events.at(-1)?.seq : undefined
  const load = useCallback(
    async (
      part: { readonly cursor?: string; readonly after?: number },
      join: (shown: TranscriptWindow, page: Awaited<ReturnType<typeof api.listEvents>>) => TranscriptWindow,
    ) => {
      if (loading.current) return
      loading.current = true
      try {
        const { at: _at, ...filter } = scope
        const page = await api.listEvents({ sprintId, ...filter, ...part, limit: eventsPageSize })
        cache.setQueryData<TranscriptWindow>(
          [...keys.events(sprintId), scope],
          (shown) => shown && appendToWindow(join(shown, page), recallEvents(sprintId), scope),
        )
      } finally {
        loading.current = false
      }
    },
    [cache, sprintId, scope],
  )
  const loadOlder = useCallback(async () => {
    if (older !== undefined) await load({ cursor: older }, prependPage)
  }, [load, older])
  const loadNewer = useCallback(async () => {
    if (newest !== undefined) await load({ after: newest }, appendPage)
  }, [load, newest])
  return { ...query, loadOlder, loadNewer }
}
