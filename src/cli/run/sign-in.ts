import { join } from 'node:path'
import { getDriver } from '../../agents/drivers/registry.ts'
import type { Progress } from '../../contract/progress.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import type { OpenedSprint } from '../../host/open-sprint.ts'
import { modifiedAt } from '../../platform/files/files.ts'
import { missingVariable } from '../agents/missing-variable.ts'
import type { Io } from '../io/io.ts'

/**
 * Closes the question of an agent that was not signed in, or missed a variable, once the user has fixed that: `ralph run` then
 * continues without an answer. Starts no program: a newer credentials file or a variable is the sign.
 */
export async function resumeAfterSignIn(
  { progress, store }: Pick<OpenedSprint, 'progress' | 'store'>,
  configured: Progress,
  io: Io,
): Promise<Progress> {
  if (progress.status !== 'needs-human' || progress.failure?.class !== 'auth') return progress
  if (!isFixed(progress, configured, io)) return progress
  const answered = { type: 'answered' as const, at: io.now(), answer: 'Fixed: the agent can work now.' }
  const next = applyFactToProgress(progress, answered)
  await store.save(next, answered)
  return next
}

function isFixed({ humanNeeded, live, runAgents = [] }: Progress, configured: Progress, io: Io): boolean {
  const variable = missingVariable(humanNeeded?.reason ?? '')
  if (variable !== undefined) return io.env[variable] !== undefined && passes(configured, variable)
  const name = live[0]?.agent ?? runAgents[0]
  const login = name === undefined ? undefined : getDriver(name).about?.login
  const files = [...(login?.files ?? []), ...(login?.credentials ?? [])]
  const askedAt = humanNeeded?.askedAt ?? Infinity
  return files.some((file) => (modifiedAt(join(io.env['HOME'] ?? '/', file)) ?? 0) > askedAt)
}

const passes = ({ env }: Progress, variable: string): boolean =>
  (env?.pass ?? []).some((name) => (name.endsWith('*') ? variable.startsWith(name.slice(0, -1)) : name === variable))
