import { check } from './check/check.ts'
import type { Compilation, CompileInput } from './resolve/compilation.ts'
import { collectDiagnostics, type Diagnostic, type Source, type Tell } from './parse/diagnostics.ts'
import { expand } from './expand/expand.ts'
import { mergeHooks } from './expand/hooks.ts'
import { mergeSettings } from './resolve/merge-settings.ts'
import { parse } from './parse/parse.ts'
import { type Library, type LoadedWorkflow, openLibrary, readOne } from './resolve/resolve.ts'
import { worktreeOf } from './expand/worktree.ts'
import type { Workflow } from '../contract/workflow.ts'

export type ValidateOptions = Partial<Pick<CompileInput, 'readWorkflow' | 'agents' | 'strict' | 'notHonoured'>>

/** Validates a workflow without a sprint. Without `readWorkflow`, referenced workflows are not checked. */
export function validateWorkflow(
  source: Source,
  options: ValidateOptions = {},
): { readonly valid: boolean; readonly diagnostics: readonly Diagnostic[] } {
  const { tell, all, failed } = collectDiagnostics(source)
  const file = readOne(source, { tell, syntax: 'YAML_PARSE_ERROR' })
  if (file) judge({ ...file, name: nameOf(source) }, options, tell)
  return { valid: !failed(), diagnostics: all() }
}

const nameOf = ({ file }: Source): string => file.replace(/^.*[/\\]/, '').replace(/\.ya?ml$/, '')

/** Checks a workflow against a placeholder sprint that satisfies it; diagnostics about that sprint are dropped. */
function judge(main: LoadedWorkflow, options: ValidateOptions, tell: Tell): void {
  const sprint = imaginedSprint(main.value)
  if (!sprint) return
  const about: Tell = (found) => (found.place?.file === imagined.file ? undefined : tell(found))
  const compilation: Compilation = {
    input: { ...options, sprint: imagined, readWorkflow: () => undefined, defaultSprintId: 'sprint', at: 0 },
    sprint,
    main,
    settings: mergeSettings([main.value]),
    library: libraryWith(main, options, about),
    sprintId: 'sprint',
    anyItemField: true,
    tell: about,
  }
  if (main.value.mode !== 'ralph') expand(compilation)
  mergeHooks(compilation)
  worktreeOf(compilation)
  check(compilation, undefined)
}

const imagined: Source = { file: '<sprint>', text: '{}' }

function imaginedSprint({ phases, name }: Workflow): Compilation['sprint'] | undefined {
  const { parsed } = parse(imagined, 'SPRINT_LOAD_ERROR')
  const names = (phases ?? []).flatMap(({ forEach, collection }) =>
    forEach === undefined ? [] : [collection ?? forEach],
  )
  const item = { prompt: 'x', fields: { prompt: 'x' } }
  const collections = names.length === 0 ? {} : { collections: Object.fromEntries(names.map((each) => [each, [item]])) }
  return parsed && { value: { workflow: name, goal: 'x', ...collections }, parsed }
}

function libraryWith(main: LoadedWorkflow, { readWorkflow }: ValidateOptions, tell: Tell): Library {
  const others = readWorkflow && openLibrary(readWorkflow, tell)
  return { load: (name) => (name === main.name ? main : others ? others.load(name) : 'broken') }
}
