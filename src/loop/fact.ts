import type { Edit } from '../contract/edit.ts'
import type { FailureClass, Question, Usage } from '../contract/outcome.ts'
import type { CheckResult, Progress, RunLimits } from '../contract/progress.ts'
import type { PhaseReport, Report } from '../contract/report.ts'
import type { Check } from '../contract/settings.ts'
import type { Spent } from './cost.ts'

/** How an attempt ended, as far as the loop cares. */
export type AttemptEnd =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'phase-report'; readonly report: PhaseReport }
  /** `session`: where the agent can be asked for the report again. */
  | { readonly kind: 'malformed'; readonly reason: string; readonly session?: string | undefined }
  | {
      readonly kind: 'failed'
      readonly class: FailureClass
      readonly reason: string
      readonly retryable: boolean
      readonly resetsAt?: number | undefined
      /** What a person has to decide first, if the agent said so itself. */
      readonly question?: Question | undefined
      /** As the program said it itself; absent if it was killed. */
      readonly exitCode?: number | undefined
      /** It was known beforehand, so no process was started. */
      readonly notStarted?: true | undefined
    }
  /** `session`: where the agent can go on. */
  | { readonly kind: 'aborted'; readonly session?: string | undefined }

/** What has happened. Times and randomness are in the fact, so that the loop itself stays pure. */
export type Fact =
  | {
      readonly type: 'started'
      readonly at: number
      readonly runLimits?: RunLimits | undefined
      /** Checks found in the project; taken if the sprint names none. */
      readonly detectedChecks?: readonly Check[] | undefined
      /** Who works in this run: first choice, then fallbacks. */
      readonly agents?: readonly string[] | undefined
      readonly choice?: Progress['runChoice']
      /** The worktree that was made for this sprint. */
      readonly worktree?: Progress['worktreeState']
    }
  | {
      readonly type: 'attempt-ended'
      readonly at: number
      readonly iteration: number
      readonly attempt: number
      readonly end: AttemptEnd
      readonly usage: Usage
      /** Absent: unpriced. */
      readonly costUsd?: number | undefined
      readonly costEstimated?: boolean | undefined
      readonly model?: string | undefined
      /** Whether the work tree is another one than before the attempt; absent if that was not looked at. */
      readonly changed?: boolean | undefined
      /** In [0, 1): spreads the retries of many sprints. */
      readonly random: number
    }
  | { readonly type: 'wait-ended'; readonly at: number; readonly iteration: number }
  | {
      readonly type: 'checks-ended'
      readonly at: number
      readonly iteration: number
      readonly results: readonly CheckResult[]
      /** At the baseline (iteration 0): the files that define the checks. */
      readonly checkFiles?: Progress['checkFiles']
      /** Later: those of them that are no longer what they were. */
      readonly tampered?: readonly string[] | undefined
    }
  | {
      readonly type: 'gate-ended'
      readonly at: number
      readonly iteration: number
      readonly exitCode: number | null
      /** The last part of what it printed. */
      readonly output: string
      readonly error?: string | undefined
    }
  | {
      readonly type: 'review-ended'
      readonly at: number
      readonly iteration: number
      readonly passed: boolean
      readonly summary: string
      /** It could not say anything, for a reason that has nothing to do with the work. */
      readonly unable?: true | undefined
      /** What the reviewer used. */
      readonly spent?: Spent | undefined
    }
  | {
      readonly type: 'checkpoint-made'
      readonly at: number
      readonly iteration: number
      readonly commit?: string | undefined
    }
  | {
      readonly type: 'hook-ended'
      readonly at: number
      readonly iteration: number
      readonly hookId: string
      readonly exitCode: number | null
      readonly error?: string | undefined
      /** The last part of what a failed hook printed. */
      readonly output?: string | undefined
      /** What a hook that is a prompt used. */
      readonly spent?: Spent | undefined
    }
  | {
      readonly type: 'stop-requested'
      readonly at: number
      readonly as: 'paused' | 'interrupted'
      /** After the iteration, after the agent's turn (checks and hooks are left to the next run), or now. */
      readonly when: 'iteration' | 'turn' | 'now'
    }
  /** `kept`: why it was not removed. */
  | { readonly type: 'worktree-cleaned'; readonly at: number; readonly kept?: string | undefined }
  | { readonly type: 'notified'; readonly at: number; readonly results: NonNullable<Progress['notifications']> }
  /** SPRINT.yaml or its workflows were changed; `compiled` is what they say now. */
  | { readonly type: 'recompiled'; readonly at: number; readonly compiled: Progress }
  | { readonly type: 'answered'; readonly at: number; readonly answer: string }
  | { readonly type: 'told'; readonly at: number; readonly text: string; readonly now: boolean }
  | {
      readonly type: 'edited'
      readonly at: number
      readonly edits: readonly Edit[]
      readonly refused: readonly string[]
    }
