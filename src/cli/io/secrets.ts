import type { Redact } from '../../contract/redact.ts'
import { redactorFor } from '../../storage/accounts/secrets.ts'
import { projectOf } from '../../storage/state/sprint-folder.ts'
import type { Io } from './io.ts'

/** What to leave out of a sprint, for those who look at it from outside. */
export const redactFor = (sprintDir: string, { cwd, env }: Pick<Io, 'env' | 'cwd'>): Redact =>
  redactorFor(projectOf(sprintDir, cwd), env)()
