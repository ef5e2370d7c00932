import type { Edit } from '../../contract/edit.ts'
import type { FailureClass, Usage } from '../../contract/outcome.ts'
import type { WorkRef } from '../../contract/phases.ts'
import type { LiveIteration, Mode, SprintStatus } from '../../contract/progress.ts'
import type { AttemptEnd, Fact } from './fact.ts'
import type { Decision, Order } from './order.ts'
import type { FinalMessage } from './read-report.ts'
import type { JsonSchema } from './report-schema.ts'
import type { Sprint } from './sprint.ts'

/**
 * How a sprint reaches its goal. A way decides what to work on, what to ask the agent and what its answer means;
 * the loop owns attempts, checks, hooks and limits and asks the way of the sprint for the rest.
 */
export type Way = {
  /** Whether several iterations may run at the same time. */
  readonly concurrent: boolean
  /** Decides whether to start an iteration or to rest the sprint. Called after every fact of a run; returns no order if nothing may start. */
  readonly next: (sprint: Sprint, at: number) => Decision
  /** Prepares the state for a new run; `before` is the status in which the sprint rested. */
  readonly resume: (sprint: Sprint, at: number, before: SprintStatus) => Sprint
  /** The iteration that runs, or that would start next; undefined if there is none. `mode` overrides the mode. */
  readonly preview: (sprint: Sprint, mode?: Mode) => IterationPreview | undefined
  /** The prompt of an iteration, for a fresh context. */
  readonly prompt: (sprint: Sprint, iteration: PromptInput) => string
  /** Describes to the agent how to report. */
  readonly reporting: (input: Pick<PromptInput, 'notesFolder'>) => string
  /** The JSON Schema of the report, for agents that support structured output. */
  readonly reportSchema: JsonSchema
  /** What the checks and the reviewer judge: the goal, or what the user asked for. */
  readonly purpose: (sprint: Sprint) => string
  /** Whether `read` needs the lock of the notes folder. */
  readonly usesLock: boolean
  /** Whether iterations that change nothing count against limits.no-progress. */
  readonly countsIdleIterations: boolean
  /** Reads the report of a successful turn. */
  readonly read: (message: AgentMessage, prompt: string, sprint: Sprint) => AttemptEnd
  /** Applies a report; undefined if it is not a report of this way. The checks and hooks follow. */
  readonly onReport: (sprint: Sprint, live: LiveIteration, end: AttemptEnd, at: number) => IterationChange | undefined
  /** Decides whether the iteration or the run ends when no retry follows a failed attempt. */
  readonly onRetriesExhausted: (sprint: Sprint, live: LiveIteration, failure: ExhaustedRetries) => ExhaustedRetriesEnd
  /** Updates the work after an iteration, whose receipt is already written. */
  readonly onEnded: (sprint: Sprint, live: LiveIteration, at: number, pause?: Pause) => Decision
  /** Applies a changed SPRINT.yaml to the state of the way; the plan is already the new one. */
  readonly recompile: (sprint: Sprint, compiled: Sprint, at: number) => RecompileResult
  /** Agents that may do the work: first choice, then fallbacks. */
  readonly agents: (sprint: Sprint, work: WorkRef | undefined) => readonly string[]
  /** The model for an iteration; undefined means the sprint's model. */
  readonly model: (sprint: Sprint, live: LiveIteration) => string | undefined
  /** Plans another attempt after a failure; `by-policy`: the table of policies decides. */
  readonly retry: (sprint: Sprint, live: LiveIteration, end: FailedEnd, at: number) => RetryPlan
  /** When a waiting iteration may continue, apart from usage limits. */
  readonly waitsUntil: (sprint: Sprint, live: LiveIteration) => number | undefined
  /** Steps that are still open when the claim is accepted. */
  readonly openSteps: (sprint: Sprint) => string[]
  /** Applies an edit of the steps in PROGRESS.yaml; absent: the way has no such steps. */
  readonly editStep?: (sprint: Sprint, edit: StepEdit, moment: EditContext) => Sprint
  /** Scripts that run after the agent and the checks and can reject the work; absent: the way has none. */
  readonly gate?: GateRules
}

export type GateRules = {
  /** The script of the iteration's work and how often it ran. */
  readonly find: (sprint: Sprint, work: WorkRef) => Gate | undefined
  /** Starts the gate; undefined if there is none to run. */
  readonly start: (sprint: Sprint, live: LiveIteration) => Decision | undefined
  /** Applies the result. The hooks follow. */
  readonly onEnded: (
    sprint: Sprint,
    live: LiveIteration,
    fact: Extract<Fact, { type: 'gate-ended' }>,
  ) => IterationChange
}

export type Gate = { readonly script: string; readonly timeoutMs: number; readonly attempts: number }

export type IterationPreview = Pick<LiveIteration, 'number' | 'mode' | 'step' | 'work'>

export type PromptInput = Pick<LiveIteration, 'number' | 'mode' | 'step' | 'smallPrompt' | 'work'> &
  PromptSources & { readonly startedAt?: number }

/** What prompts contain besides the sprint. */
export type PromptSources = {
  /** LEARNINGS.md of the sprint. */
  readonly notes?: string | undefined
  /** `context/_shared.md` of the sprint, which the user writes. */
  readonly shared?: string | undefined
  /** Only for ways that use a lock. */
  readonly notesFolder?: string | undefined
  /** Path of PROGRESS.yaml, for ways whose agent edits it. */
  readonly progressFile?: string | undefined
}

/** What to send to the agent in one attempt, and how to read its answer. */
export type AttemptPrompt = PromptText & {
  /** Reads the answer of a successful turn. */
  readonly read: (message: AgentMessage) => AttemptEnd
}

export type PromptText = {
  readonly prompt: string
  /** The session to resume, and its usage so far. */
  readonly session?: string
  readonly used?: Usage | undefined
  /** Accept only a report in this form. */
  readonly form?: JsonSchema
}

/** State of the lock in the notes folder after the agent's turn. */
export type LockState =
  | { readonly exists: true }
  /** `outcome` and `text`: what the agent wrote before it deleted the lock. */
  | { readonly exists: false; readonly outcome?: 'done' | 'stuck' | undefined; readonly text?: string | undefined }

export type AgentMessage = FinalMessage & { readonly lock?: LockState }

export type FailedEnd = Extract<AttemptEnd, { kind: 'failed' }>

/** `count`: consecutive failures of this class. `random`: in [0, 1), for jitter. */
export type ExhaustedRetries = {
  readonly cause: 'no-report' | 'failed-attempt'
  readonly class: FailureClass
  readonly reason: string
  readonly count: number
  readonly at: number
  readonly random: number
}

export type IterationChange = {
  readonly sprint: Sprint
  readonly live: LiveIteration
  readonly orders: readonly Order[]
}

/** Either the iteration ends without hooks, and the next one starts no sooner than `pauseUntil`, or the run ends. */
export type ExhaustedRetriesEnd =
  | {
      readonly ends: 'iteration'
      readonly sprint: Sprint
      readonly live: LiveIteration
      readonly pauseUntil?: number | undefined
    }
  | { readonly ends: 'run'; readonly decision: Decision }

/** Delay before the first attempt of an iteration. */
export type Pause = { readonly ms: number; readonly reason: string }

export type RecompileResult = {
  readonly sprint: Sprint
  /** What changed, in words for the user. */
  readonly changes: readonly string[]
}

export type RetryPlan = { readonly sprint: Sprint; readonly until: number } | undefined | 'by-policy'

export type StepEdit = Exclude<Edit, { kind: 'pause' | 'needs-human' }>

export type EditContext = { readonly at: number; readonly iteration: number }
