import { isErrorDiagnostic, type Diagnostic } from '../../compiler/parse/diagnostics.ts'
import type { Progress } from '../../contract/progress.ts'
import { exists } from '../../platform/files/files.ts'
import { sprintPath } from '../../storage/state/sprint-folder.ts'
import type { Io } from '../io/io.ts'
import { compileSprint } from './compile-sprint.ts'
import { loadProgress } from './sprint-state.ts'

export type SprintPlan = {
  /** The compiled SPRINT.yaml; undefined if only the state of an earlier compilation is left. */
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
  if (compiled) return { diagnostics, plan: { compiled, configured: compiled } }
  const pinned = isWorkflowGone(diagnostics) ? await loadProgress(sprintDir) : undefined
  if (!pinned) return { diagnostics }
  return { diagnostics: diagnostics.map(toPinnedPlanWarning), plan: { compiled: undefined, configured: pinned } }
}

/** The state of a compiled sprint holds everything its workflows said, as PROGRESS.yaml of the seeds does. */
const isWorkflowGone = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.filter(isErrorDiagnostic).every(({ code }) => code.endsWith('WORKFLOW_NOT_FOUND'))

const toPinnedPlanWarning = (diagnostic: Diagnostic): Diagnostic =>
  isErrorDiagnostic(diagnostic)
    ? {
        ...diagnostic,
        severity: 'warning',
        hint: 'the sprint keeps its compiled plan; changes of SPRINT.yaml take effect when the workflow is back',
      }
    : diagnostic
