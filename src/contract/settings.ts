import { z } from 'zod'
import { CellSettings, Network } from './cell.ts'
import { CheckRoom, defineCheckKind, type CheckKind } from './check.ts'
import { fileObject, partialFileObject, nonEmptyText } from './file-object.ts'
import { Id } from './ids.ts'
import { Duration, Period } from './time.ts'

/** One agent program, or the first choice and its fallbacks. */
export const agentNames = z.union([nonEmptyText, z.array(nonEmptyText).min(1)])
const count = z.int().min(0)
/** A limit that users can switch off. */
const switchable = <T extends z.ZodType>(value: T) => z.union([z.literal('off'), value])

/** `run: npm test`: the command itself. */
const commandCheck = defineCheckKind({
  fields: { run: nonEmptyText.describe('Shell command that Ralph runs in the project; exit 0 means passed') },
  toCommand: ({ run }) => ({ run }),
})

/** Every kind of check; adding one is a file and a row here. */
const checkKinds: readonly [CheckKind, ...CheckKind[]] = [commandCheck]

const CheckEntry: CheckKind = checkKinds.length === 1 ? checkKinds[0] : z.union(checkKinds)

const hookCell = z.enum(['none'])
const onFail = z.enum(['record', 'feed-back', 'block'])

export const Hook = fileObject({
  id: Id.describe('Unique name of the hook'),
  prompt: nonEmptyText
    .optional()
    .describe(
      'Prompt for the agent program; $ITERATION_TRANSCRIPT, $SPRINT_ID, $ITERATION, $PHASE_ID, $ITEM_ID are replaced',
    ),
  workflow: nonEmptyText.optional().describe('`plugin:command`, or the name of a workflow in .claude/workflows'),
  run: nonEmptyText.optional().describe('Shell command'),
  fallbackPrompt: nonEmptyText
    .optional()
    .describe('Prompt to use if the agent program does not have the command that `workflow` names'),
  calls: z
    .array(nonEmptyText)
    .optional()
    .describe('Written by Ralph: the prompts of a workflow with several phases, one call each'),
  parallel: z.boolean().default(true).describe('true: in the background; false: the next iteration waits for it'),
  enabled: z.boolean().default(true).describe('Whether the hook runs'),
  onFail: onFail
    .default('record')
    .describe('What Ralph does on failure: record it, add the output to the next prompt, or stop the sprint'),
  timeout: Duration.optional().describe('Default: timeouts.hook'),
  cell: hookCell.optional().describe('none: a `run:` hook runs as the user, without walls; the result records it'),
})
export type Hook = z.output<typeof Hook>

const HookOverride = fileObject({
  id: Id.optional().describe('Id of a hook in the workflow, or of a new hook; in a map, the key is the id'),
  prompt: nonEmptyText.optional().describe('Replaces the prompt'),
  workflow: nonEmptyText.optional().describe('Replaces the workflow or slash command'),
  run: nonEmptyText.optional().describe('Replaces the shell command'),
  parallel: z.boolean().optional().describe('Whether the hook runs in the background'),
  enabled: z.boolean().optional().describe('Switches the hook on or off'),
  onFail: onFail.optional().describe('What Ralph does on failure'),
  timeout: Duration.optional().describe('Default: timeouts.hook'),
  cell: hookCell.optional().describe('none: the command runs without walls'),
})
export type HookOverride = z.output<typeof HookOverride>

/** SPRINT.yaml overrides hooks by id, as a map (`learning: {enabled: true}`) or as a list, which may also add hooks. */
export const HookOverrides = z.union([z.array(HookOverride), z.record(z.string(), HookOverride)])

const limits = {
  iterations: switchable(z.int().min(1)).describe('Maximum iterations of the sprint; default off'),
  usd: switchable(z.number().positive()).describe('Maximum cost of the sprint in USD; default off'),
  tokens: switchable(z.int().min(1)).describe('Maximum input and output tokens of the sprint; default off'),
  duration: switchable(Duration).describe('Maximum wall time of the sprint; default off'),
  noProgress: switchable(z.int().min(1)).describe('Iterations without progress before Ralph asks you; default 5'),
  iterationUsd: switchable(z.number().positive()).describe('Maximum cost of one iteration in USD; default off'),
  iterationTokens: switchable(z.int().min(1)).describe('Maximum tokens of one iteration; default off'),
  failedStartsPerHour: z.int().min(1).describe('Maximum failed agent starts per hour; default 30'),
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
  idle: Duration.describe('Ralph ends an attempt without output after this time; default 10m'),
  attempt: Duration.describe('Ralph ends any attempt after this time; default 60m'),
  afterResult: Duration.describe('Ralph ends an agent that reported but does not exit; default 60s'),
  hook: Duration.describe('Ralph ends a hook after this time; default 10m'),
}
export const Timeouts = fileObject(timeouts)
export type Timeouts = z.output<typeof Timeouts>

export const defaultTimeouts: Timeouts = { idle: 600_000, attempt: 3_600_000, afterResult: 60_000, hook: 600_000 }

export const CheckpointSetting = z.union([z.boolean(), z.literal('branch')])

const keep = {
  transcripts: z
    .union([Period, z.literal('all')])
    .describe('How long prompts, transcripts and output of ended iterations stay; default 30d'),
  checkpoints: z
    .union([z.int().min(1), z.literal('all')])
    .describe('Number of newest checkpoints to restore from, besides the first and the accepted one; default 200'),
}
export const Keep = fileObject(keep)
export type Keep = z.output<typeof Keep>

export const defaultKeep: Keep = { transcripts: 30 * 86_400_000, checkpoints: 200 }

const Ralph = fileObject({
  idleThreshold: z
    .int()
    .min(1)
    .optional()
    .describe('Iterations without pending steps before the agent reflects; default 3'),
  minIterations: count.optional().describe('First iteration that may claim goal-complete; default 0'),
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
  fileObject({ webhook: z.url().describe('URL that receives a POST with JSON') }),
  fileObject({ run: nonEmptyText.describe('Shell command; the message is in its environment') }),
])

/** The seeds write these groups in camelCase. We read both spellings and write kebab-case. */
const eitherSpelling = <const S extends z.ZodRawShape>(shape: S) => z.union([fileObject(shape), z.strictObject(shape)])

export const ErrorCategory = z.enum(['network', 'rate-limit', 'timeout', 'validation', 'logic'])
export type ErrorCategory = z.infer<typeof ErrorCategory>

const retry = {
  maxAttempts: z.int().min(1).default(3).describe('Maximum attempts per phase'),
  backoffMs: z
    .array(count)
    .min(1)
    .default([1000, 5000, 30_000])
    .describe('Delays between attempts; the last one repeats'),
  retryOn: z.array(ErrorCategory).default(['network', 'rate-limit', 'timeout']).describe('Failures to retry'),
}
export const Retry = fileObject(retry)

const parallelExecution = {
  enabled: z.boolean().describe('Run items of for-each phases in parallel, as far as depends-on allows'),
  maxConcurrency: z.int().min(1).max(64).default(4).describe('Maximum number of parallel items'),
  onDependencyFailure: z
    .enum(['skip-dependents', 'fail-phase', 'continue'])
    .default('skip-dependents')
    .describe('What happens to items that depend on a failed one'),
}
export const ParallelExecution = fileObject(parallelExecution)

export const Prompts = fileObject({
  header: nonEmptyText.optional().describe('Replaces the first lines'),
  position: nonEmptyText.optional().describe('Replaces the section about the position of the phase in the sprint'),
  retryWarning: nonEmptyText.optional().describe('Replaces the section about the previous failure'),
  instructions: nonEmptyText.optional().describe('Replaces the rules'),
  resultReporting: nonEmptyText.optional().describe('Replaces the section that asks for the report'),
})

export const Seal = fileObject({
  minimum: z.number().min(0).max(1).default(0.7).describe('Part of the small changes that the tests must notice'),
  budget: Duration.default(60_000).describe('Ralph tries no more of them after this time'),
})
export type Seal = z.output<typeof Seal>

/** Fields that SPRINT.yaml and a workflow share; SPRINT.yaml wins, field by field. */
export const settings = {
  ralph: Ralph.optional().describe('Settings of the goal-driven loop'),
  doneWhen: z
    .array(CheckEntry)
    .optional()
    .describe('Checks that must pass before goal-complete is accepted; detected if not given, [] for none'),
  proof: z
    .enum(['required', 'optional'])
    .optional()
    .describe('Whether a claim needs a test that fails without the change; default: required where tests have names'),
  frozen: z.array(nonEmptyText).optional().describe('Globs of more files that count as they were at the start'),
  mayChange: z.array(nonEmptyText).optional().describe('Globs of tests and settings that the agent may change'),
  room: CheckRoom.optional().describe('Where checks run at a claim: a clean copy, or the work tree itself (`off`)'),
  seal: Seal.optional().describe('Changes the changed lines a little at a claim, and asks you if tests miss too much'),
  review: fileObject({
    agent: nonEmptyText.describe('Agent program of the reviewer'),
    model: nonEmptyText.optional().describe("Model of the reviewer; default: the driver's own"),
  })
    .optional()
    .describe('A second agent that judges criteria no check can test'),
  agent: agentNames.optional().describe('Agent program, or a list: first choice, then fallbacks'),
  model: nonEmptyText.optional().describe("Model name; default: the driver's own"),
  limits: partialFileObject(limits).optional().describe('Limits at which the sprint stops'),
  timeouts: partialFileObject(timeouts).optional().describe('Timeouts for attempts and hooks'),
  checkpoint: CheckpointSetting.optional().describe(
    'Checkpoint commit after every iteration; branch: also on the branch ralph/<sprint-id>; default true',
  ),
  keep: partialFileObject(keep).optional().describe('What Ralph keeps of ended iterations, and for how long'),
  sandbox: z
    .enum(['auto', 'required', 'off'])
    .optional()
    .describe('Short form of `cell`: auto, any cell or none at all (off); default auto'),
  cell: CellSettings.optional().describe('Walls around agents, checks, hooks and installs; default auto'),
  network: Network.optional().describe(
    'What programs in the cell may reach; default: the model, registries and git remotes that you configured',
  ),
  env: fileObject({ pass: z.array(nonEmptyText).describe('NAME, or PREFIX_* for all variables with that prefix') })
    .optional()
    .describe('Environment variables that Ralph passes to the agent'),
  retry: eitherSpelling(retry).optional().describe('Standard mode: when to retry a failed phase'),
  parallelExecution: eitherSpelling(parallelExecution).optional().describe('Standard mode: run items in parallel'),
  prompts: Prompts.optional().describe('Standard mode: sections of the prompt to replace with your own text'),
  prices: z
    .record(z.string(), Price)
    .optional()
    .describe('USD per million tokens, by part of the model name; overrides the built-in list'),
  notify: z.array(Notify).optional().describe('Where to send notifications when the sprint ends or needs you'),
}

/** `~/.ralph/config.yaml`: the user's defaults for all sprints. Only the built-in defaults have lower precedence. */
export const UserConfig = fileObject(settings)
export type Settings = z.output<typeof UserConfig>
