import { z } from 'zod'
import { FailureClass, Usage } from '../outcome.ts'
import { CheckResult } from '../progress.ts'
import { PhaseReport, Report } from '../report.ts'
import { Timestamp } from '../time.ts'

const iteration = z.int().min(0)
const attempt = z.int().min(0)

const RunAttempt = z.object({ type: z.literal('run-attempt'), iteration, attempt })

/** The orders that a machine executes; the backend executes all others. */
export const CarriedOut = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run-checks'), iteration, names: z.array(z.string()).readonly() }),
  z.object({ type: z.literal('run-gate'), iteration }),
  z.object({ type: z.literal('run-review'), iteration }),
  z.object({ type: z.literal('make-checkpoint'), iteration }),
  z.object({ type: z.literal('run-hook'), iteration, hookId: z.string() }),
  z.object({ type: z.literal('clean-worktree') }),
])
export type CarriedOut = z.output<typeof CarriedOut>

export const PromptOrder = RunAttempt
export type PromptOrder = z.output<typeof PromptOrder>

const AttemptEnd = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('report'), report: Report }),
  z.object({ kind: z.literal('phase-report'), report: PhaseReport }),
  z.object({ kind: z.literal('malformed'), reason: z.string(), session: z.string().optional() }),
  z.object({
    kind: z.literal('failed'),
    class: FailureClass,
    reason: z.string(),
    retryable: z.boolean(),
    resetsAt: Timestamp.optional(),
    question: z.object({ reason: z.string(), details: z.string(), options: z.array(z.string()).optional() }).optional(),
    exitCode: z.int().optional(),
    notStarted: z.literal(true).optional(),
  }),
  z.object({ kind: z.literal('aborted'), session: z.string().optional() }),
])

const Spent = z.object({
  usage: Usage,
  costUsd: z.number().optional(),
  costEstimated: z.boolean().optional(),
  model: z.string().optional(),
})

const at = Timestamp
const shared = { at, iteration }

/** The facts that a machine may report: results of the orders it executes. */
export const MachineFact = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('attempt-ended'),
    ...shared,
    attempt,
    end: AttemptEnd,
    usage: Usage,
    costUsd: z.number().optional(),
    costEstimated: z.boolean().optional(),
    model: z.string().optional(),
    changed: z.boolean().optional(),
    random: z.number().min(0).lt(1),
  }),
  z.object({
    type: z.literal('checks-ended'),
    ...shared,
    results: z.array(CheckResult).readonly(),
    checkFiles: z.array(z.object({ file: z.string(), hash: z.string() })).optional(),
    tampered: z.array(z.string()).readonly().optional(),
  }),
  z.object({
    type: z.literal('gate-ended'),
    ...shared,
    exitCode: z.int().nullable(),
    output: z.string(),
    error: z.string().optional(),
  }),
  z.object({
    type: z.literal('review-ended'),
    ...shared,
    passed: z.boolean(),
    summary: z.string(),
    unable: z.literal(true).optional(),
    spent: Spent.optional(),
  }),
  z.object({ type: z.literal('checkpoint-made'), ...shared, commit: z.string().optional() }),
  z.object({
    type: z.literal('hook-ended'),
    ...shared,
    hookId: z.string(),
    exitCode: z.int().nullable(),
    error: z.string().optional(),
    output: z.string().optional(),
    spent: Spent.optional(),
  }),
  z.object({ type: z.literal('worktree-cleaned'), at, kept: z.string().optional() }),
])
export type MachineFact = z.output<typeof MachineFact>
