import { type Settings, UserConfig } from '../contract/settings.ts'
import { Sprint } from '../contract/sprint.ts'
import { check } from './check/check.ts'
import type { Compilation, CompileInput, CompileResult, FileOf } from './resolve/compilation.ts'
import { decode } from './parse/decode.ts'
import { collectDiagnostics, type Tell } from './parse/diagnostics.ts'
import { emit } from './emit.ts'
import { expand } from './expand/expand.ts'
import { givenSteps } from './expand/initial-steps.ts'
import { mergeHooks } from './expand/hooks.ts'
import { mergeSettings, withConfig } from './resolve/merge-settings.ts'
import { parse } from './parse/parse.ts'
import { openLibrary, resolve } from './resolve/resolve.ts'
import { worktreeOf } from './expand/worktree.ts'

/** Compiles SPRINT.yaml and its workflows into the initial state of a sprint. Pure; never throws, whatever the text. */
export function compile(input: CompileInput): CompileResult {
  const { tell, all, failed } = collectDiagnostics(input.sprint)
  const config = readConfig(input, tell)
  const sprint = readSprint(input, tell)
  const compilation = sprint && resolveMain({ input, sprint, config, tell })
  if (!compilation) return { diagnostics: all() }

  const goalDriven = compilation.main.value.mode === 'ralph'
  const expansion = goalDriven ? undefined : expand(compilation)
  const steps = goalDriven ? givenSteps(compilation) : []
  const hooks = mergeHooks(compilation)
  const worktree = worktreeOf(compilation)
  check(compilation, config)
  if (failed()) return { diagnostics: all() }
  return { progress: emit(compilation, { hooks, worktree, steps, expansion }), diagnostics: all() }
}

function readSprint({ sprint }: CompileInput, tell: Tell): FileOf<Sprint> | undefined {
  const { parsed, diagnostics } = parse(sprint, 'SPRINT_LOAD_ERROR')
  for (const diagnostic of diagnostics) tell(diagnostic)
  const value = parsed && decode(parsed, { schema: Sprint, file: 'sprint', tell })
  return value && { value, parsed }
}

function readConfig({ userConfig }: CompileInput, tell: Tell): FileOf<Settings> | undefined {
  if (!userConfig) return undefined
  const { parsed, diagnostics } = parse(userConfig, 'INVALID_FIELD')
  for (const diagnostic of diagnostics) tell(diagnostic)
  if (!parsed || parsed.value === null) return undefined
  const value = decode(parsed, { schema: UserConfig, file: 'config', tell })
  return value && { value, parsed }
}

type Read = {
  readonly input: CompileInput
  readonly sprint: FileOf<Sprint>
  readonly config: FileOf<Settings> | undefined
  readonly tell: Tell
}

function resolveMain({ input, sprint, config, tell }: Read): Compilation | undefined {
  const library = openLibrary(input.readWorkflow, tell)
  const at = { parsed: sprint.parsed, path: ['workflow'] }
  const main = resolve({ name: sprint.value.workflow, at, missing: 'MAIN_WORKFLOW_NOT_FOUND' }, library, tell)
  if (!main) return undefined
  const settings = mergeSettings([withConfig(sprint.value), main.value, config?.value])
  const sprintId = sprint.value.sprintId ?? input.defaultSprintId
  return { input, sprint, main, settings, library, sprintId, tell }
}
