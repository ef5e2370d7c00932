import type { Usage } from '../../contract/outcome.ts'
import type { LiveIteration } from '../../contract/progress.ts'
import { mergeUsage } from './cost.ts'
import type { Sprint } from './sprint.ts'

type InterruptedSession = NonNullable<LiveIteration['interrupted']>

/** What to remember of an attempt that ended on request, in a session that can be resumed. */
export function createInterrupted(session: string, live: LiveIteration, usage: Usage): InterruptedSession {
  const { repair, interrupted: before, agent, startedAt, promptedAt = startedAt } = live
  const earlier = repair?.used ?? before?.used
  return {
    session,
    ...(agent !== undefined && { agent }),
    used: earlier ? mergeUsage(earlier, usage) : usage,
    // If it was interrupted again, the agent may not have read the messages of the first interruption.
    promptedAt: before?.promptedAt ?? promptedAt,
  }
}

/** Starts the next attempt: in the interrupted session if a user sent a message since, otherwise with a fresh context. */
export function startAttempt(sprint: Sprint, live: LiveIteration, at: number): LiveIteration {
  const { interrupted, ...fresh } = live
  const resumes = interrupted?.agent === live.agent && listMessagesSince(sprint, live).length > 0
  return { ...fresh, ...(resumes && { interrupted }), stage: 'agent', promptedAt: at }
}

/** Messages that users sent since the prompt of the interrupted session. */
export const listMessagesSince = (
  { inbox: { messages = [] } }: Sprint,
  { interrupted }: Pick<LiveIteration, 'interrupted'>,
) => (interrupted ? messages.filter(({ at }) => at > interrupted.promptedAt) : [])
