import type { WallsUse } from '../contract/cell.ts'
import type { AgentEvent, SprintEvent } from '../contract/events.ts'
import type { Outcome, Usage } from '../contract/outcome.ts'
import type { CheckResult, Progress, SprintStatus } from '../contract/progress.ts'
import type { Proof, ProofBaseline } from '../contract/proof.ts'
import type { Check } from '../contract/check.ts'
import type { NotificationQuestion } from './channels/channel.ts'
import type { NotifyTarget } from './channels/registry.ts'
import type { Fact } from '../loop/core/fact.ts'
import type { AttemptBudget } from '../loop/core/limits.ts'
import type { LockState } from '../loop/core/way.ts'

/** What the runtime needs from outside. Adapters implement these; the runtime never imports an adapter. */
export interface Ports {
  readonly store: ProgressStore
  /** Returns the agent of that name, or the first choice; `model` overrides its model. */
  readonly agents: (name: string | undefined, model?: string) => AgentRunner
  readonly shell: ShellRunner
  readonly workspace: ProjectWorkspace
  readonly projectFiles: ProjectFiles
  /** Absent: the checks of a claim run in the work tree, and their exit codes decide. */
  readonly prover?: ClaimProver
  /** Removes the worktree of a completed sprint unless that would lose work; resolves with the reason if it stays. */
  readonly cleanWorktree: () => Promise<string | undefined>
  readonly limits: AccountLimits
  /** LEARNINGS of earlier iterations. */
  readonly notes: () => Promise<string | undefined>
  /** What the user wants every agent of the sprint to know; absent: nothing. */
  readonly sharedContext?: () => Promise<string | undefined>
  /** Only for the notes protocol. */
  readonly lock?: NotesLock
  /** Limits how many hooks run at the same time. */
  readonly hookSlots: <T>(run: () => Promise<T>) => Promise<T>
  /** Rejects with the reason if delivery failed. */
  readonly notify: (target: NotifyTarget, message: SprintNotification) => Promise<void>
  readonly clock: Clock
  /** Absent: disk space is not checked. */
  readonly disk?: DiskMonitor
  /** In [0, 1). */
  readonly random: () => number
  /** Must neither throw nor block. */
  readonly observe: (event: SprintEvent, sent?: { readonly prompt: string }) => void
  /** Set if too many observed events wait: resolves when they are written. The output of an agent is read no further until then. */
  readonly drained?: (() => Promise<void> | undefined) | undefined
}

/** The notes folder of an agent, with the lock file that the agent deletes when it is done or stuck. */
export interface NotesLock {
  readonly folder: string
  /** Rejects if the lock cannot be read, which does not mean that it is gone. */
  readonly read: () => Promise<LockState>
  /**
   * Recreates the lock before an attempt and removes the reason that the agent left when it deleted it. Never touches notes.
   * Acts once per attempt: an attempt that is joined again may already have deleted the lock.
   */
  readonly restore: (attempt: string) => Promise<void>
}

/** The disk that holds the sprint. */
export interface DiskMonitor {
  /** Resolves with one sentence on why nothing should start now; undefined if there is enough space. */
  readonly shortage: () => Promise<string | undefined>
}

export interface ProgressStore {
  /**
   * Resolves once the progress is durable. `fact` is what led to it. Rejects with DISK_FULL if there was no space; nothing is
   * written then, and the caller can retry.
   */
  save: (progress: Progress, fact: Fact) => Promise<void>
  /** Shows users of the files what the run waits for, if it can; undefined: it continues. */
  readonly showWaiting?: (reason: string | undefined) => Promise<void>
}

export type AgentRequest = {
  /** Name of the attempt's folder. If the folder exists, the running attempt is joined instead of started again. */
  readonly attempt: string
  /** Name under transcripts/ that links to this attempt's transcript. */
  readonly transcript: string
  readonly prompt: string
  readonly timeouts: { readonly idle: number; readonly attempt: number; readonly afterResult: number }
  /** The attempt is ended when it exceeds this. */
  readonly budget: AttemptBudget
  /** Session to resume. */
  readonly resume?: string | undefined
  /** Earlier usage of that session. */
  readonly used?: Usage | undefined
  /** The user's answer to a question of an earlier attempt. */
  readonly answer?: string | undefined
  /** JSON Schema of the only acceptable answer; drivers enforce it if the agent program can. */
  readonly form?: Readonly<Record<string, unknown>> | undefined
  /** Called with the id of the process that does the work, once it runs. */
  readonly onStart?: ((pid: number) => void) | undefined
  readonly onEvent: (event: AgentEvent) => void
  readonly drained?: Ports['drained']
}

export interface AgentRunner {
  readonly name: string
  /** Whether a prompt such as `/plugin:command` runs a command of the program; absent: unknown. */
  readonly slashCommands?: boolean
  /** Absolute path of a transcript by its name. */
  transcriptPath: (transcript: string) => string
  /** Resolves with the outcome. After `signal` aborts, soon ends every process it started. Rejects only if the start failed. */
  run: (request: AgentRequest, signal: AbortSignal) => Promise<Outcome>
}

/** Proves claims where no agent can reach. */
export interface ClaimProver {
  /**
   * Records the project and what its checks say, before the first agent runs. Rejects with CHECK_NOT_STARTED if a check cannot
   * start at all.
   */
  readonly recordBaseline: (request: ProverRequest, signal: AbortSignal) => Promise<RecordedBaseline>
  /**
   * Takes over what another machine recorded: `ref` of the project's repository holds it in its folder `baseline`. Call it
   * before the first agent runs here; later calls change nothing.
   */
  readonly adoptBaseline: (baseline: ProofBaseline, from: { readonly ref: string }) => Promise<void>
  /** Rejects only if the project or the state is damaged; a check that could not run is a verdict. */
  readonly prove: (
    request: ProverRequest & { readonly baseline: ProofBaseline },
    signal: AbortSignal,
  ) => Promise<ProvedClaim>
}

/** Keeps the user's edits apart from those of agents. */
export interface BaselineKeeper {
  /** Call it when the last agent has ended: what changes afterwards is the user's. */
  readonly rememberRest: () => Promise<void>
  /** Call it before agents run again. */
  readonly forgetRest: () => Promise<void>
  /** Takes the edits to tests and settings since the last rest into the baseline; undefined if there are none. */
  readonly retake: (
    request: ProverRequest & { readonly baseline: ProofBaseline },
    signal: AbortSignal,
  ) => Promise<RetakenBaseline | undefined>
}

export type RetakenBaseline = {
  readonly baseline: ProofBaseline
  /** Files that count as they are now. */
  readonly paths: readonly string[]
  /** Files that an agent had changed too: those of the start still count. */
  readonly contested: readonly string[]
}

export type ProverRequest = {
  readonly checks: readonly Check[]
  readonly onStart: (check: Check) => void
  readonly onEnd: (result: CheckResult) => void
}

export type RecordedBaseline = {
  readonly results: readonly CheckResult[]
  readonly baseline: ProofBaseline
  /** What the user must know about the checks, one sentence each. */
  readonly notes: readonly string[]
}

export type ProvedClaim = { readonly results: readonly CheckResult[]; readonly proof: Proof }

export type ShellRequest = {
  /** Name of the attempt's folder; if it exists, the new run gets a numbered successor. */
  readonly attempt: string
  /**
   * `join`: if an earlier run started a command under this name, take its result, so that it never runs twice; a command that
   * was killed before its result was recorded has failed. Without it the command runs again: checks and gates never join.
   */
  readonly ifBegun?: 'join'
  readonly transcript?: string
  readonly command: string
  readonly timeoutMs: number
  readonly env?: Readonly<Record<string, string>>
  /** Called with the id of the process, once it runs. */
  readonly onStart?: ((pid: number) => void) | undefined
  /** `none`: outside the cell of the sprint. */
  readonly cell?: 'none' | undefined
}

/** `output`: the end of stdout and stderr, interleaved. */
export type ShellEnd = {
  readonly exitCode: number | null
  readonly output: string
  readonly error?: string
  readonly durationMs: number
  readonly walls?: WallsUse | undefined
}

export interface ShellRunner {
  run: (request: ShellRequest, signal: AbortSignal) => Promise<ShellEnd>
}

export interface Clock {
  readonly now: () => number
  /** Milliseconds that really passed since some moment, no matter how the clock is set; absent: as `now`. */
  readonly steady?: () => number
  /** Resolves at that time, or as soon as `signal` aborts. */
  readonly waitUntil: (at: number, signal: AbortSignal) => Promise<void>
}

/** The files that the agent works on. */
export interface ProjectWorkspace {
  /** Stores the files before the first iteration as checkpoint 0. */
  readonly start: () => Promise<void>
  /** Changes whenever a file or HEAD changes. */
  readonly fingerprint: () => Promise<string>
  /** Stores the current files; undefined if nothing changed since the last checkpoint, or nothing can be stored. */
  readonly checkpoint: (iteration: number, message: string) => Promise<string | undefined>
}

/** Files of the project that define the checks. */
export interface ProjectFiles {
  readonly isFile: (name: string) => boolean
  readonly hash: (name: string) => Promise<string>
  /** Stores a copy outside the agent's reach; returns its hash. */
  readonly store: (name: string) => Promise<string>
  /** Rejects if the stored copy no longer has this hash. */
  readonly restore: (name: string, hash: string) => Promise<void>
}

/** Usage limits of the user's accounts, shared by all sprints on this machine. */
export interface AccountLimits {
  readonly limitedUntil: (agent: string) => Promise<number | undefined>
  readonly record: (agent: string, until: number) => Promise<void>
}

export type SprintNotification = {
  readonly sprintId: string
  readonly about: SprintStatus
  readonly text: string
  /** The open question, with needs-human. */
  readonly question?: NotificationQuestion
}
