import { z } from 'zod'
import { CellSettings, Network, NetworkUse, Walls } from './cell.ts'
import { Check, CheckRoom } from './check.ts'
import { fileObject } from './file-object.ts'
import { Id, SprintId } from './ids.ts'
import { FailureClass, Usage } from './outcome.ts'
import { CompiledPhase, CompiledWorktree, DependencyGraph, positionFields, WorkRef } from './phases.ts'
import { ProofBaseline, ProofMark } from './proof.ts'
import {
  CheckpointSetting,
  ErrorCategory,
  Hook,
  Limits,
  Notify,
  ParallelExecution,
  Price,
  Prompts,
  Retry,
  Keep,
  Seal,
  Timeouts,
} from './settings.ts'
import { RalphExit, RalphState, Stats } from './sprint-state.ts'
import { Timestamp } from './time.ts'

export const schemaVersion = 1

/** `stats.max-iterations` of a sprint without a limit, as in the seeds. */
export const unlimitedIterations = 1_000_000

/** How much history PROGRESS.yaml shows. The journal keeps everything. */
export const historyLimits = { completedSteps: 1000, hookTasks: 1000, iterations: 100, notifications: 50 } as const

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
export type SprintMode = z.infer<typeof SprintMode>
/** How the agent signals the end. Only the fleet starts sprints with notes. */
export const SprintProtocol = z.enum(['notes', 'report', 'classic'])
export type SprintProtocol = z.infer<typeof SprintProtocol>

export const Mode = z.enum(['planning', 'executing', 'reflecting'])
export type Mode = z.infer<typeof Mode>

export const Step = fileObject({
  id: Id.describe('`step-<n>`; numbers are never reused'),
  prompt: z.string().describe('What to do'),
  status: z.enum(['pending', 'completed']).describe('Whether it is done'),
  addedAt: Timestamp.describe('Creation time'),
  addedInIteration: z.int().describe('Iteration that added it; 0: SPRINT.yaml or a user'),
  completedAt: Timestamp.optional().describe('Completion time'),
  completedInIteration: z.int().optional().describe('Iteration that completed it'),
})
export type Step = z.output<typeof Step>

export const HookTask = fileObject({
  iteration: z.int().describe('Iteration that the hook ran after'),
  hookId: Id.describe('Id of the hook'),
  status: z.enum(['running', 'completed', 'failed']).describe('Current status'),
  spawnedAt: Timestamp.describe('Start time'),
  completedAt: Timestamp.optional().describe('End time'),
  exitCode: z.int().nullable().optional().describe('Exit code of its process; null: killed'),
  error: z.string().optional().describe('Why it failed, if the exit code does not say it'),
  pid: z.int().nullable().optional().describe('Process id while it runs'),
  transcript: z.string().optional().describe('Path of its output within the sprint folder'),
  costUsd: z.number().nullable().optional().describe('Cost of a prompt hook; null: price unknown'),
})
export type HookTask = z.output<typeof HookTask>

export const CheckResult = fileObject({
  name: z.string().describe('Name of the check, or its command'),
  passed: z.boolean().describe('Whether it passed'),
  exitCode: z.int().nullable().describe('Exit code of its process; null: killed'),
  durationMs: z.number().describe('Duration in milliseconds'),
  output: z.string().describe('End of the output; the attempt folder holds all of it'),
  reason: z.string().optional().describe('Why it failed although it exited with 0, or why it did not run to the end'),
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

/** The receipt of one iteration. */
export const IterationRecord = fileObject({
  number: z.int().describe('1, 2, 3 …; never reused'),
  mode: Mode.describe('Purpose of the iteration'),
  step: Id.optional().describe('Step that it worked on'),
  work: WorkRef.optional().describe('Standard mode: phase or item that it worked on'),
  verdict: Verdict.describe("Ralph's judgement"),
  summary: z.string().optional().describe("The agent's own summary"),
  rejected: z
    .array(z.string())
    .optional()
    .describe('Parts of the report that Ralph dropped because they named unknown or finished steps'),
  checks: z.array(CheckMark).optional().describe('Check results, if the checks ran'),
  tampered: z.array(z.string()).optional().describe('Files that define a check and that the agent changed'),
  proof: ProofMark.optional().describe('What the proof of its claim showed'),
  review: fileObject({ passed: z.boolean(), summary: z.string() })
    .optional()
    .describe('Judgement of the reviewer, if there was a review'),
  changed: z.boolean().optional().describe('Whether the agent changed the work tree; absent: unknown'),
  hosts: NetworkUse.optional().describe('Hosts that the agent asked for through the network of its cell'),
  checkpoint: z.string().optional().describe('Commit of the work tree after the iteration, if it changed'),
  hooks: z.literal('skipped').optional().describe('No hook ran because there was no valid report'),
  agent: z.string().optional().describe('Agent program that worked on it'),
  model: z.string().optional().describe('Model that the agent used'),
  costEstimated: z.boolean().optional().describe('At least part of the cost comes from our own price list'),
  attempts: z.int().describe('Number of attempts'),
  startedAt: Timestamp.describe('Start time'),
  endedAt: Timestamp.describe('End time'),
  costUsd: z.number().nullable().describe('Cost of all attempts; null: at least one has no price'),
  usage: Usage.describe('Tokens of all attempts'),
})
export type IterationRecord = z.output<typeof IterationRecord>

/** An iteration that has not ended. There may be several; the loop never assumes only one. */
export const LiveIteration = fileObject({
  number: z.int().describe('1, 2, 3 …; never reused'),
  mode: Mode.describe('Purpose of the iteration'),
  step: Id.optional().describe('Standard mode: id of the phase or of its item'),
  work: WorkRef.optional().describe('Standard mode: what it works on; absent: the end of the sprint'),
  stage: z.enum(['agent', 'waiting', 'checks', 'gate', 'review', 'hooks', 'checkpoint']).describe('Current stage'),
  attempt: z.int().describe('Number of the current attempt; 0: only a gate or the checks run, no agent'),
  agent: z.string().optional().describe('Agent program that works on it; absent: the only one'),
  model: z.string().optional().describe('Model that the agent uses'),
  costEstimated: z.boolean().optional().describe('At least part of the cost comes from our own price list'),
  startedAt: Timestamp.describe('Start time'),
  promptedAt: Timestamp.optional().describe(
    'When the prompt of the current attempt was built; later messages are not in it',
  ),
  repair: fileObject({
    session: z.string(),
    reason: z.string(),
    used: Usage.optional().describe('Usage of the session so far; some programs report cumulative counts'),
  })
    .optional()
    .describe('The next attempt resumes this session and only asks for the missing report'),
  interrupted: fileObject({
    session: z.string(),
    agent: z.string().optional().describe('Agent that owns the session; absent: the only one'),
    used: Usage.optional(),
    promptedAt: Timestamp.describe('The session already contains earlier messages'),
  })
    .optional()
    .describe(
      'Session whose last attempt ended on request. If a user has sent a message since, the next attempt resumes it',
    ),
  repaired: z.boolean().optional().describe('Ralph has already asked for the report once more; it does that only once'),
  smallPrompt: z.boolean().optional().describe('The prompt was too large for the agent, so the next one is shortened'),
  retelling: z
    .boolean()
    .optional()
    .describe('Ralph ended the attempt to deliver a message; the next attempt starts at once'),
  changed: z.boolean().optional().describe('Whether the agent changed the work tree'),
  hosts: NetworkUse.optional().describe('Hosts that the agent asked for'),
  stepsChanged: z.boolean().optional().describe('Whether its report changed the steps'),
  tampered: z.array(z.string()).optional().describe('Files that define a check and that the agent changed'),
  proof: ProofMark.optional().describe('What the proof of its claim showed'),
  survivors: z
    .array(z.string())
    .optional()
    .describe('For the reviewer, while it works: small changes of the work that no test noticed'),
  flakes: z.int().optional().describe('How often the checks of its claim were run again because red tests passed'),
  review: fileObject({ passed: z.boolean(), summary: z.string() }).optional().describe('Judgement of the reviewer'),
  checkpoint: z.string().optional().describe('Commit of the work tree after the iteration'),
  verdict: Verdict.optional().describe("Ralph's judgement, once known"),
  summary: z.string().optional().describe("The agent's own summary"),
  goalCompleteSummary: z.string().optional().describe('Summary of the claim'),
  rejected: z.array(z.string()).optional().describe('Parts of the report that Ralph dropped, and why'),
  checks: z.array(CheckMark).optional().describe('Check results'),
  hooks: z.literal('skipped').optional().describe('No hook runs because there was no valid report'),
  pauseUntil: Timestamp.optional().describe('Earliest start of the next iteration'),
  error: fileObject({ category: ErrorCategory, text: z.string() })
    .optional()
    .describe('Standard mode: why the work did not complete'),
  failures: fileObject({ class: FailureClass, count: z.int() })
    .optional()
    .describe('Standard mode: consecutive failures in this iteration'),
  costUsd: z.number().nullable().describe('Cost of the attempts so far; null: at least one has no price'),
  spentUsd: z.number().optional().describe('Known part of the cost, when `cost-usd` is null'),
  usage: Usage.describe('Tokens of the attempts so far'),
})
export type LiveIteration = z.output<typeof LiveIteration>

const HumanNeeded = fileObject({
  reason: z.string().describe('The question in one sentence'),
  details: z.string().describe('What the user must know to answer it'),
  options: z.array(z.string()).optional().describe('Answers to choose from'),
  default: z.string().optional().describe("The agent's preferred answer"),
  askedAt: Timestamp.describe('When the agent asked'),
})

/** `PROGRESS.yaml`: the whole state of a sprint, with the seeds' field names. */
export const Progress = fileObject({
  schemaVersion: z.literal(schemaVersion).describe('Version of this format'),
  rev: z.int().describe('Grows by one with every change'),
  sprintId: SprintId.describe('Id of the sprint'),
  name: z.string().optional().describe('As in SPRINT.yaml'),
  owner: z.string().optional().describe('As in SPRINT.yaml'),
  created: z.string().optional().describe('As in SPRINT.yaml'),
  workflow: z.string().describe('Name of the workflow'),
  status: SprintStatus.describe('Status of the sprint'),
  reason: z
    .string()
    .optional()
    .describe('Why the sprint stopped, in one sentence, if the status alone does not say it'),
  failure: fileObject({ class: FailureClass, reason: z.string(), count: z.int() })
    .optional()
    .describe('Consecutive failures; cleared by the next valid report'),
  error: z
    .string()
    .optional()
    .describe('Standard mode: what went wrong, in which phase and when, or the phase after which it paused'),
  failedPhase: Id.optional().describe('Standard mode: the phase that failed'),
  blockedAt: Timestamp.optional().describe('Standard mode: time of that failure'),
  breakpointPhaseId: Id.optional().describe('Standard mode: phase whose breakpoint paused the sprint'),
  mode: SprintMode.describe('Goal-driven or phases'),
  protocol: SprintProtocol.optional().describe(
    'How the agent signals the end: `report` (default), `notes` with a lock file, or `classic` with `RALPH_COMPLETE:`',
  ),
  report: z.literal('optional').optional().describe('Standard mode: a phase may end without a report'),
  goal: z.string().describe('What to achieve'),
  ralph: RalphState.describe('State of the goal-driven loop'),
  agent: z.array(z.string()).optional().describe('Agent programs as in SPRINT.yaml: first choice, then fallbacks'),
  model: z.string().optional().describe('As in SPRINT.yaml'),
  doneWhen: z.array(Check).optional().describe('The checks, configured or detected'),
  limits: Limits.describe('Limits at which the sprint stops'),
  runLimits: fileObject({
    iterations: z.int().optional(),
    usd: z.number().optional(),
    durationMs: z.number().optional(),
  })
    .optional()
    .describe('Limits from the command line, for the current run only'),
  timeouts: Timeouts.describe('Timeouts for attempts and hooks'),
  env: fileObject({ pass: z.array(z.string()) })
    .optional()
    .describe('As in SPRINT.yaml'),
  prices: z.record(z.string(), Price).optional().describe('As in SPRINT.yaml'),
  proof: z.enum(['required', 'optional']).optional().describe('As in SPRINT.yaml'),
  frozen: z.array(z.string()).optional().describe('As in SPRINT.yaml'),
  mayChange: z.array(z.string()).optional().describe('As in SPRINT.yaml'),
  seal: Seal.optional().describe('As in SPRINT.yaml'),
  room: CheckRoom.optional().describe('As in SPRINT.yaml'),
  review: fileObject({ agent: z.string(), model: z.string().optional() }).optional().describe('As in SPRINT.yaml'),
  checkpoint: CheckpointSetting.optional().describe('As in SPRINT.yaml'),
  keep: Keep.optional().describe('As in SPRINT.yaml'),
  sandbox: z.enum(['auto', 'required', 'off']).optional().describe('As in SPRINT.yaml'),
  cell: CellSettings.optional().describe('As in SPRINT.yaml'),
  network: Network.optional().describe('As in SPRINT.yaml'),
  notify: z.array(Notify).optional().describe('As in SPRINT.yaml'),
  worktree: CompiledWorktree.optional().describe('Worktree of the sprint'),
  worktreeState: fileObject({ createdAt: Timestamp, cleanedUp: z.boolean().optional() })
    .optional()
    .describe('State of the worktree'),
  phases: z.array(CompiledPhase).optional().describe('Standard mode: the phases'),
  dependencyGraph: z.array(DependencyGraph).optional().describe('Dependencies between items'),
  parallelExecution: ParallelExecution.optional().describe('As in SPRINT.yaml or the workflow'),
  retry: Retry.optional().describe('As in SPRINT.yaml or the workflow'),
  prompts: Prompts.optional().describe('As in SPRINT.yaml or the workflow'),
  ...positionFields,
  perIterationHooks: z.array(Hook).describe('Hooks of the workflow, with the overrides of SPRINT.yaml'),
  dynamicSteps: z.array(Step).describe('All pending steps in order, and the last 1,000 completed ones'),
  live: z.array(LiveIteration).default([]).describe('Iterations that have not ended'),
  stopRequested: fileObject({ as: z.enum(['paused', 'interrupted']), when: z.enum(['iteration', 'turn']) })
    .optional()
    .describe('Requested way to stop, and when'),
  ending: fileObject({
    status: SprintStatus,
    reason: z.string().optional(),
    phase: Id.optional(),
    error: z.string().optional(),
  })
    .optional()
    .describe('Standard mode: status that the sprint takes once all running work has ended'),
  humanNeeded: HumanNeeded.optional().describe('The open question'),
  answer: fileObject({
    question: z.string(),
    details: z.string().optional(),
    options: z.array(z.string()).optional(),
    answer: z.string(),
    at: Timestamp,
  })
    .optional()
    .describe("The user's answer; the next prompt includes it"),
  messages: z
    .array(fileObject({ text: z.string(), at: Timestamp, by: z.string().optional() }))
    .optional()
    .describe('Messages from users while the agent worked; the next prompt includes them'),
  parked: fileObject({ reason: z.string(), until: Timestamp })
    .optional()
    .describe('Why the sprint is parked, and until when'),
  runAgents: z.array(z.string()).optional().describe('The agents of the current run: first choice, then fallbacks'),
  runChoice: fileObject({
    agent: z.boolean().optional(),
    model: z.string().optional(),
    missing: z.array(z.string()).optional(),
    proof: z.enum(['required', 'optional']).optional(),
  })
    .optional()
    .describe('Choices from the command line, which override those of the plan, and agents that are not installed'),
  agentLimits: z
    .array(fileObject({ agent: z.string(), until: Timestamp }))
    .optional()
    .describe('Agents that are at their usage limit'),
  failedStarts: z
    .array(Timestamp)
    .optional()
    .describe('Failed attempts of the last hour, for limits.failed-starts-per-hour'),
  baseline: z.array(CheckMark).optional().describe('Check results before the first iteration'),
  checkFiles: z
    .array(fileObject({ file: z.string(), hash: z.string() }))
    .optional()
    .describe('Files that define the checks, as they were at the start'),
  proofBaseline: ProofBaseline.optional().describe(
    'The project before the first agent, which claims are measured against',
  ),
  unprovenClaims: z.int().optional().describe('Claims that were refused because nothing proved them'),
  claimPrompt: z.string().optional().describe('What a refused claim lacks; the next prompt includes it'),
  claimQuestion: fileObject({ iteration: z.int(), summary: z.string(), proof: ProofMark })
    .optional()
    .describe('The claim that the open question is about; an answer that starts with "accept" accepts it'),
  refusedBy: z
    .array(CheckResult)
    .optional()
    .describe('Check results of the last failure; the next prompt includes them'),
  feedback: z
    .array(fileObject({ hookId: Id, output: z.string() }))
    .optional()
    .describe('Output of failed hooks with `on-fail: feed-back`; the next prompt includes it'),
  notifications: z
    .array(
      fileObject({ at: Timestamp, to: z.string(), about: z.string(), sent: z.boolean(), error: z.string().optional() }),
    )
    .optional()
    .describe('The last notifications, and whether they were delivered'),
  iterations: z.array(IterationRecord).default([]).describe('Receipts of the last 100 iterations'),
  hookTasks: z.array(HookTask).describe('The last 1,000 hook runs'),
  walls: z
    .array(Walls)
    .optional()
    .describe('Every kind of wall that programs of this sprint ran in; `cell: none`: they ran as the user'),
  ralphExit: RalphExit.describe('How the goal was reached'),
  stats: Stats.describe('Counters and totals'),
})
export type Progress = z.output<typeof Progress>
export type RunLimits = NonNullable<Progress['runLimits']>
