import type { QueryClient } from '@tanstack/react-query'
import type { FleetRow } from '../../contract/fleet/agent.ts'
import type { FleetChange, StoredEvent } from '../../contract/fleet/event.ts'
import type { Machine } from '../../contract/fleet/machine.ts'
import type { AgentPrompt } from '../../contract/fleet/prompt.ts'
import type { SprintQuestion } from '../../contract/fleet/question.ts'
import type { FleetSprint } from '../../contract/fleet/sprint.ts'
import { refetchShown } from './refetch-shown.ts'
import { keys } from './queries.ts'
import { hasHole, rememberEvents } from './recent-events.ts'
import { appendToWindow, type TranscriptScope, type TranscriptWindow } from './transcript-window.ts'

/** Writes a change into the query cache. Data that no page has loaded is skipped: it will be fetched complete. */
export function applyChanges(cache: QueryClient, changes: readonly FleetChange[]): void {
  if (changes.some(({ type }) => type === 'start-over')) {
    refetchShown(cache, () => true)
    return
  }
  for (const change of changes) if (change.type !== 'event') applyChange(cache, change)
  applyEvents(
    cache,
    changes.flatMap((change) => (change.type === 'event' ? [change.event] : [])),
  )
}

function applyChange(cache: QueryClient, change: Exclude<FleetChange, { type: 'event' }>): void {
  switch (change.type) {
    case 'agent':
      cache.setQueryData<readonly FleetRow[]>(keys.agents, (rows) => rows && upsert(rows, change.row, agentRowId))
      cache.setQueryData<FleetRow>(keys.agent(change.row.agent.id), (row) => row && change.row)
      break
    case 'agent-gone':
      cache.setQueryData<readonly FleetRow[]>(keys.agents, (rows) =>
        rows?.filter((row) => agentRowId(row) !== change.agentId),
      )
      void cache.invalidateQueries({ queryKey: keys.agent(change.agentId) })
      break
    case 'prompt':
      cache.setQueryData<readonly AgentPrompt[]>(
        keys.prompts(change.prompt.agentId),
        (prompts) => prompts && upsert(prompts, change.prompt, ({ id }) => id),
      )
      if (change.prompt.status === 'finished')
        void cache.invalidateQueries({ queryKey: ['conversations', change.prompt.agentId] })
      break
    case 'machine':
      cache.setQueryData<readonly Machine[]>(
        keys.machines,
        (machines) => machines && upsert(machines, change.machine, ({ id }) => id),
      )
      break
    case 'question':
      cache.setQueryData<readonly SprintQuestion[]>(
        keys.questions,
        (questions) => questions && upsert(questions, change.question, ({ id }) => id),
      )
      break
    case 'sprint':
      refreshSprint(cache, change)
      break
    case 'here':
    case 'start-over':
      break
  }
}

function refreshSprint(
  cache: QueryClient,
  { sprintId, agentId, rev }: { sprintId: string; agentId: string; rev: number },
) {
  void cache.invalidateQueries({ queryKey: ['sprints', agentId] })
  const shown = cache.getQueryData<FleetSprint>(keys.sprint(sprintId))
  if (shown === undefined || shown.rev >= rev) return
  void cache.invalidateQueries({ queryKey: keys.sprint(sprintId) })
}

function applyEvents(cache: QueryClient, events: readonly StoredEvent[]): void {
  for (const sprintId of new Set(events.flatMap((event) => event.sprintId ?? []))) {
    const ofSprint = events.filter((event) => event.sprintId === sprintId)
    rememberEvents(sprintId, ofSprint)
    for (const query of cache.getQueryCache().findAll({ queryKey: keys.events(sprintId) })) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- keys of events end with their scope
      const scope = query.queryKey.at(-1) as TranscriptScope
      cache.setQueryData<TranscriptWindow>(query.queryKey, (shown) => shown && appendToWindow(shown, ofSprint, scope))
      const window = cache.getQueryData<TranscriptWindow>(query.queryKey)
      if (window && hasHole(window, scope)) void cache.invalidateQueries({ queryKey: query.queryKey, exact: true })
    }
    const lastEventAt = ofSprint.at(-1)?.at
    cache.setQueryData<FleetSprint>(keys.sprint(sprintId), (sprint) => sprint && { ...sprint, lastEventAt })
    if (ofSprint.some(({ event }) => event.type === 'iteration-ended')) {
      void cache.invalidateQueries({ queryKey: keys.iterations(sprintId) })
      void cache.invalidateQueries({ queryKey: keys.diff(sprintId) })
    }
  }
}

const agentRowId = (row: FleetRow): string => row.agent.id

function upsert<T>(items: readonly T[], item: T, getId: (item: T) => string): readonly T[] {
  const index = items.findIndex((other) => getId(other) === getId(item))
  return index < 0 ? [item, ...items] : items.with(index, item)
}
