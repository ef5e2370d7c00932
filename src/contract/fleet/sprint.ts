import { z } from 'zod'
import { nonEmptyText } from '../file-object.ts'
import { IterationRecord, Progress } from '../progress.ts'
import { Timestamp } from '../time.ts'
import { Uuid, requiredText } from './page.ts'

/**
 * How a sprint reports its end: with the notes folder and its lock (seed 002), or with the JSON report (the sprint
 * files).
 */
export const Protocol = z.enum(['notes', 'report'])
export type Protocol = z.infer<typeof Protocol>

/** A sprint with its whole state; `progress` is the content of PROGRESS.yaml as JSON. */
export const FleetSprint = z.object({
  id: Uuid,
  agentId: Uuid,
  protocol: Protocol,
  rev: z.int(),
  progress: Progress,
  /** Started with `ralph run` in a terminal: this backend shows it and forwards requests, but does not control it. */
  observed: z.boolean(),
  diff: z.object({ added: z.int(), removed: z.int() }).optional(),
  branch: z.string().optional(),
  lastEventAt: Timestamp.optional(),
  createdAt: Timestamp,
})
export type FleetSprint = z.output<typeof FleetSprint>

/** Limits of a new sprint. Durations are milliseconds. */
const StartLimits = z.strictObject({
  iterations: z.int().min(1).optional(),
  usd: z.number().positive().optional(),
  tokens: z.int().min(1).optional(),
  durationMs: z.int().min(1000).optional(),
  noProgress: z.int().min(1).optional(),
})
export type StartLimits = z.output<typeof StartLimits>

const StartCheck = z.strictObject({ run: nonEmptyText.max(2000), name: z.string().max(200).optional() })

const startFields = {
  doneWhen: z.array(StartCheck).max(50).optional().describe('Absent: detected in the project; empty: none'),
  limits: StartLimits.optional(),
  program: z.string().max(200).optional(),
  model: z.string().max(200).optional(),
  sandbox: z.enum(['auto', 'required', 'off']).optional().describe('Absent: auto, or the value in sprintYaml'),
  /** What to do if the agent is busy: refuse, wait in the queue, or interrupt it. The seed interrupts. */
  ifBusy: z.enum(['refuse', 'queue', 'interrupt']).default('interrupt'),
  startAt: Timestamp.optional(),
}

/** `POST /api/agents/{id}/ralph-mode/start`: only the task is required, as in the seed. */
export const StartRalphMode = z.strictObject({
  taskDescription: z.string().trim().min(1).max(100_000),
  /** Minimum time between two prompts. */
  minIntervalMs: z.int().min(0).optional(),
  ...startFields,
})
export type StartRalphMode = z.output<typeof StartRalphMode>

/** A planned sprint: a goal, or a whole SPRINT.yaml with its workflows. */
export const StartSprint = z.strictObject({
  goal: z.string().trim().min(1).max(100_000).optional(),
  sprintYaml: z.string().max(1_000_000).optional(),
  workflows: z.record(z.string().max(200), z.string().max(1_000_000)).optional(),
  ...startFields,
})
export type StartSprint = z.output<typeof StartSprint>

/** After the iteration, after the agent's turn, or now. */
export const StopWhen = z.enum(['iteration', 'turn', 'now'])
export type StopWhen = z.infer<typeof StopWhen>

/** A transcript in numbers, from which any part of it can be found. */
export const SprintOutline = z.object({
  /** Sequence number of the last event; 0 if there is none. */
  lastSeq: z.int(),
  items: z.array(
    z.object({
      iteration: z.int(),
      firstSeq: z.int(),
      events: z.int(),
      errors: z.int(),
      edits: z.int(),
      /** Calls by tool, most frequent first. */
      tools: z.array(z.object({ name: z.string(), calls: z.int() })),
    }),
  ),
})
export type SprintOutline = z.output<typeof SprintOutline>

export const SprintDiff = z.object({
  from: z.string(),
  to: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      added: z.int(),
      removed: z.int(),
      /** Hunks; absent if the file is binary or the patch is too long. */
      patch: z.string().optional(),
      /** What git writes before the hunks, for a patch that `git apply` accepts; absent if the patch is not complete. */
      head: z.string().optional(),
    }),
  ),
  truncated: z.boolean(),
})
export type SprintDiff = z.output<typeof SprintDiff>

export const SprintIteration = IterationRecord
export type SprintIteration = z.output<typeof SprintIteration>

/** Usage of one day, by one agent with one model. */
export const UsageRow = z.object({
  day: z.iso.date(),
  agentId: Uuid,
  agentName: z.string(),
  model: z.string().optional(),
  costUsd: z.number(),
  /** Attempts without a known price. */
  unpriced: z.int(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  iterations: z.int(),
})
export type UsageRow = z.output<typeof UsageRow>

/** What a commit of a sprint would contain in one repository, and what it would leave out. */
export const FinishableRepository = z.object({
  root: z.string(),
  /** Absent: detached HEAD. */
  branch: z.string().optional(),
  files: z.array(z.object({ path: z.string(), added: z.int(), removed: z.int() })),
  /** Files that are not listed here. */
  moreFiles: z.int(),
  /** The user had changed these before the sprint; the commit contains both changes. */
  mixed: z.array(z.string()),
  /** Not in the commit: the user had changed these before the sprint. */
  untouched: z.array(z.string()),
  /** Not in the commit: changed after the last iteration. */
  edited: z.array(z.string()),
  /** A later commit also changed these, so only a new branch is possible. */
  conflicts: z.array(z.string()),
})
export type FinishableRepository = z.output<typeof FinishableRepository>

export const FinishPlan = z.object({ repositories: z.array(FinishableRepository) })
export type FinishPlan = z.output<typeof FinishPlan>

export const FinishSprint = z.strictObject({
  message: requiredText,
  branch: z.string().min(1).max(200).optional().describe('A new branch; absent: the current one'),
})
export type FinishSprint = z.output<typeof FinishSprint>

const FinishedRepository = z.object({
  root: z.string(),
  branch: z.string().optional(),
  commit: z.string(),
  /** The user had staged these in another version, which stays in the index. */
  staged: z.array(z.string()),
})
export const FinishedSprint = z.object({ commits: z.array(FinishedRepository) })
export type FinishedSprint = z.output<typeof FinishedSprint>
