import type { Progress } from '../../contract/progress.ts'
import type { Sprint } from '../../contract/sprint.ts'
import type { Workflow } from '../../contract/workflow.ts'
import type { Diagnostic, Source, Tell } from '../parse/diagnostics.ts'
import type { MergedSettings } from './merge-settings.ts'
import type { Parsed } from '../parse/parse.ts'
import type { Library } from './resolve.ts'

export type KnownAgent = {
  /** Names that the driver takes; `*` at the end stands for any rest. Absent: any name. */
  readonly models?: readonly string[]
  readonly slashCommands: boolean
}

/** More names than can be listed may be known: of a family, such as `command:…`, any one. */
export type KnownAgents = Pick<ReadonlyMap<string, KnownAgent>, 'has' | 'get' | 'keys' | 'values'>

export type CompileInput = {
  readonly sprint: Source
  /** The workflow of that name, of the project or bundled; undefined if there is none. Only asked for plain names. */
  readonly readWorkflow: (name: string) => Source | undefined
  /** Used when SPRINT.yaml gives none. */
  readonly defaultSprintId: string
  /** Now: for `added-at` of given steps, and for dates that the sprint id does not tell. */
  readonly at: number
  /** `~/.ralph/config.yaml`: settings of the lowest precedence. */
  readonly userConfig?: Source
  /** The drivers there are. Absent: names of agents and models are not checked. */
  readonly agents?: KnownAgents
  /** Fields that this program does not honour (yet), such as `review`, and why: refused where they are written. */
  readonly notHonoured?: ReadonlyMap<string, string>
  /** Unknown template variables are errors. */
  readonly strict?: boolean
}

/** `progress` is absent exactly if one of the diagnostics is an error. */
export type CompileResult = { readonly progress?: Progress; readonly diagnostics: readonly Diagnostic[] }

export type FileOf<T> = { readonly value: T; readonly parsed: Parsed }

/** What all stages after `resolve` work on. */
export type Compilation = {
  readonly input: CompileInput
  readonly sprint: FileOf<Sprint>
  readonly main: FileOf<Workflow> & { readonly name: string }
  readonly settings: MergedSettings
  readonly library: Library
  readonly sprintId: string
  /** The items are imagined: nothing can be said about the fields that they have. */
  readonly anyItemField?: boolean
  readonly tell: Tell
}

/** The part of a sprint id that is not its date. */
export const nameInId = (sprintId: string): string => sprintId.replace(/^\d{4}-\d{2}-\d{2}_/, '')
