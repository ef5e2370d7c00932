import { z } from 'zod'
import { fileObject, partialFileObject } from './file-object.ts'
import { Id } from './ids.ts'
import { Duration } from './time.ts'

export const text = z.string().refine((value) => value.trim() !== '', { error: 'must not be empty' })
/** One agent program, or the first choice and its fallbacks. */
export const agentNames = z.union([text, z.array(text).min(1)])
const count = z.int().min(0)
/** A limit that can be switched off. */
const limit = <T extends z.ZodType>(value: T) => z.union([z.literal('off'), value])

export const Check = fileObject({
  run: text.describe('Shell command that Ralph runs in the project; exit 0 is a pass'),
  name: text.optional().describe('How the check is called on screen; the command if not given'),
  timeout: Duration.default(600_000).describe('The check is ended, with its whole process tree, after this time'),
  eachIteration: z.boolean().default(false).describe('Also run it after every iteration, not only after a claim'),
  protect: z.boolean().default(false).describe('Restore the files that define the check before it runs'),
})
export type Check = z.output<typeof Check>

const onFail = z.enum(['record', 'feed-back', 'block'])

export const Hook = fileObject({
  id: Id.describe('Unique name of the hook'),
  prompt: text
    .optional()
    .describe('Prompt for the agent program; $ITERATION_TRANSCRIPT, $SPRINT_ID, $ITERATION, $PHASE_ID are replaced'),
  workflow: text.optional().describe('`plugin:command`, or the name of a workflow in .claude/workflows'),
  run: text.optional().describe('Shell command'),
  parallel: z.boolean().default(true).describe('true: in the background; false: the next iteration waits for it'),
  enabled: z.boolean().default(true).describe('Whether the hook runs'),
  onFail: onFail
    .default('record')
    .describe('What a failure does: recorded, output fed into the next prompt, or the sprint stops'),
  timeout: Duration.optional().describe('timeouts.hook if not given'),
})
export type Hook = z.output<typeof Hook>

const HookOverride = fileObject({
  id: Id.optional().describe(
    'Which hook of the workflow is meant, or the name of a new one; in a map, the key says it',
  ),
  prompt: text.optional().describe('Another prompt'),
  workflow: text.optional().describe('Another workflow or slash command'),
  run: text.optional().describe('Another shell command'),
  parallel: z.boolean().optional().describe('In the background or not'),
  enabled: z.boolean().optional().describe('Switches the hook on or off'),
  onFail: onFail.optional().describe('What a failure does'),
  timeout: Duration.optional().describe('timeouts.hook if not given'),
})
export type HookOverride = z.output<typeof HookOverride>

/** In SPRINT.yaml hooks are overridden by id, as a map (`learning: {enabled: true}`) or as a list that may also add hooks. */
export const HookOverrides = z.union([z.array(HookOverride), z.record(z.string(), HookOverride)])

const limits = {
  iterations: limit(z.int().min(1)).describe('Iterations of the whole sprint; default off'),
  usd: limit(z.number().positive()).describe('Money of the whole sprint; default off'),
  tokens: limit(z.int().min(1)).describe('Input and output tokens of the whole sprint; default off'),
  duration: limit(Duration).describe('Wall time of the whole sprint; default off'),
  noProgress: limit(z.int().min(1)).describe('Iterations without progress before a human is asked; default 5'),
  iterationUsd: limit(z.number().positive()).describe('Money of one iteration; default off'),
  iterationTokens: limit(z.int().min(1)).describe('Tokens of one iteration; default off'),
  failedStartsPerHour: z.int().min(1).describe('No fault starts the agent more often than this; default 30'),
}
export const Limits = fileObject(limits)
export type Limits = z.output<typeof Limits>

export const defaultLimits: Limits = {
  iterations: 'off',
  usd: 'off',
  tokens: 'off',
  duration: 'off',
  noProgress: 5,
  iterationUsd: 'off',
  iterationTokens: 'off',
  failedStartsPerHour: 30,
}

const timeouts = {
  idle: Duration.describe('An attempt without any output is ended; default 10m'),
  attempt: Duration.describe('An attempt is ended, whatever it does; default 60m'),
  afterResult: Duration.describe('An agent that gave its result but does not exit is ended; default 60s'),
  hook: Duration.describe('A hook is ended; default 10m'),
}
export const Timeouts = fileObject(timeouts)
export type Timeouts = z.output<typeof Timeouts>

export const defaultTimeouts: Timeouts = { idle: 600_000, attempt: 3_600_000, afterResult: 60_000, hook: 600_000 }

const Ralph = fileObject({
  idleThreshold: z.int().min(1).optional().describe('Iterations without pending steps before reflecting; default 3'),
  minIterations: count.optional().describe('goal-complete is accepted from this iteration on; default 0'),
})

/** USD per million tokens. */
export const Price = fileObject({
  input: z.number().min(0).describe('Input tokens'),
  output: z.number().min(0).describe('Output tokens'),
  cacheRead: z.number().min(0).default(0).describe('Tokens read from the cache'),
  cacheWrite: z.number().min(0).default(0).describe('Tokens written to the cache'),
})
export type Price = z.output<typeof Price>

export const Notify = z.union([
  z.literal('desktop'),
  fileObject({ webhook: z.url().describe('Gets a POST with JSON') }),
  fileObject({ run: text.describe('Shell command; the message is in its environment') }),
])

/** The seeds write these groups in camelCase; both spellings are read, kebab-case is written. */
const eitherSpelling = <const S extends z.ZodRawShape>(shape: S) => z.union([fileObject(shape), z.strictObject(shape)])

export const ErrorCategory = z.enum(['network', 'rate-limit', 'timeout', 'validation', 'logic'])
export type ErrorCategory = z.infer<typeof ErrorCategory>

const retry = {
  maxAttempts: z.int().min(1).default(3).describe('How often a phase is tried in all'),
  backoffMs: z
    .array(count)
    .min(1)
    .default([1000, 5000, 30_000])
    .describe('Waits between the tries; the last one repeats'),
  retryOn: z.array(ErrorCategory).default(['network', 'rate-limit', 'timeout']).describe('Failures worth another try'),
}
export const Retry = fileObject(retry)

const parallelExecution = {
  enabled: z.boolean().describe('Items of for-each phases run at the same time, as far as depends-on allows'),
  maxConcurrency: z.int().min(1).max(64).default(4).describe('How many at most'),
  onDependencyFailure: z
    .enum(['skip-dependents', 'fail-phase', 'continue'])
    .default('skip-dependents')
    .describe('What happens to items that wait for one that failed'),
}
export const ParallelExecution = fileObject(parallelExecution)

export const Prompts = fileObject({
  header: text.optional().describe('Instead of the first lines'),
  position: text.optional().describe('Instead of the part that says where in the sprint the phase stands'),
  retryWarning: text.optional().describe('Instead of the part that says what went wrong the last time'),
  instructions: text.optional().describe('Instead of the rules of conduct'),
  resultReporting: text.optional().describe('Instead of the part that asks for the report'),
})

/** What SPRINT.yaml and a workflow can both set; SPRINT.yaml wins, field by field. */
export const settings = {
  ralph: Ralph.optional().describe('How the goal-driven loop behaves'),
  doneWhen: z
    .array(Check)
    .optional()
    .describe('Checks that must pass before goal-complete is accepted; detected if not given, [] for none'),
  review: fileObject({
    agent: text.describe('The agent program that judges'),
    model: text.optional().describe("Its model; default: the driver's own"),
  })
    .optional()
    .describe('A second agent that judges prose criteria'),
  agent: agentNames.optional().describe('Agent program, or a list: first choice, then fallbacks'),
  model: text.optional().describe("Model name; default: the driver's own"),
  limits: partialFileObject(limits).optional().describe('Where the sprint stops'),
  timeouts: partialFileObject(timeouts).optional().describe('When an attempt or a hook is ended'),
  checkpoint: z.boolean().optional().describe('A commit object per iteration; default true'),
  sandbox: z.enum(['auto', 'required', 'off']).optional().describe('default auto'),
  env: fileObject({ pass: z.array(text).describe('NAME, or PREFIX_* for all that begin so') })
    .optional()
    .describe('Environment variables passed to the agent, as NAME or PREFIX_*'),
  retry: eitherSpelling(retry).optional().describe('Standard mode: when a failed phase is tried again'),
  parallelExecution: eitherSpelling(parallelExecution).optional().describe('Standard mode: items at the same time'),
  prompts: Prompts.optional().describe('Standard mode: parts of the prompt that are put in your words'),
  prices: z
    .record(z.string(), Price)
    .optional()
    .describe('USD per million tokens, by a part of the model name; wins over the built-in list'),
  notify: z.array(Notify).optional().describe('Who is told when a human is needed or the sprint ends'),
}

/** `~/.ralph/config.yaml`: what a user wants everywhere; the lowest precedence but for the built-in defaults. */
export const UserConfig = fileObject(settings)
export type Settings = z.output<typeof UserConfig>
