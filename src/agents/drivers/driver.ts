import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome, Usage } from '../../contract/outcome.ts'

/** What one attempt is to do. */
export type RunSpec = {
  readonly cwd: string
  /** A folder of this attempt's own, for files that the program needs (schemas, settings). */
  readonly folder: string
  readonly sprintDir: string
  /** Where a program is that is named by a relative path; absent: in `cwd`. */
  readonly project?: string
  readonly model?: string
  /** Go on in an earlier session of the same program, for a repair prompt or an interruption. */
  readonly resume?: string
  /** What a person has answered to the question of an earlier attempt; the prompt says it too. */
  readonly answer?: string
  /** The form of the answer, a JSON Schema; for programs that can be held to one. Given when nothing else is asked for. */
  readonly form?: Readonly<Record<string, unknown>>
  /** Whether a sandbox is around the program: ours, or one that this machine is said to be. */
  readonly sandboxed?: boolean
}

/** How to start the program. The prompt always arrives on stdin, from a file. */
export type Invocation = {
  readonly file: string
  readonly args: readonly string[]
  /** Variables set besides the ones that pass the allow-list. */
  readonly env?: Readonly<Record<string, string>>
  /** Files to be written into the attempt's folder first, by name. */
  readonly files?: Readonly<Record<string, string>>
}

export type Exit = {
  readonly code: number | null
  readonly signal: string | null
  /** Set when the supervisor ended the attempt, and why. */
  readonly ended?: 'aborted' | 'idle' | 'attempt' | 'after-result' | 'output-cap' | 'budget'
  readonly stderrTail: string
  /** When the process ended: some programs tell the end of a limit as a time of day only. */
  readonly at?: number
}

/** Reads the output of one attempt. Holds what it has seen; does no I/O. */
export interface Reader {
  /** Never throws: what is not understood comes back as `raw`. A `usage` event is the total of the attempt so far. */
  parse: (line: string) => readonly AgentEvent[]
  /** Called once, after the last line. No terminal event means failed, whatever the exit code. */
  finish: (exit: Exit) => Outcome
}

/** What we know of one agent program, and nothing else: no spawning, no timing, no retrying. */
export interface Driver {
  readonly name: string
  /** The program that is looked up on PATH. */
  readonly program: string
  /** Names of models that it takes, `*` at the end for any rest; absent: any. */
  readonly models?: readonly string[]
  /** Whether a prompt can be a command of a plugin, `/plugin:command`. */
  readonly slashCommands?: true
  /** Environment variables that it may see, as NAME or PREFIX_*; everything else is withheld. */
  readonly env: readonly string[]
  readonly command: (spec: RunSpec) => Invocation
  /** Its own state and login, which it must be able to write: absolute paths, or below the home folder. */
  readonly state?: (env: Readonly<Record<string, string>>) => readonly string[]
  /** Settings within its state that later sessions of the user obey, so that an agent in a cell can only read them. */
  readonly settings?: (env: Readonly<Record<string, string>>) => readonly string[]
  /** The program behind the wrapper script that PATH found (links resolved), if there is one to start instead. */
  readonly native?: (script: string, isFile: IsFile) => string | undefined
  /** Its text events are pieces of a message, not whole ones. */
  readonly textInPieces?: true
  /** What can be told of an installed copy without a prompt. */
  readonly about?: About
  /** One line for the person before the first attempt, if the situation calls for it. */
  readonly warn?: (situation: Situation) => string | undefined
  /** `earlier`: what the resumed session has used before, for programs that count from its start. */
  readonly read: (earlier?: Usage) => Reader
}

/** How to ask an installed copy for its version, and whether somebody is logged in. Nothing here is a paid call. */
export type About = {
  /** From the first to below the second: the versions whose output we have seen. */
  readonly tested: readonly [from: string, below: string]
  /** Its output names its version, so it need not be asked for it. */
  readonly tellsVersion?: true
  readonly login?: {
    /** Any of them set: logged in. */
    readonly variables: readonly string[]
    /** Any of them there, relative to the home folder: logged in. Only looked for, never read. */
    readonly files?: readonly string[]
    /** Arguments of a call whose exit code tells: 0 is yes, 1 is no. */
    readonly ask?: readonly string[]
  }
}

export type Situation = {
  readonly isRoot: boolean
  readonly sandboxed: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

export type IsFile = (path: string) => boolean
