import type { CellKind, CellLimits } from '../../contract/cell.ts'
import type { Mount } from './mounts.ts'

/** Set for a program in a cell and all that it starts, `ralph mcp` among them, which then cannot see the processes outside. */
export const sandboxVariable = 'RALPH_SANDBOX'

/** A program as the caller would start it without a cell. */
export type Command = {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** What is in a cell, whatever its kind. */
export type CellSpec = {
  readonly network: NetworkSpec
  readonly limits: CellLimits
  /** More that can be read: absolute paths, or below the home folder with `~/`. */
  readonly read: readonly string[]
  /** More that can be written. */
  readonly write: readonly string[]
  /** `placeholder`: an agent never holds the key of its model. */
  readonly keys: 'real' | 'placeholder'
}

/** `open`: the machine's own network. `closed`: none. Otherwise what the user configured, and these names. */
export type NetworkSpec = 'open' | 'closed' | { readonly allow: readonly string[]; readonly private: readonly string[] }

/** What a cell holds a program to, for the result of a sprint. */
export type Guarantees = {
  /** `allow-list`: the program sees only what the plan names. `image`: the files of a container image. `none`: all of the user's. */
  readonly filesystem: 'allow-list' | 'image' | 'none'
  /** Whether a network namespace of its own can be had. */
  readonly network: 'namespace' | 'none'
  /** `namespace`: everything it started ends with it, whatever it does. `best-effort`: subreaper and mark. */
  readonly processes: 'namespace' | 'best-effort'
  /** Whether a seccomp filter refuses system calls that no build needs. */
  readonly systemCalls: 'filter' | 'none'
}

export type Machine = {
  readonly platform: NodeJS.Platform
  readonly path: string
  readonly cwd: string
}

export type Availability =
  | { readonly available: true; readonly version: string; readonly tools: CellTools }
  | { readonly available: false; readonly reason: string }

/** Programs of this machine that a member uses, found by its probe. */
export type CellTools = {
  /** The program that makes the cell, e.g. `/usr/bin/bwrap`. */
  readonly file: string
  /** Whether `env --default-signal` works, so that a program inside hears a TERM before it is killed. */
  readonly canWarn: boolean
  /** More options that this version of the program takes. */
  readonly options: readonly string[]
  /** perl, for the filter of system calls where the member has none of its own. */
  readonly perl?: string | undefined
}

/** Everything a member needs to build one cell. All paths exist and are free of links. */
export type CellPlan = {
  readonly cwd: string
  /** In the order in which they are mounted: later ones cover earlier ones. */
  readonly mounts: readonly Mount[]
  readonly network: 'machine' | 'own'
  /** User and group inside. */
  readonly uid: number
  readonly gid: number
  /** A classic BPF program on disk. */
  readonly systemCallFilter?: string | undefined
  /** Files that take a process number and so put the process into its cgroups. */
  readonly cgroups: readonly string[]
  /** Made right before the cell is built: the folder of an attempt is not there before. */
  readonly folders: readonly string[]
  /** An empty folder of this attempt, for a member that has to build somewhere. */
  readonly scratch: string
}

/**
 * A way to keep a program from the rest of the machine. One member per file; `registry.ts` lists them. A member knows how to
 * build walls and nothing else: what is inside of them is the plan's decision, which is the same for all members.
 */
export interface Cell {
  readonly kind: CellKind
  readonly guarantees: Guarantees
  /** Tries it; to be installed is not enough. */
  readonly probe: (machine: Machine) => Promise<Availability>
  /** The command that runs the given one inside. Starts nothing itself. */
  readonly wrap: (command: Command, plan: CellPlan, tools: CellTools) => Command
}
