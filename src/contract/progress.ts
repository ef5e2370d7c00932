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

export const SprintMode = z.enum(['standard', 'ralph'])

export const Mode = z.enum(['planning', 'executing', 'reflecting'])
export type Mode = z.infer<typeof Mode>

export const Step = fileObject({
  id: Id.describe('`step-<n>`; a number is never used again'),
  prompt: z.string().describe('What is to be done'),
  status: z.enum(['pending', 'completed']).describe('Whether it is done'),
  addedAt: Timestamp.describe('When it was added'),
  addedInIteration: z.int().describe('By which iteration; 0: by SPRINT.yaml or by a person'),
  completedAt: Timestamp.optional().describe('When it was done'),
  completedInIteration: z.int().optional().describe('By which iteration'),
})
export type Step = z.output<typeof Step>

export const HookTask = fileObject({
  iteration: z.int().describe('After which iteration it ran'),
  hookId: Id.describe('Which hook it was'),
  status: z.enum(['running', 'completed', 'failed']).describe('How it stands'),
  spawnedAt: Timestamp.describe('When it was started'),
  completedAt: Timestamp.optional().describe('When it ended'),
  exitCode: z.int().nullable().optional().describe('As its process ended; null: it was killed'),
  error: z.string().optional().describe('Why it failed, if not by its exit code'),
  pid: z.int().nullable().optional().describe('Its process, while it runs'),
  transcript: z.string().optional().describe('Where what it printed is, within the sprint folder'),
  costUsd: z.number().nullable().optional().describe('Of a hook that is a prompt; null: it had no price'),
})
export type HookTask = z.output<typeof HookTask>

export const CheckResult = fileObject({
  name: z.string().describe('The name of the check, or its command'),
  passed: z.boolean().describe('Whether it passed'),
  exitCode: z.int().nullable().describe('As its process ended; null: it was killed'),
  durationMs: z.number().describe('How long it took'),
  output: z.string().describe('The last part of what the check printed; the whole is in the attempt folder'),
  reason: z.string().optional().describe('Why it is not a pass although it ended, or why it did not end'),
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
  number: z.int().describe('1, 2, 3 …; never used twice'),
  mode: Mode.describe('What the iteration was for'),
  step: Id.optional().describe('The step it worked on'),
  work: WorkRef.optional().describe('Standard mode: the phase or item it worked on'),
  verdict: Verdict.describe('What Ralph made of it'),
  summary: z.string().optional().describe('What the agent said it did'),
  rejected: z
    .array(z.string())
    .optional()
    .describe('Parts of the report that named unknown or finished steps, and why they were dropped'),
  checks: z.array(CheckMark).optional().describe('What the checks said, if they were run'),
  tampered: z.array(z.string()).optional().describe('Files that define a check and that the agent has changed'),
  review: fileObject({ passed: z.boolean(), summary: z.string() })
    .optional()
    .describe('What the second agent said, if it was asked'),
  changed: z.boolean().optional().describe('Whether the agent changed the work tree; absent if that was not looked at'),
  checkpoint: z
    .string()
    .optional()
    .describe('The commit that holds the work tree as it was afterwards, if it had changed'),
  hooks: z.literal('skipped').optional().describe('There was no valid report, so no hook has run'),
  agent: z.string().optional().describe('Who worked on it'),
  model: z.string().optional().describe('With which model'),
  costEstimated: z.boolean().optional().describe('The cost, or a part of it, is by our own price list'),
  attempts: z.int().describe('How often the agent program was started for it'),
  startedAt: Timestamp.describe('When it began'),
  endedAt: Timestamp.describe('When it was over'),
  costUsd: z.number().nullable().describe('Of all its attempts; null: not all of them had a price'),
  usage: Usage.describe('Tokens of all its attempts'),
})
export type IterationRecord = z.output<typeof IterationRecord>

/** An iteration that is not over. The loop never assumes that there is only one. */
export const LiveIteration = fileObject({
  number: z.int().describe('1, 2, 3 …; never used twice'),
  mode: Mode.describe('What the iteration is for'),
  step: Id.optional().describe('In standard mode: the id of the phase, or of its item'),
  work: WorkRef.optional().describe('Standard mode: what it works on; absent: on the end of the sprint'),
  stage: z.enum(['agent', 'waiting', 'checks', 'gate', 'review', 'hooks', 'checkpoint']).describe('Where it stands'),
  attempt: z.int().describe('0: no agent is called, only a gate or the checks are run'),
  agent: z.string().optional().describe('Who works on it; absent: the only one there is'),
  model: z.string().optional().describe('With which model'),
  costEstimated: z.boolean().optional().describe('The cost, or a part of it, is by our own price list'),
  startedAt: Timestamp.describe('When it began'),
  promptedAt: Timestamp.optional().describe(
    'When the prompt of the live attempt was made: what came in later is not in it',
  ),
  repair: fileObject({
    session: z.string(),
    reason: z.string(),
    used: Usage.optional().describe('What the session has used so far: some programs count on from there'),
  })
    .optional()
    .describe('The next attempt goes on in this session and only asks for the report that was missing'),
  interrupted: fileObject({
    session: z.string(),
    agent: z.string().optional().describe('Whose session it is; absent: of the only agent there is'),
    used: Usage.optional(),
    promptedAt: Timestamp.describe('What people said before is in the session already'),
  })
    .optional()
    .describe(
      'Its last attempt was ended on request in this session. If a person has said something since, the next one goes on in it',
    ),
  repaired: z.boolean().optional().describe('A report was asked for again already; that is done once'),
  smallPrompt: z.boolean().optional().describe('The prompt was too big for the agent: the next one is cut down'),
  retelling: z
    .boolean()
    .optional()
    .describe('The attempt was ended to tell the agent something; the next one follows at once'),
  changed: z.boolean().optional().describe('Whether the agent changed the work tree'),
  stepsChanged: z.boolean().optional().describe('Whether its report changed the steps'),
  tampered: z.array(z.string()).optional().describe('Files that define a check and that the agent has changed'),
  review: fileObject({ passed: z.boolean(), summary: z.string() }).optional().describe('What the second agent said'),
  checkpoint: z.string().optional().describe('The commit that holds the work tree as it was afterwards'),
  verdict: Verdict.optional().describe('What Ralph makes of it, once that is known'),
  summary: z.string().optional().describe('What the agent said it did'),
  goalCompleteSummary: z.string().optional().describe('Its claim'),
  rejected: z.array(z.string()).optional().describe('Parts of the report that were dropped, and why'),
  checks: z.array(CheckMark).optional().describe('What the checks said'),
  hooks: z.literal('skipped').optional().describe('There was no valid report, so no hook runs'),
  pauseUntil: Timestamp.optional().describe('The next iteration does not start before'),
  error: fileObject({ category: ErrorCategory, text: z.string() })
    .optional()
    .describe('Standard mode: why the work is not completed'),
  failures: fileObject({ class: FailureClass, count: z.int() })
    .optional()
    .describe('Standard mode: failures in a row of this iteration'),
  costUsd: z.number().nullable().describe('Of its attempts so far; null: not all of them had a price'),
  spentUsd: z.number().optional().describe('What is known to be spent, once `cost-usd` is not known as a whole'),
  usage: Usage.describe('Tokens of its attempts so far'),
})
export type LiveIteration = z.output<typeof LiveIteration>

const HumanNeeded = fileObject({
  reason: z.string().describe('The question, in one sentence'),
  details: z.string().describe('What one must know to answer it'),
  options: z.array(z.string()).optional().describe('Answers to choose from'),
  default: z.string().optional().describe('What the agent would take'),
  askedAt: Timestamp.describe('When it was asked'),
})

const RalphState = fileObject({
  idleThreshold: z.int().min(1).describe('Iterations without pending steps before reflecting'),
  minIterations: z.int().min(0).describe('A claim counts from this iteration on'),
  goalPrompt: z.string().optional().describe('Of the workflow: added to the planning prompt'),
  reflectionPrompt: z.string().optional().describe('Of the workflow: added to the reflecting prompt'),
  idleCount: z.int().default(0).describe('Iterations in a row that began without a pending step'),
  goalCompleteAttemptedAt: z
    .int()
    .optional()
    .describe('The last iteration that claimed the goal before min-iterations'),
})

/** Set when the goal is reached. */
const RalphExit = fileObject({
  detectedAt: Timestamp.nullable().describe('When the claim was accepted'),
  iteration: z.int().nullable().describe('Whose claim it was'),
  finalSummary: z.string().nullable().describe('What was reached, in the words of the agent'),
  unchecked: z.boolean().optional().describe('true: there was no check that could have refused the claim'),
  openSteps: z.array(Id).optional().describe('Steps that were still pending when the goal was accepted'),
})

const Stats = fileObject({
  startedAt: Timestamp.nullable().describe('When the sprint was first started'),
  completedAt: Timestamp.nullable().describe('When it was completed'),
  currentIteration: z.int().describe('The number of the last iteration that began'),
  maxIterations: z.int().describe('The limit of iterations; 1000000: none'),
  totalSteps: z
    .int()
    .describe('Steps ever added; the next one is `step-<total-steps>`, so that ids are never used twice'),
  completedSteps: z.int().describe('Steps that are done'),
  totalPhases: z.int().optional().describe('Standard mode: phases and sub-phases, all together'),
  completedPhases: z.int().optional().describe('Standard mode: those that are completed'),
  costUsd: z.number().nullable().describe('Summed over all attempts; null as soon as one attempt had no price'),
  spentUsd: z.number().optional().describe('What is known to be spent all the same; the limits go by it'),
  usage: Usage.describe('Tokens of all attempts'),
  activeMs: z.number().describe('Time in which something was at work; waiting and resting do not count'),
  updatedAt: Timestamp.optional().describe('When anything last happened'),
  withoutProgress: z.int().default(0).describe('Iterations in a row that changed neither files nor steps nor checks'),
})

/** `PROGRESS.yaml`: the whole state of a sprint, with the seeds' field names. */
export const Progress = fileObject({
  schemaVersion: z.literal(schemaVersion).describe('Version of this format'),
  rev: z.int().describe('Grows by one with every change'),
  sprintId: SprintId.describe('The id of the sprint'),
  name: z.string().optional().describe('As in SPRINT.yaml'),
  owner: z.string().optional().describe('As in SPRINT.yaml'),
  created: z.string().optional().describe('As in SPRINT.yaml'),
  workflow: z.string().describe('The name of the workflow'),
  status: SprintStatus.describe('How the sprint stands'),
  reason: z
    .string()
    .optional()
    .describe('Why the sprint rests, in one sentence, when the status alone does not say it'),
  failure: fileObject({ class: FailureClass, reason: z.string(), count: z.int() })
    .optional()
    .describe('Failures in a row; gone with the next valid report'),
  error: z
    .string()
    .optional()
    .describe('Standard mode: what went wrong, in which phase, and when, or the phase that it paused after'),
  failedPhase: Id.optional().describe('Standard mode: the phase that failed'),
  blockedAt: Timestamp.optional().describe('Standard mode: when that was'),
  breakpointPhaseId: Id.optional().describe('Standard mode: the phase whose breakpoint the sprint stands at'),
  mode: SprintMode.describe('Driven by a goal, or by phases'),
  protocol: z
    .enum(['notes', 'report'])
    .optional()
    .describe(
      'How the agent tells the end: by its report, or by its notes and their lock (Ralph Mode of the fleet). Absent: `report`',
    ),
  goal: z.string().describe('What is to be reached'),
  ralph: RalphState.describe('How the goal-driven loop stands'),
  agent: z.array(z.string()).optional().describe('Agent programs as in SPRINT.yaml: first choice, then fallbacks'),
  model: z.string().optional().describe('As in SPRINT.yaml'),
  doneWhen: z.array(Check).optional().describe('The checks, given or detected'),
  limits: Limits.describe('Where the sprint stops'),
  runLimits: fileObject({
    iterations: z.int().optional(),
    usd: z.number().optional(),
    durationMs: z.number().optional(),
  })
    .optional()
    .describe('Limits given on the command line, for the current run only'),
  timeouts: Timeouts.describe('When an attempt or a hook is ended'),
  env: fileObject({ pass: z.array(z.string()) })
    .optional()
    .describe('As in SPRINT.yaml'),
  prices: z.record(z.string(), Price).optional().describe('As in SPRINT.yaml'),
  review: fileObject({ agent: z.string(), model: z.string().optional() }).optional().describe('As in SPRINT.yaml'),
  checkpoint: z.boolean().optional().describe('As in SPRINT.yaml'),
  sandbox: z.enum(['auto', 'required', 'off']).optional().describe('As in SPRINT.yaml'),
  notify: z.array(Notify).optional().describe('As in SPRINT.yaml'),
  worktree: CompiledWorktree.optional().describe('The worktree that the sprint works in'),
  worktreeState: fileObject({ createdAt: Timestamp, cleanedUp: z.boolean().optional() })
    .optional()
    .describe('What has become of the worktree'),
  phases: z.array(CompiledPhase).optional().describe('Standard mode, down to `current`'),
  dependencyGraph: z.array(DependencyGraph).optional().describe('Which items wait for which'),
  parallelExecution: ParallelExecution.optional().describe('As in SPRINT.yaml or the workflow'),
  retry: Retry.optional().describe('As in SPRINT.yaml or the workflow'),
  prompts: Prompts.optional().describe('As in SPRINT.yaml or the workflow'),
  current: Current.optional().describe('Where the sprint stands, by index'),
  perIterationHooks: z.array(Hook).describe('The hooks of the workflow, with what SPRINT.yaml says about them'),
  dynamicSteps: z.array(Step).describe('All pending steps in their order, and the last 1,000 completed ones'),
  live: z.array(LiveIteration).default([]).describe('Iterations that are not over'),
  stopRequested: fileObject({ as: z.enum(['paused', 'interrupted']), when: z.enum(['iteration', 'turn']) })
    .optional()
    .describe('How the sprint is to stop, and after what'),
  ending: fileObject({
    status: SprintStatus,
    reason: z.string().optional(),
    phase: Id.optional(),
    error: z.string().optional(),
  })
    .optional()
    .describe('Standard mode: how the sprint will rest as soon as nothing of it is at work any more'),
  humanNeeded: HumanNeeded.optional().describe('The open question'),
  answer: fileObject({ question: z.string(), answer: z.string(), at: Timestamp })
    .optional()
    .describe('What a person answered; the next prompt shows it'),
  messages: z
    .array(fileObject({ text: z.string(), at: Timestamp }))
    .optional()
    .describe('What people told the agent while it worked; the next prompt shows it'),
  parked: fileObject({ reason: z.string(), until: Timestamp }).optional().describe('Why nothing runs, and until when'),
  runAgents: z.array(z.string()).optional().describe('The agents of the current run: first choice, then fallbacks'),
  runChoice: fileObject({
    agent: z.boolean().optional(),
    model: z.string().optional(),
    missing: z.array(z.string()).optional(),
  })
    .optional()
    .describe('What the command line says, which counts before what phases say; and agents that are not installed'),
  agentLimits: z
    .array(fileObject({ agent: z.string(), until: Timestamp }))
    .optional()
    .describe('Agents whose usage limit is not over'),
  failedStarts: z
    .array(Timestamp)
    .optional()
    .describe('Attempts of the last hour that failed, for limits.failed-starts-per-hour'),
  baseline: z.array(CheckMark).optional().describe('What the checks said before the first iteration'),
  checkFiles: z
    .array(fileObject({ file: z.string(), hash: z.string() }))
    .optional()
    .describe('The files that define the checks, as they were at the start'),
  refusedBy: z
    .array(CheckResult)
    .optional()
    .describe('What the checks said when they were last red; the next prompt shows it'),
  feedback: z
    .array(fileObject({ hookId: Id, output: z.string() }))
    .optional()
    .describe('Output of failed hooks with `on-fail: feed-back`; the next prompt shows it'),
  notifications: z
    .array(
      fileObject({ at: Timestamp, to: z.string(), about: z.string(), sent: z.boolean(), error: z.string().optional() }),
    )
    .optional()
    .describe('Who was told what, and whether it arrived: the last ones'),
  iterations: z.array(IterationRecord).default([]).describe('The receipts of the last 100 iterations'),
  hookTasks: z.array(HookTask).describe('The last 1,000 runs of hooks'),
  ralphExit: RalphExit.describe('How the goal was reached'),
  stats: Stats.describe('Numbers'),
})
export type Progress = z.output<typeof Progress>
export type RunLimits = NonNullable<Progress['runLimits']>
