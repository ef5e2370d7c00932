import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { api } from '../../data/api.ts'
import { eventsPageSize, keys, transcriptQuery } from '../../data/queries.ts'
import { prependPage, type TranscriptScope, type TranscriptWindow } from '../../data/transcript-window.ts'

/** Loads the newest part at once, older parts on demand, and new events as they arrive. */
export function useTranscript(sprintId: string, scope: TranscriptScope) {
  const cache = useQueryClient()
  const query = useQuery(transcriptQuery(sprintId, scope))
  const loading = useRef(false)
  const older = query.data?.older
  const loadOlder = useCallback(async () => {
    if (older === undefined || loading.current) return
    loading.current = true
    try {
      const page = await api.listEvents({ sprintId, ...scope, cursor: older, limit: eventsPageSize })
      cache.setQueryData<TranscriptWindow>(
        [...keys.events(sprintId), scope],
        (shown) => shown && prependPage(shown, page),
      )
    } finally {
      loading.current = false
    }
  }, [cache, sprintId, scope, older])
  return { ...query, loadOlder }
}
