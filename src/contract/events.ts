import { z } from 'zod'
import { Timestamp } from './time.ts'
import { FailureClass, type Usage } from './outcome.ts'
import type { WorkRef } from './phases.ts'
import { type CheckResult, Mode, SprintStatus, Verdict } from './progress.ts'

/** What an agent program does while it works, in one vocabulary for all drivers. */
export const AgentEvent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('session'),
    id: z.string(),
    model: z.string().optional(),
    /** Version of the agent program, if it reports one. */
    version: z.string().optional(),
    /** Commands of plugins that the program has, as `plugin:command`; absent: unknown. */
    commands: z.array(z.string()).optional(),
  }),
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({
    kind: z.literal('tool'),
    phase: z.enum(['start', 'end']),
    id: z.string(),
    name: z.string().optional(),
    /** The argument worth showing in one line: a path, a command, a pattern. */
    argument: z.string().optional(),
    input: z.unknown().optional(),
    output: z.string().optional(),
    ok: z.boolean().optional(),
  }),
  z.object({ kind: z.literal('usage'), usage: z.custom<Usage>() }),
  z.object({
    kind: z.literal('retry'),
    attempt: z.number().optional(),
    status: z.number().optional(),
    delayMs: z.number().optional(),
    reason: z.string().optional(),
  }),
  z.object({ kind: z.literal('limit'), resetsAt: z.number().optional(), reason: z.string().optional() }),
  z.object({ kind: z.literal('terminal'), ok: z.boolean(), reason: z.string().optional() }),
  z.object({ kind: z.literal('raw'), line: z.string() }),
])
export type AgentEvent = z.infer<typeof AgentEvent>

const iteration = z.int()
const work = z.custom<WorkRef>()

/** Events for observers: the terminal, `--json`, journal readers and the page. */
export const SprintEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('sprint-started'), resumed: z.boolean() }),
  z.object({ type: z.literal('note'), level: z.enum(['info', 'warning']), text: z.string() }),
  z.object({
    type: z.literal('iteration-started'),
    iteration,
    mode: Mode,
    step: z.string().optional(),
    stepPrompt: z.string().optional(),
    work: work.optional(),
  }),
  z.object({ type: z.literal('attempt-started'), iteration, attempt: z.int(), agent: z.string() }),
  z.object({ type: z.literal('agent'), iteration, attempt: z.int(), event: AgentEvent }),
  z.object({
    type: z.literal('attempt-failed'),
    iteration,
    attempt: z.int(),
    class: FailureClass,
    reason: z.string(),
    retryInMs: z.number().optional(),
  }),
  z.object({
    type: z.literal('steps-changed'),
    added: z.array(z.string()),
    completed: z.array(z.string()),
    pending: z.int(),
  }),
  z.object({ type: z.literal('report-rejected'), iteration, reasons: z.array(z.string()) }),
  z.object({ type: z.literal('claim-made'), iteration, summary: z.string() }),
  z.object({ type: z.literal('check-started'), iteration, name: z.string() }),
  z.object({ type: z.literal('check-ended'), iteration, result: z.custom<CheckResult>() }),
  z.object({ type: z.literal('claim-refused'), iteration, by: z.array(z.string()), reason: z.string() }),
  z.object({ type: z.literal('claim-accepted'), iteration, by: z.array(z.string()), summary: z.string() }),
  z.object({ type: z.literal('gate-started'), iteration, work, attempt: z.int() }),
  z.object({
    type: z.literal('gate-ended'),
    iteration,
    work,
    passed: z.boolean(),
    /** How many times the gate has run, and how many times it may run. */
    attempts: z.int(),
    of: z.int(),
    exitCode: z.int().nullable(),
    error: z.string().optional(),
    output: z.string(),
  }),
  /** A phase, an item or part of an item ended; `text` says what was done, or why it was not. */
  z.object({
    type: z.literal('work-ended'),
    work,
    status: z.enum(['completed', 'failed', 'blocked', 'skipped']),
    text: z.string().optional(),
  }),
  z.object({ type: z.literal('breakpoint-reached'), work }),
  z.object({ type: z.literal('hook-started'), iteration, hook: z.string(), parallel: z.boolean() }),
  z.object({
    type: z.literal('hook-ended'),
    iteration,
    hook: z.string(),
    ok: z.boolean(),
    exitCode: z.int().nullable(),
    error: z.string().optional(),
  }),
  z.object({
    type: z.literal('iteration-ended'),
    iteration,
    verdict: Verdict,
    summary: z.string().optional(),
    mode: Mode.optional(),
    /** Whether files changed; absent: unknown. */
    changed: z.boolean().optional(),
    durationMs: z.number(),
    costUsd: z.number().nullable(),
  }),
  z.object({
    type: z.literal('question-asked'),
    iteration,
    reason: z.string(),
    details: z.string(),
    options: z.array(z.string()).optional(),
    default: z.string().optional(),
  }),
  /** What a user said or asked for. Absent `by`: the user of a terminal. */
  z.object({
    type: z.literal('user-said'),
    iteration,
    how: z.enum(['message', 'steer', 'withdraw', 'answer', 'pause', 'stop', 'try-now']),
    text: z.string(),
    by: z.string().optional(),
  }),
  z.object({ type: z.literal('sprint-rested'), status: SprintStatus, reason: z.string().optional() }),
])
export type SprintEvent = z.infer<typeof SprintEvent>

/** The middle of longer tool outputs is cut out; `read-file` returns the whole. */
export const maxOutputLength = 16 * 1024

/** One event of an event log. `seq` increases by one. */
export const LoggedEvent = z.object({
  seq: z.int().min(1),
  at: Timestamp,
  sprintId: z.uuid().optional(),
  promptId: z.uuid().optional(),
  event: SprintEvent,
  /** Path of the whole output for `read-file` in the area `agent`. */
  clipped: z.string().optional(),
  /** With `attempt-started`: the prompt that the agent receives. */
  prompt: z.string().optional(),
})
export type LoggedEvent = z.output<typeof LoggedEvent>
