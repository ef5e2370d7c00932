import { z } from 'zod'
import { fileObject } from './file-object.ts'
import { Id, SprintId } from './ids.ts'
import { FailureClass, Usage } from './outcome.ts'
import { CompiledPhase, CompiledWorktree, Current, DependencyGraph, WorkRef } from './phases.ts'
import {
  Check,
  ErrorCategory,
  Hook,
  Limits,
  Notify,
  ParallelExecution,
  Price,
  Prompts,
  Retry,
  Timeouts,
} from './settings.ts'
import { Timestamp } from './time.ts'
import { SprintMode } from './workflow.ts'

export const schemaVersion = 1

/** `stats.max-iterations` of a sprint without a limit, as in the seed. */
export const unlimitedIterations = 1_000_000

/** How much history PROGRESS.yaml shows; the journal has all. */
export const shown = { completedSteps: 1000, hookTasks: 1000, iterations: 100, notifications: 50 } as const

export const SprintStatus = z.enum([
  'not-started',
  'in-progress',
  'paused',
  'paused-at-breakpoint',
  'parked',
  'needs-human',
  'completed',
  'blocked',
  'failed',
  'limit-reached',
  'interrupted',
])
export type SprintStatus = z.infer<typeof SprintStatus>

export const Mode = z.enum(['planning', 'executing', 'reflecting'])
export type Mode = z.infer<typeof Mode>

export const Step = fileObject({
  id: Id,
  prompt: z.string(),
  status: z.enum(['pending', 'completed']),
  addedAt: Timestamp,
  addedInIteration: z.int(),
  completedAt: Timestamp.optional(),
  completedInIteration: z.int().optional(),
})
export type Step = z.output<typeof Step>

export const HookTask = fileObject({
  iteration: z.int(),
  hookId: Id,
  status: z.enum(['running', 'completed', 'failed']),
  spawnedAt: Timestamp,
  completedAt: Timestamp.optional(),
  exitCode: z.int().nullable().optional(),
  error: z.string().optional(),
  pid: z.int().nullable().optional(),
  transcript: z.string().optional(),
  /** Of a hook that is a prompt; null: it had no price. */
  costUsd: z.number().nullable().optional(),
})
export type HookTask = z.output<typeof HookTask>

export const CheckResult = fileObject({
  name: z.string(),
  passed: z.boolean(),
  exitCode: z.int().nullable(),
  durationMs: z.number(),
  /** The last part of what the check printed; the whole is in the attempt folder. */
  output: z.string(),
  /** Why it is not a pass although it ended, or why it did not end. */
  reason: z.string().optional(),
})
export type CheckResult = z.output<typeof CheckResult>

const CheckMark = fileObject({ name: z.string(), passed: z.boolean() })

export const Verdict = z.enum([
  'continue',
  'completed',
  'accepted',
  'refused',
  'premature',
  'needs-human',
  'malformed',
  'failed',
  'interrupted',
])
export type Verdict = z.infer<typeof Verdict>

/** What one iteration came to: its receipt. */
export const IterationRecord = fileObject({
  number: z.int(),
  mode: Mode,
  step: Id.optional(),
  work: WorkRef.optional(),
  verdict: Verdict,
  summary: z.string().optional(),
  /** Parts of the report that named unknown or finished steps, and why they were dropped. */
  rejected: z.array(z.string()).optional(),
  checks: z.array(CheckMark).optional(),
  /** Files that define a check and that the agent has changed. */
  tampered: z.array(z.string()).optional(),
  review: fileObject({ passed: z.boolean(), summary: z.string() }).optional(),
  /** Whether the agent changed the work tree; absent if that was not looked at. */
  changed: z.boolean().optional(),
  /** The commit that holds the work tree as it was afterwards, if it had changed. */
  checkpoint: z.string().optional(),
  /** There was no valid report, so no hook has run. */
  hooks: z.literal('skipped').optional(),
  agent: z.string().optional(),
  model: z.string().optional(),
  /** The cost, or a part of it, is by our own price list. */
  costEstimated: z.boolean().optional(),
  attempts: z.int(),
  startedAt: Timestamp,
  endedAt: Timestamp,
  costUsd: z.number().nullable(),
  usage: Usage,
})
export type IterationRecord = z.output<typeof IterationRecord>

/** An iteration that is not over. The loop never assumes that there is only one. */
export const LiveIteration = fileObject({
  number: z.int(),
  mode: Mode,
  /** In standard mode: the id of the phase, or of its item. */
  step: Id.optional(),
  /** Standard mode: what it works on; absent: on the end of the sprint. */
  work: WorkRef.optional(),
  stage: z.enum(['agent', 'waiting', 'checks', 'gate', 'review', 'hooks', 'checkpoint']),
  /** 0: no agent is called, only a gate or the checks are run. */
  attempt: z.int(),
  /** Who works on it; absent: the only one there is. */
  agent: z.string().optional(),
  model: z.string().optional(),
  costEstimated: z.boolean().optional(),
  startedAt: Timestamp,
  /** When the prompt of the live attempt was made: what came in later is not in it. */
  promptedAt: Timestamp.optional(),
  /** The next attempt goes on in this session and only asks for the report that was missing. */
  repair: fileObject({
    session: z.string(),
    reason: z.string(),
    /** What the session has used so far: some programs count on from there. */
    used: Usage.optional(),
  }).optional(),
  /** Its last attempt was ended on request in this session. If a person has said something since, the next one goes on in it. */
  interrupted: fileObject({
    session: z.string(),
    /** Whose session it is; absent: of the only agent there is. */
    agent: z.string().optional(),
    used: Usage.optional(),
    /** What people said before is in the session already. */
    promptedAt: Timestamp,
  }).optional(),
  /** A report was asked for again already; that is done once. */
  repaired: z.boolean().optional(),
  /** The prompt was too big for the agent: the next one is cut down. */
  smallPrompt: z.boolean().optional(),
  /** The attempt was ended to tell the agent something; the next one follows at once. */
  retelling: z.boolean().optional(),
  changed: z.boolean().optional(),
  stepsChanged: z.boolean().optional(),
  tampered: z.array(z.string()).optional(),
  review: fileObject({ passed: z.boolean(), summary: z.string() }).optional(),
  checkpoint: z.string().optional(),
  verdict: Verdict.optional(),
  summary: z.string().optional(),
  goalCompleteSummary: z.string().optional(),
  rejected: z.array(z.string()).optional(),
  checks: z.array(CheckMark).optional(),
  hooks: z.literal('skipped').optional(),
  /** The next iteration does not start before. */
  pauseUntil: Timestamp.optional(),
  /** Standard mode: why the work is not completed. */
  error: fileObject({ category: ErrorCategory, text: z.string() }).optional(),
  /** Standard mode: failures in a row of this iteration. */
  failures: fileObject({ class: FailureClass, count: z.int() }).optional(),
  costUsd: z.number().nullable(),
  /** What is known to be spent, once `cost-usd` is not known as a whole. */
  spentUsd: z.number().optional(),
  usage: Usage,
})
export type LiveIteration = z.output<typeof LiveIteration>

const HumanNeeded = fileObject({
  reason: z.string(),
  details: z.string(),
  options: z.array(z.string()).optional(),
  default: z.string().optional(),
  askedAt: Timestamp,
})

const RalphState = fileObject({
  idleThreshold: z.int().min(1),
  minIterations: z.int().min(0),
  goalPrompt: z.string().optional(),
  reflectionPrompt: z.string().optional(),
  /** Iterations in a row that began without a pending step. */
  idleCount: z.int().default(0),
  /** The last iteration that claimed the goal before min-iterations. */
  goalCompleteAttemptedAt: z.int().optional(),
})

/** Set when the goal is reached. */
const RalphExit = fileObject({
  detectedAt: Timestamp.nullable(),
  iteration: z.int().nullable(),
  finalSummary: z.string().nullable(),
  /** true: there was no check that could have refused the claim. */
  unchecked: z.boolean().optional(),
  /** Steps that were still pending when the goal was accepted. */
  openSteps: z.array(Id).optional(),
})

const Stats = fileObject({
  startedAt: Timestamp.nullable(),
  completedAt: Timestamp.nullable(),
  currentIteration: z.int(),
  maxIterations: z.int(),
  /** Steps ever added; the next one is `step-<total-steps>`, so that ids are never used twice. */
  totalSteps: z.int(),
  completedSteps: z.int(),
  /** Standard mode: phases and sub-phases, all together. */
  totalPhases: z.int().optional(),
  completedPhases: z.int().optional(),
  /** Summed over all attempts; null as soon as one attempt had no price. */
  costUsd: z.number().nullable(),
  /** What is known to be spent all the same; the limits go by it. */
  spentUsd: z.number().optional(),
  usage: Usage,
  /** Time in which something was at work; waiting and resting do not count. */
  activeMs: z.number(),
  /** When anything last happened. */
  updatedAt: Timestamp.optional(),
  /** Iterations in a row that changed neither files nor steps nor checks. */
  withoutProgress: z.int().default(0),
})

/** `PROGRESS.yaml`: the whole state of a sprint, with the seeds' field names. */
export const Progress = fileObject({
  schemaVersion: z.literal(schemaVersion),
  /** Grows by one with every change. */
  rev: z.int(),
  sprintId: SprintId,
  name: z.string().optional(),
  owner: z.string().optional(),
  created: z.string().optional(),
  workflow: z.string(),
  status: SprintStatus,
  /** Why the sprint rests, in one sentence, when the status alone does not say it. */
  reason: z.string().optional(),
  /** Failures in a row; gone with the next valid report. */
  failure: fileObject({ class: FailureClass, reason: z.string(), count: z.int() }).optional(),
  /** Standard mode: what went wrong, in which phase, and when, or the phase that it paused after. */
  error: z.string().optional(),
  failedPhase: Id.optional(),
  blockedAt: Timestamp.optional(),
  breakpointPhaseId: Id.optional(),
  mode: SprintMode,
  goal: z.string(),
  ralph: RalphState,
  agent: z.array(z.string()).optional(),
  model: z.string().optional(),
  doneWhen: z.array(Check).optional(),
  limits: Limits,
  /** Limits given on the command line, for the current run only. */
  runLimits: fileObject({
    iterations: z.int().optional(),
    usd: z.number().optional(),
    durationMs: z.number().optional(),
  }).optional(),
  timeouts: Timeouts,
  env: fileObject({ pass: z.array(z.string()) }).optional(),
  prices: z.record(z.string(), Price).optional(),
  review: fileObject({ agent: z.string(), model: z.string().optional() }).optional(),
  checkpoint: z.boolean().optional(),
  sandbox: z.enum(['auto', 'required', 'off']).optional(),
  notify: z.array(Notify).optional(),
  worktree: CompiledWorktree.optional(),
  /** What has become of the worktree. */
  worktreeState: fileObject({ createdAt: Timestamp, cleanedUp: z.boolean().optional() }).optional(),
  /** Standard mode, down to `current`. */
  phases: z.array(CompiledPhase).optional(),
  dependencyGraph: z.array(DependencyGraph).optional(),
  parallelExecution: ParallelExecution.optional(),
  retry: Retry.optional(),
  prompts: Prompts.optional(),
  current: Current.optional(),
  perIterationHooks: z.array(Hook),
  dynamicSteps: z.array(Step),
  live: z.array(LiveIteration).default([]),
  /** How the sprint is to stop, and after what. */
  stopRequested: fileObject({ as: z.enum(['paused', 'interrupted']), when: z.enum(['iteration', 'turn']) }).optional(),
  /** Standard mode: how the sprint will rest as soon as nothing of it is at work any more. */
  ending: fileObject({
    status: SprintStatus,
    reason: z.string().optional(),
    phase: Id.optional(),
    error: z.string().optional(),
  }).optional(),
  humanNeeded: HumanNeeded.optional(),
  /** What a person answered; the next prompt shows it. */
  answer: fileObject({ question: z.string(), answer: z.string(), at: Timestamp }).optional(),
  /** What people told the agent while it worked; the next prompt shows it. */
  messages: z.array(fileObject({ text: z.string(), at: Timestamp })).optional(),
  parked: fileObject({ reason: z.string(), until: Timestamp }).optional(),
  /** The agents of the current run: first choice, then fallbacks. */
  runAgents: z.array(z.string()).optional(),
  /** What the command line says, which counts before what phases say; and agents that are not installed. */
  runChoice: fileObject({
    agent: z.boolean().optional(),
    model: z.string().optional(),
    missing: z.array(z.string()).optional(),
  }).optional(),
  /** Agents whose usage limit is not over. */
  agentLimits: z.array(fileObject({ agent: z.string(), until: Timestamp })).optional(),
  /** Attempts of the last hour that failed, for limits.failed-starts-per-hour. */
  failedStarts: z.array(Timestamp).optional(),
  /** What the checks said before the first iteration. */
  baseline: z.array(CheckMark).optional(),
  /** The files that define the checks, as they were at the start. */
  checkFiles: z.array(fileObject({ file: z.string(), hash: z.string() })).optional(),
  /** What the checks said when they were last red; the next prompt shows it. */
  refusedBy: z.array(CheckResult).optional(),
  /** Output of failed hooks with `on-fail: feed-back`; the next prompt shows it. */
  feedback: z.array(fileObject({ hookId: Id, output: z.string() })).optional(),
  /** Who was told what, and whether it arrived: the last ones. */
  notifications: z
    .array(
      fileObject({ at: Timestamp, to: z.string(), about: z.string(), sent: z.boolean(), error: z.string().optional() }),
    )
    .optional(),
  iterations: z.array(IterationRecord).default([]),
  hookTasks: z.array(HookTask),
  ralphExit: RalphExit,
  stats: Stats,
})
export type Progress = z.output<typeof Progress>
export type RunLimits = NonNullable<Progress['runLimits']>
