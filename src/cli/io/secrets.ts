import type { Redact } from '../../contract/secrets/redact.ts'
import { createProjectRedactor } from '../../storage/accounts/secrets.ts'
import { findProject } from '../../storage/state/sprint-folder.ts'
import type { Io } from './io.ts'

/** The secrets to redact when showing a sprint. */
export const createSprintRedactor = (sprintDir: string, { cwd, env }: Pick<Io, 'env' | 'cwd'>): Redact =>
  createProjectRedactor(findProject(sprintDir, cwd), env)()
