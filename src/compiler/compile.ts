import type { Progress } from '../contract/progress.ts'
import { UserConfig } from '../contract/settings.ts'
import { Sprint } from '../contract/sprint.ts'
import { decode } from './decode.ts'
import { type Diagnostic, isError, type Source } from './diagnostics.ts'
import { emit } from './emit.ts'
import { mergeHooks } from './hooks.ts'
import { mergeSettings } from './merge-settings.ts'
import { errorAt, parse, type Parsed } from './parse.ts'
import { isWorkflowName, type LoadedWorkflow, openLibrary } from './resolve.ts'

export type { Diagnostic, Source } from './diagnostics.ts'

export type KnownAgent = {
  /** Names that the driver takes; `*` at the end stands for any rest. Absent: any name. */
  readonly models?: readonly string[]
  readonly slashCommands: boolean
}

export type CompileInput = {
  readonly sprint: Source
  /** The workflow of that name, of the project or bundled; undefined if there is none. Only asked for plain names. */
  readonly readWorkflow: (name: string) => Source | undefined
  /** Used when SPRINT.yaml gives none. */
  readonly defaultSprintId: string
  /** Now, for `added-at` of given steps. */
  readonly at: number
  /** `~/.ralph/config.yaml`: settings of the lowest precedence. */
  readonly userConfig?: Source
  /** The drivers there are. Absent: names of agents and models are not checked. */
  readonly agents?: ReadonlyMap<string, KnownAgent>
  /** Warnings about template variables become errors. */
  readonly strict?: boolean
}

/** `progress` is absent exactly if one of the diagnostics is an error. */
export type CompileResult = { readonly progress?: Progress; readonly diagnostics: readonly Diagnostic[] }

/** SPRINT.yaml and the workflows it names -> the state of a sprint that has not begun. Pure; never throws for any text. */
export function compile(input: CompileInput): CompileResult {
  const config = readConfig(input.userConfig)
  const diagnostics: Diagnostic[] = [...config.diagnostics]
  const finish = (progress?: Progress): CompileResult =>
    progress && !diagnostics.some(isError) ? { progress, diagnostics } : { diagnostics }

  const read = parse(input.sprint, 'SPRINT_LOAD_ERROR')
  diagnostics.push(...read.diagnostics)
  if (!read.parsed) return finish()
  const sprint = decode(Sprint, read.parsed, 'sprint')
  diagnostics.push(...sprint.diagnostics)
  if (!sprint.value) return finish()

  const main = findMain(sprint.value, read.parsed, input)
  diagnostics.push(...main.diagnostics)
  if (!main.workflow || !main.parsed) return finish()

  const merged = mergeHooks({
    sprint: { value: sprint.value, parsed: read.parsed },
    workflow: { value: main.workflow, parsed: main.parsed },
  })
  diagnostics.push(...merged.diagnostics)
  const settings = mergeSettings([sprint.value, main.workflow, config.value])
  if ((sprint.value.goal ?? '').trim() === '')
    diagnostics.push(
      errorAt(read.parsed, {
        path: ['goal'],
        code: 'RALPH_MISSING_GOAL',
        message: 'Ralph mode requires goal field in SPRINT.yaml',
      }),
    )
  return finish(
    emit({
      sprint: sprint.value,
      workflow: main.workflow,
      settings,
      hooks: merged.hooks.map(({ hook }) => hook),
      sprintId: sprint.value.sprintId ?? input.defaultSprintId,
      at: input.at,
    }),
  )
}

function readConfig(source: Source | undefined) {
  const { parsed, diagnostics } = source ? parse(source, 'INVALID_FIELD') : { parsed: undefined, diagnostics: [] }
  if (!parsed || parsed.value === null) return { diagnostics }
  return decode(UserConfig, parsed, 'config')
}

type Main = Partial<LoadedWorkflow> & { readonly diagnostics: readonly Diagnostic[] }

function findMain(sprint: Sprint, parsed: Parsed, input: CompileInput): Main {
  const name = sprint.workflow
  const fail = (code: 'INVALID_WORKFLOW_NAME' | 'MAIN_WORKFLOW_NOT_FOUND', message: string, hint: string) => ({
    diagnostics: [errorAt(parsed, { path: ['workflow'], code, message, hint })],
  })
  if (!isWorkflowName(name))
    return fail('INVALID_WORKFLOW_NAME', `"${name}" is not the name of a workflow`, 'give a file name without folders')
  const library = openLibrary(input.readWorkflow)
  const found = library.load(name)
  if (!found)
    return fail(
      'MAIN_WORKFLOW_NOT_FOUND',
      `There is no workflow "${name}"`,
      `put it into .claude/workflows/${name}.yaml, or use the bundled one with "workflow: ralph"`,
    )
  return { ...found, diagnostics: library.diagnostics() }
}
