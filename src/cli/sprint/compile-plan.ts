import type { Diagnostic } from '../../compiler/parse/diagnostics.ts'
import type { Progress } from '../../contract/progress.ts'
import { exists } from '../../platform/files/files.ts'
import { sprintPath } from '../../storage/state/sprint-folder.ts'
import type { Io } from '../io/io.ts'
import { compileSprint } from './compile-sprint.ts'
import { loadProgress } from './sprint-state.ts'

export type SprintPlan = {
  /** The compiled SPRINT.yaml; undefined if the sprint has run and its SPRINT.yaml is gone. */
  readonly compiled: Progress | undefined
  /** Has the agent, review and sandbox of the next run. */
  readonly configured: Progress
}

type PlanOptions = {
  readonly sprintDir: string
  readonly workflows?: string | undefined
  readonly strict?: boolean | undefined
}

/** Compiles the plan of a sprint. `plan` is absent if a diagnostic is an error. */
export async function compilePlan(
  options: PlanOptions,
  io: Io,
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly plan?: SprintPlan }> {
  const { sprintDir } = options
  // A PROGRESS.yaml from elsewhere can run without its SPRINT.yaml.
  const before = exists(sprintPath(sprintDir)) ? undefined : await loadProgress(sprintDir)
  if (before && before.status !== 'not-started')
    return { diagnostics: [], plan: { compiled: undefined, configured: before } }
  const { progress: compiled, diagnostics } = await compileSprint(sprintDir, options, io)
  return compiled ? { diagnostics, plan: { compiled, configured: compiled } } : { diagnostics }
}
