import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { api } from '../../data/api.ts'
import { keys } from '../../data/queries.ts'
import { opened, prepended, type Scope, type TranscriptWindow } from '../../data/transcript-window.ts'

const pageSize = 200

/** The newest part at once, older parts when they are wanted, new events as they come. */
export function useTranscript(sprintId: string, scope: Scope) {
  const cache = useQueryClient()
  const queryKey = [...keys.events(sprintId), scope]
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<TranscriptWindow> =>
      opened(await api.listEvents({ sprintId, ...scope, limit: pageSize }, { signal })),
    structuralSharing: false,
    gcTime: 60_000,
  })
  const loading = useRef(false)
  const older = query.data?.older
  const loadOlder = useCallback(async () => {
    if (older === undefined || loading.current) return
    loading.current = true
    try {
      const page = await api.listEvents({ sprintId, ...scope, cursor: older, limit: pageSize })
      cache.setQueryData<TranscriptWindow>(
        [...keys.events(sprintId), scope],
        (shown) => shown && prepended(shown, page),
      )
    } finally {
      loading.current = false
    }
  }, [cache, sprintId, scope, older])
  return { ...query, loadOlder }
}
