import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { FleetSprint } from '../../contract/fleet/sprint.ts'
import { keys } from '../data/queries.ts'

/** Opens the start dialog for the agent on screen. On pages without one, the dialog preselects no agent. */
export function useOpenStart(): () => void {
  const navigate = useNavigate()
  const cache = useQueryClient()
  const { agentId, sprintId } = useParams({ strict: false })
  return useCallback(() => {
    const shown = sprintId === undefined ? undefined : cache.getQueryData<FleetSprint>(keys.sprint(sprintId))
    const start = agentId ?? shown?.agentId ?? 'any'
    void navigate({ to: '.', search: (all) => ({ ...all, start }), resetScroll: false })
  }, [navigate, cache, agentId, sprintId])
}
