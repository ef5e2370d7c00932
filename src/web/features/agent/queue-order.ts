import type { AgentPrompt } from '../../../contract/fleet/prompt.ts'

export type OrderedPrompts = {
  readonly running: readonly AgentPrompt[]
  readonly queued: readonly AgentPrompt[]
  readonly ended: readonly AgentPrompt[]
}

/** The running prompt, waiting ones in order, and finished ones, newest first. */
export function orderPrompts(prompts: readonly AgentPrompt[]): OrderedPrompts {
  const by = (...statuses: readonly AgentPrompt['status'][]): AgentPrompt[] =>
    prompts.filter(({ status }) => statuses.includes(status))
  return {
    running: by('running', 'parked'),
    queued: by('queued').toSorted((a, b) => a.position - b.position),
    ended: by('finished', 'failed', 'cancelled').toSorted(
      (a, b) => (b.endedAt ?? b.createdAt) - (a.endedAt ?? a.createdAt),
    ),
  }
}

/** The prompt to move this one in front of; null: to the end, undefined: it cannot move. */
export function findMoveTarget(
  queued: readonly AgentPrompt[],
  id: string,
  direction: 'up' | 'down',
): string | null | undefined {
  const index = queued.findIndex((prompt) => prompt.id === id)
  if (index < 0) return undefined
  if (direction === 'up') return index === 0 ? undefined : queued[index - 1]?.id
  if (index === queued.length - 1) return undefined
  return queued[index + 2]?.id ?? null
}
