import type { AgentEvent, SprintEvent } from '../contract/events.ts'
import type { Outcome, Usage } from '../contract/outcome.ts'
import type { Progress, SprintStatus } from '../contract/progress.ts'
import type { Fact } from '../loop/fact.ts'
import type { Budget } from '../loop/limits.ts'
import type { LockState } from '../loop/read-lock.ts'

/** The loop's view of the outside world. Adapters implement these; the runtime never imports an adapter. */
export interface Ports {
  readonly store: ProgressStore
  /** The agent of that name, or the first choice; with another model if one is given. */
  readonly agents: (name: string | undefined, model?: string) => AgentRunner
  readonly shell: ShellRunner
  readonly workspace: Workspace
  readonly projectFiles: ProjectFiles
  /** Removes the worktree of a completed sprint if nothing is lost with it; resolves with the reason if it is kept. */
  readonly cleanWorktree: () => Promise<string | undefined>
  readonly limits: AccountLimits
  /** What earlier iterations have learned. */
  readonly notes: () => Promise<string | undefined>
  /** Of the notes protocol; sprints that report by JSON need none. */
  readonly lock?: TaskLock
  /** Holds hooks back, so that only a few run at the same time. */
  readonly hookSlots: <T>(run: () => Promise<T>) => Promise<T>
  /** Rejects with the reason if it could not be delivered. */
  readonly notify: (target: NotifyTarget, message: Notification) => Promise<void>
  readonly clock: Clock
  /** Not given: there is always room. */
  readonly disk?: Disk
  /** In [0, 1). */
  readonly random: () => number
  /** Must not throw and not block. */
  readonly observe: (event: SprintEvent) => void
}

/** The notes folder of an agent, and the file in it that the agent deletes when it is done or stuck. */
export interface TaskLock {
  readonly folder: string
  /** Rejects if it cannot be read: that is not gone. */
  readonly read: () => Promise<LockState>
  /**
   * Puts the lock back before an attempt, and takes away what the agent said when it deleted it. Notes are never touched.
   * Once per attempt: an attempt that is joined again may have deleted the lock already.
   */
  readonly restore: (attempt: string) => Promise<void>
}

/** The disk that the sprint is kept on. */
export interface Disk {
  /** Why nothing should be started now, in one sentence; undefined if there is room. */
  readonly shortage: () => Promise<string | undefined>
}

export interface ProgressStore {
  /**
   * Resolves when the progress can no longer be lost. `fact` is what led to it. Rejects with DISK_FULL if there was no room for
   * it; nothing of it is kept then, and it can be tried again.
   */
  save: (progress: Progress, fact: Fact) => Promise<void>
}

export type AgentRequest = {
  /** Names the attempt's folder. One that is there already is joined, not started again. */
  readonly attempt: string
  /** Name under transcripts/ that will point at this attempt's transcript. */
  readonly transcript: string
  readonly prompt: string
  readonly timeouts: { readonly idle: number; readonly attempt: number; readonly afterResult: number }
  /** The attempt is ended when it has used more. */
  readonly budget: Budget
  /** The session to go on in. */
  readonly resume?: string | undefined
  /** What that session has used before. */
  readonly used?: Usage | undefined
  /** What a person has answered to the question of an earlier attempt. */
  readonly answer?: string | undefined
  /** Nothing but an answer of this form (a JSON Schema) is wanted; agents that can be held to one are. */
  readonly form?: Readonly<Record<string, unknown>> | undefined
  readonly onEvent: (event: AgentEvent) => void
}

export interface AgentRunner {
  readonly name: string
  /** Absolute path of a transcript by its name. */
  transcriptPath: (transcript: string) => string
  /** Resolves with how it ended; ends everything it started soon after `signal` aborts. Rejects only if it could not be started. */
  run: (request: AgentRequest, signal: AbortSignal) => Promise<Outcome>
}

export type ShellRequest = {
  /** Names the attempt's folder; one that is there already gets a successor. */
  readonly attempt: string
  /**
   * What an earlier run has begun under this name is joined, and its result taken: nothing runs twice. If it was killed
   * before it could say how it ended, it has failed (`join`) or is done again (`repeat`).
   */
  readonly ifBegun?: 'join' | 'repeat'
  readonly transcript?: string
  readonly command: string
  readonly timeoutMs: number
  readonly env?: Readonly<Record<string, string>>
}

/** `output`: the last part of what was printed, stdout and stderr in order. */
export type ShellEnd = {
  readonly exitCode: number | null
  readonly output: string
  readonly error?: string
  readonly durationMs: number
}

export interface ShellRunner {
  run: (request: ShellRequest, signal: AbortSignal) => Promise<ShellEnd>
}

export interface Clock {
  readonly now: () => number
  /** Resolves at that time, or as soon as `signal` aborts. */
  readonly waitUntil: (at: number, signal: AbortSignal) => Promise<void>
}

/** The files that the agent works on. */
export interface Workspace {
  /** Keeps the files as they are before the first iteration, as checkpoint 0. */
  readonly start: () => Promise<void>
  /** Changes whenever a file or a HEAD does. */
  readonly fingerprint: () => Promise<string>
  /** Keeps the files as they are now; undefined if nothing has changed since the last time, or nothing can be kept. */
  readonly checkpoint: (iteration: number, message: string) => Promise<string | undefined>
}

/** Files of the project that define the checks. */
export interface ProjectFiles {
  readonly isFile: (name: string) => boolean
  readonly hash: (name: string) => Promise<string>
  /** Keeps a copy where the agent has no reason to look; returns its hash. */
  readonly keep: (name: string) => Promise<string>
  readonly putBack: (name: string) => Promise<void>
}

/** Usage limits of the user's accounts, shared by all sprints on this machine. */
export interface AccountLimits {
  readonly until: (agent: string) => Promise<number | undefined>
  readonly note: (agent: string, until: number) => Promise<void>
}

export type NotifyTarget = NonNullable<Progress['notify']>[number]

export type Question = Omit<NonNullable<Progress['humanNeeded']>, 'askedAt'>

export type Notification = {
  readonly sprintId: string
  readonly about: SprintStatus
  readonly text: string
  /** What is asked, with needs-human. */
  readonly question?: Question
}
