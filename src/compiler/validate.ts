import { isGoalDriven } from '../contract/way.ts'
import { checkCompilation } from './check/check-compilation.ts'
import type { Compilation, CompileInput } from './resolve/compilation.ts'
import { createDiagnosticCollector, type Diagnostic, type Source, type AddDiagnostic } from './parse/diagnostics.ts'
import { expandPhases } from './expand/expand.ts'
import { mergeHooks } from './expand/hooks.ts'
import { mergeSettings } from './resolve/merge-settings.ts'
import { parseYaml } from './parse/parse.ts'
import {
  type WorkflowLibrary,
  type LoadedWorkflow,
  createWorkflowLibrary,
  readWorkflowFile,
} from './resolve/resolve.ts'
import { resolveWorktree } from './expand/worktree.ts'
import type { Workflow } from '../contract/workflow.ts'

export type ValidateOptions = Partial<Pick<CompileInput, 'readWorkflow' | 'agents' | 'strict' | 'notHonoured'>>

/** Validates a workflow without a sprint. Without `readWorkflow`, referenced workflows are not checked. */
export function validateWorkflow(
  source: Source,
  options: ValidateOptions = {},
): { readonly valid: boolean; readonly diagnostics: readonly Diagnostic[] } {
  const { report, all, failed } = createDiagnosticCollector(source)
  const file = readWorkflowFile(source, { report, syntax: 'YAML_PARSE_ERROR' })
  if (file) checkWithPlaceholder({ ...file, name: parseWorkflowName(source) }, options, report)
  return { valid: !failed(), diagnostics: all() }
}

const parseWorkflowName = ({ file }: Source): string => file.replace(/^.*[/\\]/, '').replace(/\.ya?ml$/, '')

/** Checks a workflow against a placeholder sprint that satisfies it; diagnostics about that sprint are dropped. */
function checkWithPlaceholder(main: LoadedWorkflow, options: ValidateOptions, report: AddDiagnostic): void {
  const sprint = createPlaceholderSprint(main.value)
  if (!sprint) return
  const tellAboutWorkflow: AddDiagnostic = (found) =>
    found.place?.file === placeholderSource.file ? undefined : report(found)
  const compilation: Compilation = {
    input: { ...options, sprint: placeholderSource, readWorkflow: () => undefined, defaultSprintId: 'sprint', at: 0 },
    sprint,
    main,
    settings: mergeSettings([main.value]),
    library: extendLibrary(main, options, tellAboutWorkflow),
    sprintId: 'sprint',
    anyItemField: true,
    isItemWorkflow: !(main.value.phases ?? []).some(({ forEach }) => forEach !== undefined),
    report: tellAboutWorkflow,
  }
  if (!isGoalDriven(main.value)) expandPhases(compilation)
  mergeHooks(compilation)
  resolveWorktree(compilation)
  checkCompilation(compilation, undefined)
}

const placeholderSource: Source = { file: '<sprint>', text: '{}' }

function createPlaceholderSprint({ phases, name }: Workflow): Compilation['sprint'] | undefined {
  const { parsed } = parseYaml(placeholderSource, 'SPRINT_LOAD_ERROR')
  const names = (phases ?? []).flatMap(({ forEach, collection }) =>
    forEach === undefined ? [] : [collection ?? forEach],
  )
  const item = { prompt: 'x', fields: { prompt: 'x' } }
  const collections = names.length === 0 ? {} : { collections: Object.fromEntries(names.map((each) => [each, [item]])) }
  return parsed && { value: { workflow: name, goal: 'x', ...collections }, parsed }
}

function extendLibrary(
  main: LoadedWorkflow,
  { readWorkflow }: ValidateOptions,
  report: AddDiagnostic,
): WorkflowLibrary {
  const others = readWorkflow && createWorkflowLibrary(readWorkflow, report)
  return { load: (name) => (name === main.name ? main : others ? others.load(name) : 'broken') }
}
