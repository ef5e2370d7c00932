import type { Reader } from '../readers/reader.ts'
import type { Usage } from '../../contract/outcome.ts'

/** The input of one attempt. */
export type RunSpec = {
  readonly cwd: string
  /** A private folder of this attempt, for files that the program needs (schemas, settings). */
  readonly folder: string
  readonly sprintDir: string
  /** Base of relative program paths; `cwd` if absent. */
  readonly project?: string
  readonly model?: string
  /** An earlier session of the same program to continue, for a repair prompt or after an interruption. */
  readonly resume?: string
  /** The user's answer to the question of an earlier attempt; the prompt contains it too. */
  readonly answer?: string
  /** JSON Schema of the answer, for programs that can enforce one. Set only if the prompt asks for nothing else. */
  readonly form?: Readonly<Record<string, unknown>>
  /** Whether the program runs in a sandbox: ours, or one that the user says this machine is. */
  readonly sandboxed?: boolean
}

/** How to start the program. The prompt always arrives on stdin, from a file. */
export type Invocation = {
  readonly file: string
  readonly args: readonly string[]
  /** Variables to set in addition to those that pass the allow-list. */
  readonly env?: Readonly<Record<string, string>>
  /** Files to write into the attempt's folder first, by name. */
  readonly files?: Readonly<Record<string, string>>
}

/** How a program sends the key of its model, and how to send it elsewhere. */
export type KeyUse = {
  /** Variables that hold the key. */
  readonly variables: readonly string[]
  /** The base URL that the user configured, or the vendor's. */
  readonly upstream: string
  /** Points the program at another base URL. Arguments go behind the first word. */
  readonly redirect: (url: string) => {
    readonly env?: Readonly<Record<string, string>>
    readonly args?: readonly string[]
  }
}

/** In a JSON file: absolute, or relative to the home folder. */
export type ProtectedValues = {
  readonly file: string
  readonly keys: readonly string[]
  /** Objects of the file whose every value may have the same keys. */
  readonly within: readonly string[]
}

/**
 * Places within the state of a program, absolute or relative to the home folder: conversations of other projects, shell scripts
 * and tokens of sessions that run now. A cell has its own.
 */
export type SessionPlaces = {
  /** Folders that are empty in a cell. */
  readonly hidden: readonly string[]
  readonly hiddenFiles?: readonly string[]
  /** Folders within them that are shown, since they belong to the project. */
  readonly own?: readonly string[]
}

/** Everything we know about one agent program, and nothing else: no spawning, no timing, no retrying. */
export interface Driver {
  readonly name: string
  /** The program to look up on PATH. */
  readonly program: string
  /** Model names that the program accepts, with `*` at the end as a wildcard; any if absent. */
  readonly models?: readonly string[]
  /** Whether a prompt can be a command of a plugin, `/plugin:command`. */
  readonly slashCommands?: true
  /** Environment variables that the program may see, as NAME or PREFIX_*; all others are withheld. */
  readonly env: readonly string[]
  readonly command: (spec: RunSpec) => Invocation
  /** State and login files that the program must be able to write: absolute paths, or relative to the home folder. */
  readonly state?: (env: Readonly<Record<string, string>>) => readonly string[]
  /** Settings within its state that take effect in later sessions of the user, so that an agent in a cell can only read them. */
  readonly settings?: (env: Readonly<Record<string, string>>) => readonly string[]
  /** What the user's own sessions keep within its state. */
  readonly sessions?: (env: Readonly<Record<string, string>>, cwd: string) => SessionPlaces
  /** Values that take effect in later sessions of the user, in a file that the program itself must be able to write. */
  readonly protectedValues?: (env: Readonly<Record<string, string>>) => ProtectedValues
  /** How it sends the key of its model, so that Ralph can hold the key; undefined for a login that Ralph cannot hold. */
  readonly keys?: (
    env: Readonly<Record<string, string>>,
    readFile: (path: string) => string | undefined,
  ) => KeyUse | undefined
  /** The binary behind the wrapper script that PATH found (links resolved), if it should be started instead. */
  readonly native?: (script: string, isFile: IsFile) => string | undefined
  /** Its text events are pieces of a message, not whole ones. */
  readonly textInPieces?: true
  /** How to inspect an installed copy without a prompt. */
  readonly about?: ProgramInfo
  /** A one-line warning for the user before the first attempt, if the situation calls for it. */
  readonly warn?: (situation: LaunchContext) => string | undefined
  /** `earlier`: what the resumed session has used so far, for programs that count from its start. */
  readonly read: (earlier?: Usage) => Reader
}

/** How to query an installed copy for its version and login. Nothing here is a paid call. */
export type ProgramInfo = {
  /** The versions whose output we have tested: from the first, up to but not including the second. */
  readonly tested: readonly [from: string, below: string]
  /** The output of the program names its version, so there is no need to query it. */
  readonly reportsVersion?: true
  readonly login?: {
    /** If any of them is set, the user is logged in. */
    readonly variables: readonly string[]
    /** If any of them exists, relative to the home folder, the user is logged in. Never read. */
    readonly files?: readonly string[]
    /** Files, relative to the home folder, that signing in writes; they alone do not show that the user is logged in. */
    readonly credentials?: readonly string[]
    /** Arguments of a login check; exit code 0 means logged in, 1 means not. */
    readonly statusArgs?: readonly string[]
  }
}

export type LaunchContext = {
  readonly isRoot: boolean
  readonly sandboxed: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

export type IsFile = (path: string) => boolean
