import { z } from 'zod'
import { fileObject } from './file-object.ts'
import { Id } from './ids.ts'
import { Usage } from './outcome.ts'
import { ProofMark } from './proof.ts'
import { Timestamp } from './time.ts'

/** The way towards a goal. */
export const RalphState = fileObject({
  idleThreshold: z.int().min(1).describe('Iterations without pending steps before the agent reflects'),
  minIterations: z.int().min(0).describe('First iteration that may claim goal-complete'),
  goalPrompt: z.string().optional().describe('From the workflow: text added to the planning prompt'),
  reflectionPrompt: z.string().optional().describe('From the workflow: text added to the reflecting prompt'),
  idleCount: z.int().default(0).describe('Consecutive iterations that began without a pending step'),
  goalCompleteAttemptedAt: z
    .int()
    .optional()
    .describe('The last iteration that claimed the goal before min-iterations'),
})

/** Filled in when the goal is reached. */
export const RalphExit = fileObject({
  detectedAt: Timestamp.nullable().describe('When the claim was accepted'),
  iteration: z.int().nullable().describe('Iteration whose claim was accepted'),
  finalSummary: z.string().nullable().describe("What was achieved, in the agent's words"),
  unchecked: z.boolean().optional().describe('true: no check could have refused the claim'),
  unproven: z.boolean().optional().describe('true: the checks pass, but nothing shows that the work did it'),
  proof: ProofMark.optional().describe('What the proof of the claim showed'),
  openSteps: z.array(Id).optional().describe('Steps still pending when the claim was accepted'),
})

/** Counters of the whole sprint. */
export const Stats = fileObject({
  startedAt: Timestamp.nullable().describe('First start of the sprint'),
  completedAt: Timestamp.nullable().describe('Completion time'),
  currentIteration: z.int().describe('Number of the last started iteration'),
  maxIterations: z.int().describe('Limit of iterations; 1000000: no limit'),
  totalSteps: z.int().describe('Steps ever added; the next one is `step-<total-steps>`, so ids are never reused'),
  completedSteps: z.int().describe('Completed steps'),
  totalPhases: z.int().optional().describe('Standard mode: total phases and sub-phases'),
  completedPhases: z.int().optional().describe('Standard mode: completed phases and sub-phases'),
  costUsd: z.number().nullable().describe('Total cost of all attempts; null once an attempt has no price'),
  spentUsd: z.number().optional().describe('Known part of the cost; limits use it'),
  usage: Usage.describe('Tokens of all attempts'),
  activeMs: z.number().describe('Time during which work ran, without waiting and resting'),
  updatedAt: Timestamp.optional().describe('Time of the last change'),
  withoutProgress: z
    .int()
    .default(0)
    .describe('Consecutive iterations that changed neither files nor steps nor checks'),
})
