import type { WallsUse } from '../../contract/cell.ts'
import type { Edit } from '../../contract/edit.ts'
import type { FailureClass, AgentQuestion, Usage } from '../../contract/outcome.ts'
import type { CheckResult, Progress, RunLimits } from '../../contract/progress.ts'
import type { Proof, ProofBaseline } from '../../contract/proof.ts'
import type { PhaseReport, Report } from '../../contract/report.ts'
import type { Check } from '../../contract/check.ts'
import type { Expense } from './cost.ts'

/** How an attempt ended, as far as the loop needs to know. */
export type AttemptEnd =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'phase-report'; readonly report: PhaseReport }
  /** `session`: where Ralph can ask the agent for the report again. */
  | { readonly kind: 'malformed'; readonly reason: string; readonly session?: string | undefined }
  | {
      readonly kind: 'failed'
      readonly class: FailureClass
      readonly reason: string
      readonly retryable: boolean
      readonly resetsAt?: number | undefined
      /** What a person has to decide first, if the agent asked. */
      readonly question?: AgentQuestion | undefined
      /** Exit code chosen by the program; absent if it was killed. */
      readonly exitCode?: number | undefined
      /** The failure was known beforehand, so no process was started. */
      readonly notStarted?: true | undefined
    }
  /** `session`: where the agent can continue. */
  | { readonly kind: 'aborted'; readonly session?: string | undefined }

/**
 * What happened. Times and random numbers arrive inside facts, so that the loop stays pure. `clockJumpMs`: how far the wall clock
 * moved since the last fact without that time passing: it was set, or the computer slept.
 */
export type Fact = FactBody & { readonly clockJumpMs?: number | undefined }

type FactBody =
  | {
      readonly type: 'started'
      readonly at: number
      readonly runLimits?: RunLimits | undefined
      /** Checks detected in the project; used if the sprint configures none. */
      readonly detectedChecks?: readonly Check[] | undefined
      /** Agents of this run: first choice, then fallbacks. */
      readonly agents?: readonly string[] | undefined
      readonly choice?: Progress['runChoice']
      /** The worktree that was created for this sprint. */
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
      /** Whether the work tree changed during the attempt; absent if unknown. */
      readonly changed?: boolean | undefined
      /** What stood between the agent and the machine. */
      readonly walls?: WallsUse | undefined
      /** In [0, 1); jitter for the retries of many sprints. */
      readonly random: number
    }
  | { readonly type: 'wait-ended'; readonly at: number; readonly iteration: number }
  | {
      readonly type: 'checks-ended'
      readonly at: number
      readonly iteration: number
      readonly results: readonly CheckResult[]
      /** With the baseline (iteration 0): the files that define the checks. */
      readonly checkFiles?: Progress['checkFiles']
      /** Later: those of these files that changed. */
      readonly tampered?: readonly string[] | undefined
      /** With the baseline: what later claims are measured against. */
      readonly proofBaseline?: ProofBaseline | undefined
      /** With a claim; absent: the results alone decide. */
      readonly proof?: Proof | undefined
    }
  | {
      readonly type: 'gate-ended'
      readonly at: number
      readonly iteration: number
      readonly exitCode: number | null
      /** End of its output. */
      readonly output: string
      readonly error?: string | undefined
    }
  | {
      readonly type: 'review-ended'
      readonly at: number
      readonly iteration: number
      readonly passed: boolean
      readonly summary: string
      /** The review failed for a reason unrelated to the work. */
      readonly unable?: true | undefined
      /** Cost of the reviewer. */
      readonly spent?: Expense | undefined
    }
  | {
      readonly type: 'checkpoint-made'
      readonly at: number
      readonly iteration: number
      readonly commit?: string | undefined
    }
  | {
      readonly type: 'hook-spawned'
      readonly at: number
      readonly iteration: number
      readonly hookId: string
      /** Process that does the work. */
      readonly pid: number
    }
  | {
      readonly type: 'hook-ended'
      readonly at: number
      readonly iteration: number
      readonly hookId: string
      readonly exitCode: number | null
      readonly error?: string | undefined
      /** End of the output of a failed hook. */
      readonly output?: string | undefined
      /** Cost of a prompt hook. */
      readonly spent?: Expense | undefined
      readonly walls?: WallsUse | undefined
    }
  | {
      readonly type: 'stop-requested'
      readonly at: number
      readonly as: 'paused' | 'interrupted'
      /** After the iteration, after the agent's turn (the next run does checks and hooks), or now. */
      readonly when: 'iteration' | 'turn' | 'now'
      /** Name of the user, in the fleet. */
      readonly by?: string | undefined
    }
  /** The user changed their mind about a stop that has not happened yet. */
  | { readonly type: 'stop-withdrawn'; readonly at: number }
  /** `kept`: why the worktree was not removed. */
  | { readonly type: 'worktree-cleaned'; readonly at: number; readonly kept?: string | undefined }
  | { readonly type: 'notified'; readonly at: number; readonly results: NonNullable<Progress['notifications']> }
  /** SPRINT.yaml or its workflows changed; `compiled` is the new result. */
  | { readonly type: 'recompiled'; readonly at: number; readonly compiled: Progress }
  /** The user accepted their own edits to tests: later claims are measured against these too. */
  | { readonly type: 'baseline-retaken'; readonly at: number; readonly proofBaseline: ProofBaseline }
  | { readonly type: 'answered'; readonly at: number; readonly answer: string; readonly by?: string | undefined }
  | {
      readonly type: 'told'
      readonly at: number
      readonly text: string
      readonly now: boolean
      readonly by?: string | undefined
    }
  /** A user takes back a message that no prompt contains yet. `messageAt` identifies it. */
  | {
      readonly type: 'message-withdrawn'
      readonly at: number
      readonly messageAt: number
      readonly by?: string | undefined
    }
  | {
      readonly type: 'edited'
      readonly at: number
      readonly edits: readonly Edit[]
      readonly refused: readonly string[]
    }
