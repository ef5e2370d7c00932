import type { Usage } from '../contract/outcome.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import { addUsage } from './cost.ts'

type Interrupted = NonNullable<LiveIteration['interrupted']>

/** What is kept of an attempt that was ended on request in a session that can be gone on with. */
export function interruptedIn(session: string, live: LiveIteration, usage: Usage): Interrupted {
  const { repair, interrupted: before, agent, startedAt, promptedAt = startedAt } = live
  const earlier = repair?.used ?? before?.used
  return {
    session,
    ...(agent !== undefined && { agent }),
    used: earlier ? addUsage(earlier, usage) : usage,
    // Interrupted again, it may not have read what it was told the first time.
    promptedAt: before?.promptedAt ?? promptedAt,
  }
}

/** The next attempt begins: in the interrupted session if a person has said something since, else with a fresh context. */
export function beginAttempt(progress: Progress, live: LiveIteration, at: number): LiveIteration {
  const { interrupted, ...fresh } = live
  const goesOn = interrupted?.agent === live.agent && saidSince(progress, live).length > 0
  return { ...fresh, ...(goesOn && { interrupted }), stage: 'agent', promptedAt: at }
}

/** What people have said since the prompt of the session that was interrupted. */
export const saidSince = ({ messages = [] }: Progress, { interrupted }: Pick<LiveIteration, 'interrupted'>) =>
  interrupted ? messages.filter(({ at }) => at > interrupted.promptedAt) : []
