import type { Progress } from '../../contract/progress.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import type { OpenedSprint } from '../../host/open-sprint.ts'
import { missingVariable } from '../agents/missing-variable.ts'
import { isRootRefusal } from '../agents/root-refusal.ts'
import type { Io } from '../io/io.ts'

/**
 * Closes the question of an agent that was not signed in, missed a variable, or refused to work as root, so that `ralph run` continues without an answer.
 * No file tells reliably that the user has signed in (a keychain, a key in the environment), so the agent itself says it again:
 * that attempt is free. Only a variable that is still missing needs no attempt.
 */
export async function resumeAfterSignIn(
  { progress, store }: Pick<OpenedSprint, 'progress' | 'store'>,
  configured: Progress,
  io: Io,
): Promise<Progress> {
  const canRetry = progress.failure?.class === 'auth' || isRootRefusal(progress)
  if (progress.status !== 'needs-human' || !canRetry) return progress
  const variable = missingVariable(progress.humanNeeded?.reason ?? '')
  if (variable !== undefined && (io.env[variable] === undefined || !passes(configured, variable))) return progress
  const answered = { type: 'answered' as const, at: io.now(), answer: 'Fixed: the agent can work now.' }
  const next = applyFactToProgress(progress, answered)
  await store.save(next, answered)
  return next
}

const passes = ({ env }: Progress, variable: string): boolean =>
  (env?.pass ?? []).some((name) => (name.endsWith('*') ? variable.startsWith(name.slice(0, -1)) : name === variable))
