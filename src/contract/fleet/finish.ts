import { z } from 'zod'
import { requiredText } from './page.ts'

/** What a commit of a sprint would contain in one repository, and what it would leave out. */
export const FinishableRepository = z.object({
  root: z.string(),
  /** Absent: detached HEAD. */
  branch: z.string().optional(),
  files: z.array(z.object({ path: z.string(), added: z.int(), removed: z.int() })),
  /** Files that are not listed here. */
  moreFiles: z.int(),
  /** The user had changed these before the sprint; the commit contains both changes. */
  mixed: z.array(z.string()),
  /** Not in the commit: the user had changed these before the sprint. */
  untouched: z.array(z.string()),
  /** Not in the commit: changed after the last iteration. */
  edited: z.array(z.string()),
  /** A later commit also changed these, so only a new branch is possible. */
  conflicts: z.array(z.string()),
})
export type FinishableRepository = z.output<typeof FinishableRepository>

export const FinishPlan = z.object({ repositories: z.array(FinishableRepository) })
export type FinishPlan = z.output<typeof FinishPlan>

export const FinishSprint = z.strictObject({
  message: requiredText,
  branch: z.string().min(1).max(200).optional().describe('A new branch; absent: the current one'),
})
export type FinishSprint = z.output<typeof FinishSprint>

export const FinishedRepository = z.object({
  root: z.string(),
  branch: z.string().optional(),
  commit: z.string(),
  /** The user had staged these in another version, which stays in the index. */
  staged: z.array(z.string()),
})
export const FinishedSprint = z.object({ commits: z.array(FinishedRepository) })
export type FinishedSprint = z.output<typeof FinishedSprint>
