import type { Redact } from '../../contract/redact.ts'
import { redactorFor } from '../../storage/accounts/secrets.ts'
import { projectOf } from '../../storage/state/sprint-folder.ts'
import type { Io } from './io.ts'

/** The secrets to redact when showing a sprint. */
export const redactFor = (sprintDir: string, { cwd, env }: Pick<Io, 'env' | 'cwd'>): Redact =>
  redactorFor(projectOf(sprintDir, cwd), env)()
