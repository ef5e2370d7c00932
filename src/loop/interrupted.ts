import type { Usage } from '../contract/outcome.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import { addUsage } from './cost.ts'

type Interrupted = NonNullable<LiveIteration['interrupted']>

/** What to remember of an attempt that ended on request, in a session that can be resumed. */
export function interruptedIn(session: string, live: LiveIteration, usage: Usage): Interrupted {
  const { repair, interrupted: before, agent, startedAt, promptedAt = startedAt } = live
  const earlier = repair?.used ?? before?.used
  return {
    session,
    ...(agent !== undefined && { agent }),
    used: earlier ? addUsage(earlier, usage) : usage,
    // If it was interrupted again, the agent may not have read the messages of the first interruption.
    promptedAt: before?.promptedAt ?? promptedAt,
  }
}

/** Starts the next attempt: in the interrupted session if a user sent a message since, otherwise with a fresh context. */
export function beginAttempt(progress: Progress, live: LiveIteration, at: number): LiveIteration {
  const { interrupted, ...fresh } = live
  const goesOn = interrupted?.agent === live.agent && saidSince(progress, live).length > 0
  return { ...fresh, ...(goesOn && { interrupted }), stage: 'agent', promptedAt: at }
}

/** Messages that users sent since the prompt of the interrupted session. */
export const saidSince = ({ messages = [] }: Progress, { interrupted }: Pick<LiveIteration, 'interrupted'>) =>
  interrupted ? messages.filter(({ at }) => at > interrupted.promptedAt) : []
