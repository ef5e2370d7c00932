import type { CellKind, CellLimits, ContainerSettings } from '../../contract/cell.ts'
import type { Mount } from './mounts.ts'

/** Set for a program in a cell and all that it starts, `ralph mcp` among them, which then cannot see the processes outside. */
export const sandboxVariable = 'RALPH_SANDBOX'

/** A program as the caller would start it without a cell. */
export type Command = {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The contents of a cell of any kind. */
export type CellSpec = {
  readonly network: NetworkSpec
  readonly limits: CellLimits
  /** More readable paths: absolute, or below the home folder with `~/`. */
  readonly read: readonly string[]
  /** More writable paths. */
  readonly write: readonly string[]
  /** `placeholder`: an agent never holds the key of its model. */
  readonly keys: 'real' | 'placeholder'
  readonly container?: ContainerSettings | undefined
}

/** `open`: the machine's own network. `closed`: none. Otherwise what the user configured, and these names. */
export type NetworkSpec = 'open' | 'closed' | { readonly allow: readonly string[]; readonly private: readonly string[] }

/** What a cell enforces, for the result of a sprint. */
export type Guarantees = {
  /** `allow-list`: the program sees only what the plan names. `image`: the files of a container image. `none`: all of the user's. */
  readonly filesystem: 'allow-list' | 'image' | 'none'
  /** Whether the cell can have its own network namespace. */
  readonly network: 'namespace' | 'none'
  /** `namespace`: all processes end with the program, always. `best-effort`: by subreaper and mark. */
  readonly processes: 'namespace' | 'best-effort'
  /** Whether a seccomp filter refuses system calls that no build needs. */
  readonly systemCalls: 'filter' | 'none'
}

export type Machine = {
  readonly platform: NodeJS.Platform
  readonly path: string
  readonly cwd: string
  /** How to start containers, if the sprint says it. */
  readonly container?: ContainerSettings | undefined
}

export type Availability =
  | { readonly available: true; readonly version: string; readonly tools: CellTools }
  | { readonly available: false; readonly reason: string }

/** Programs of this machine that a member uses, found by its probe. */
export type CellTools = {
  /** The program that creates the cell, e.g. `/usr/bin/bwrap`. */
  readonly file: string
  /** Whether `env --default-signal` works, so that a program inside receives TERM before it is killed. */
  readonly canResetSignals: boolean
  /** More options that this version of the program supports. */
  readonly options: readonly string[]
  /** perl applies the system call filter for members that cannot. */
  readonly perl?: string | undefined
  /** Limits that this program enforces by itself, tried. Absent: none, and Ralph does. */
  readonly holds?: readonly (keyof CellLimits)[] | undefined
  /** PATH for the program that makes the cell. */
  readonly path?: string | undefined
  /** An image, or a folder that holds a system, and more options. */
  readonly container?: { readonly image: string; readonly run: readonly string[] } | undefined
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
  /** For a member that enforces them itself. */
  readonly limits: CellLimits
  /** Of this attempt alone, and the same for a Ralph that joins it. */
  readonly name: string
  /** Files of cgroups that a process joins by writing its pid. */
  readonly cgroups: readonly string[]
  /** Created right before the cell, because the folder of an attempt does not exist earlier. */
  readonly folders: readonly string[]
  /** An empty folder of this attempt, for members that build the cell in a folder. */
  readonly scratch: string
}

/**
 * A way to keep a program from the rest of the machine. One member per file; `registry.ts` lists them. A member knows how to
 * build walls and nothing else: what is inside of them is the plan's decision, which is the same for all members.
 */
export interface Cell {
  readonly kind: CellKind
  readonly guarantees: Guarantees
  /** Runs a trial: being installed is not enough. */
  readonly probe: (machine: Machine) => Promise<Availability>
  /** Returns the command that runs the given one inside. Starts nothing. */
  readonly wrap: (command: Command, plan: CellPlan, tools: CellTools) => Command
  /** Ends what a killed attempt may have left, for a member whose processes have another parent. */
  readonly end?: (name: string, tools: CellTools) => Promise<void>
}
