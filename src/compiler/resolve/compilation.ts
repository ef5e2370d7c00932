import type { Progress } from '../../contract/progress.ts'
import type { Sprint } from '../../contract/sprint.ts'
import type { Workflow } from '../../contract/workflow.ts'
import type { Diagnostic, Source, AddDiagnostic } from '../parse/diagnostics.ts'
import type { MergedSettings } from './merge-settings.ts'
import type { ParsedFile } from '../parse/parse.ts'
import type { WorkflowLibrary } from './resolve.ts'

export type KnownAgent = {
  /** Model names that the driver accepts; a trailing `*` matches any rest. Absent: any name. */
  readonly models?: readonly string[]
  readonly slashCommands: boolean
}

/** Not every known name can be listed: a family such as `command:…` accepts any name. */
export type KnownAgents = Pick<ReadonlyMap<string, KnownAgent>, 'has' | 'get' | 'keys' | 'values'>

export type CompileInput = {
  readonly sprint: Source
  /** Returns the project's or the bundled workflow of that name. Called with plain names only. */
  readonly readWorkflow: (name: string) => Source | undefined
  /** Used if SPRINT.yaml sets no id. */
  readonly defaultSprintId: string
  /** Current time, for `added-at` of initial steps and for dates that the sprint id does not contain. */
  readonly at: number
  /** `~/.ralph/config.yaml`: settings with the lowest precedence. */
  readonly userConfig?: Source
  /** The available drivers. Absent: agent and model names are not checked. */
  readonly agents?: KnownAgents
  /** Fields that this program does not support yet, such as `review`, and why: refused where they are written. */
  readonly notHonoured?: ReadonlyMap<string, string>
  /** Treat unknown template variables as errors. */
  readonly strict?: boolean
}

/** `progress` is absent if and only if a diagnostic is an error. */
export type CompileResult = { readonly progress?: Progress; readonly diagnostics: readonly Diagnostic[] }

export type DecodedFile<T> = { readonly value: T; readonly parsed: ParsedFile }

/** Input of all stages after `resolve`. */
export type Compilation = {
  readonly input: CompileInput
  readonly sprint: DecodedFile<Sprint>
  readonly main: DecodedFile<Workflow> & { readonly name: string }
  readonly settings: MergedSettings
  readonly library: WorkflowLibrary
  readonly sprintId: string
  /** The items are placeholders, so their fields are unknown. */
  readonly anyItemField?: boolean
  /** The workflow may be meant for items, whose objects only the sprint knows. */
  readonly isItemWorkflow?: boolean
  readonly report: AddDiagnostic
}

/** The sprint id without its date. */
export const getSprintName = (sprintId: string): string => sprintId.replace(/^\d{4}-\d{2}-\d{2}_/, '')
