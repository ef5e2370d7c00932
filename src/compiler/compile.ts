import { isGoalDriven } from '../contract/way.ts'
import { type Settings, UserConfig } from '../contract/settings.ts'
import { Sprint } from '../contract/sprint.ts'
import { checkCompilation } from './check/check-compilation.ts'
import type { Compilation, CompileInput, CompileResult, DecodedFile } from './resolve/compilation.ts'
import { decodeFile } from './parse/decode.ts'
import { createDiagnosticCollector, type AddDiagnostic } from './parse/diagnostics.ts'
import { emitProgress } from './emit.ts'
import { expandPhases } from './expand/expand.ts'
import { readInitialSteps } from './expand/initial-steps.ts'
import { mergeHooks } from './expand/hooks.ts'
import { mergeSettings, applyLegacyConfig } from './resolve/merge-settings.ts'
import { parseYaml } from './parse/parse.ts'
import { createWorkflowLibrary, resolveWorkflow } from './resolve/resolve.ts'
import { resolveWorktree } from './expand/worktree.ts'

/** Compiles SPRINT.yaml and its workflows into the initial state of a sprint. Pure; never throws, whatever the text. */
export function compile(input: CompileInput): CompileResult {
  const { report, all, failed } = createDiagnosticCollector(input.sprint)
  const config = parseUserConfig(input, report)
  const sprint = parseSprintFile(input, report)
  const compilation = sprint && resolveMainWorkflow({ input, sprint, config, report })
  if (!compilation) return { diagnostics: all() }

  const goalDriven = isGoalDriven(compilation.main.value)
  const expansion = goalDriven ? undefined : expandPhases(compilation)
  const steps = goalDriven ? readInitialSteps(compilation) : []
  const hooks = mergeHooks(compilation)
  const worktree = resolveWorktree(compilation)
  checkCompilation(compilation, config)
  if (failed()) return { diagnostics: all() }
  return { progress: emitProgress(compilation, { hooks, worktree, steps, expansion }), diagnostics: all() }
}

function parseSprintFile({ sprint }: CompileInput, report: AddDiagnostic): DecodedFile<Sprint> | undefined {
  const { parsed, diagnostics } = parseYaml(sprint, 'SPRINT_LOAD_ERROR')
  for (const diagnostic of diagnostics) report(diagnostic)
  const value = parsed && decodeFile(parsed, { schema: Sprint, file: 'sprint', report })
  return value && { value, parsed }
}

function parseUserConfig({ userConfig }: CompileInput, report: AddDiagnostic): DecodedFile<Settings> | undefined {
  if (!userConfig) return undefined
  const { parsed, diagnostics } = parseYaml(userConfig, 'INVALID_FIELD')
  for (const diagnostic of diagnostics) report(diagnostic)
  if (!parsed || parsed.value === null) return undefined
  const value = decodeFile(parsed, { schema: UserConfig, file: 'config', report })
  return value && { value, parsed }
}

type MainWorkflowInput = {
  readonly input: CompileInput
  readonly sprint: DecodedFile<Sprint>
  readonly config: DecodedFile<Settings> | undefined
  readonly report: AddDiagnostic
}

function resolveMainWorkflow({ input, sprint, config, report }: MainWorkflowInput): Compilation | undefined {
  const library = createWorkflowLibrary(input.readWorkflow, report)
  const at = { parsed: sprint.parsed, path: ['workflow'] }
  const main = resolveWorkflow({ name: sprint.value.workflow, at, missing: 'MAIN_WORKFLOW_NOT_FOUND' }, library, report)
  if (!main) return undefined
  const settings = mergeSettings([applyLegacyConfig(sprint.value), main.value, config?.value])
  const sprintId = sprint.value.sprintId ?? input.defaultSprintId
  return { input, sprint, main, settings, library, sprintId, report }
}
