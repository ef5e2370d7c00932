import { z } from 'zod'
import { CellKind } from '../cell.ts'
import { FailureClass, Usage } from '../outcome.ts'
import { CheckResult } from '../progress.ts'
import { ProofVerdict, RoomKind } from '../proof.ts'
import { PhaseReport, Report } from '../report.ts'
import { Timestamp } from '../time.ts'

const iterationField = z.int().min(0)
const attemptField = z.int().min(0)

const RunAttempt = z.object({ type: z.literal('run-attempt'), iteration: iterationField, attempt: attemptField })

/** The orders that a machine executes; the backend executes all others. */
export const MachineOrder = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run-checks'), iteration: iterationField, names: z.array(z.string()).readonly() }),
  z.object({ type: z.literal('run-gate'), iteration: iterationField }),
  z.object({ type: z.literal('run-review'), iteration: iterationField }),
  z.object({ type: z.literal('make-checkpoint'), iteration: iterationField }),
  z.object({ type: z.literal('run-hook'), iteration: iterationField, hookId: z.string() }),
  z.object({ type: z.literal('clean-worktree') }),
])
export type MachineOrder = z.output<typeof MachineOrder>

export const PromptOrder = RunAttempt
export type PromptOrder = z.output<typeof PromptOrder>

const ReportedAttemptEnd = z.discriminatedUnion('kind', [
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

const ReviewCost = z.object({
  usage: Usage,
  costUsd: z.number().optional(),
  costEstimated: z.boolean().optional(),
  model: z.string().optional(),
})

const names = z.array(z.string())

const ProofMessage = z.object({
  verdict: ProofVerdict,
  room: RoomKind,
  labels: names,
  tests: z.object({ fixed: names, stillRed: names, added: names, missing: names, flaky: names.optional() }).optional(),
  reasons: names.readonly(),
  prompt: z.string(),
  named: z.boolean(),
  changed: z.boolean(),
  isForPeople: z.boolean().optional(),
  survivors: names.readonly().optional(),
  diff: z.string().optional(),
})

const WallsMessage = z.object({
  cell: CellKind,
  network: z.enum(['open', 'closed', 'allow-list']),
  limits: names.optional(),
  hosts: z.object({ allowed: names.optional(), refused: names.optional(), private: names.optional() }).optional(),
})

const timestampField = Timestamp
const commonFields = { at: timestampField, iteration: iterationField }

/** The facts that a machine may report: results of the orders it executes. */
export const MachineFact = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('attempt-ended'),
    ...commonFields,
    attempt: attemptField,
    end: ReportedAttemptEnd,
    usage: Usage,
    costUsd: z.number().optional(),
    costEstimated: z.boolean().optional(),
    model: z.string().optional(),
    changed: z.boolean().optional(),
    walls: WallsMessage.optional(),
    random: z.number().min(0).lt(1),
  }),
  z.object({
    type: z.literal('checks-ended'),
    ...commonFields,
    results: z.array(CheckResult).readonly(),
    checkFiles: z.array(z.object({ file: z.string(), hash: z.string() })).optional(),
    tampered: z.array(z.string()).readonly().optional(),
    proofBaseline: z.object({ tree: z.string(), record: z.string(), named: z.boolean() }).optional(),
    proof: ProofMessage.optional(),
  }),
  z.object({
    type: z.literal('gate-ended'),
    ...commonFields,
    exitCode: z.int().nullable(),
    output: z.string(),
    error: z.string().optional(),
  }),
  z.object({
    type: z.literal('review-ended'),
    ...commonFields,
    passed: z.boolean(),
    summary: z.string(),
    unable: z.literal(true).optional(),
    spent: ReviewCost.optional(),
  }),
  z.object({ type: z.literal('checkpoint-made'), ...commonFields, commit: z.string().optional() }),
  z.object({
    type: z.literal('hook-ended'),
    ...commonFields,
    hookId: z.string(),
    exitCode: z.int().nullable(),
    error: z.string().optional(),
    output: z.string().optional(),
    spent: ReviewCost.optional(),
    walls: WallsMessage.optional(),
  }),
  z.object({ type: z.literal('worktree-cleaned'), at: timestampField, kept: z.string().optional() }),
])
export type MachineFact = z.output<typeof MachineFact>
