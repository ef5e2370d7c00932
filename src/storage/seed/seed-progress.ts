import { noUsage } from '../../contract/outcome.ts'
import { type Progress, schemaVersion, unlimitedIterations, type HookTask } from '../../contract/progress.ts'
import { DependencyGraph } from '../../contract/phases.ts'
import { defaultLimits, defaultTimeouts, Hook, Prompts } from '../../contract/settings.ts'
import { SprintId } from '../../contract/ids.ts'
import { decodeList, isRecord, readCount, readText, readTime, type FileRecord } from './file-fields.ts'
import { importedClaimReason } from './imported-claim.ts'
import { importPhases, countPhases } from './seed-phases.ts'
import { importSteps } from './seed-steps.ts'
import { listUnknownFields } from './unknown-fields.ts'

/** What the file itself does not say. */
export type SeedContext = {
  /** Used when the file has no `sprint-id`. */
  readonly sprintId: string
  /** Stands for a time that the file does not have. */
  readonly at: number
  /** The last iteration that has a transcript in the folder; earlier programs counted from 1 at every start. */
  readonly lastTranscript: number
}

export type SeedImport = {
  readonly progress: Progress
  /** What was changed or left behind, one sentence each. */
  readonly notes: readonly string[]
}

/** Whether this is a PROGRESS.yaml as the seed documents and m42-sprint write it: without a version of the format. */
export const isSeedProgress = (value: unknown): value is FileRecord =>
  isRecord(value) &&
  !('schema-version' in value) &&
  !('rev' in value) &&
  (isRecord(value['stats']) || Array.isArray(value['dynamic-steps']) || Array.isArray(value['phases'])) &&
  (typeof value['goal'] === 'string' || Array.isArray(value['phases']))

/** Converts a PROGRESS.yaml of the seed systems. Never ends a sprint: `completed` becomes a claim to be checked. */
export function importSeedProgress(file: FileRecord, context: SeedContext): SeedImport {
  const notes: string[] = []
  const isGoalDriven = file['mode'] === 'ralph'
  const stats = isRecord(file['stats']) ? file['stats'] : {}
  const startedAt = readTime(stats['started-at']) ?? null
  const at = startedAt ?? context.at
  const steps = importSteps(file['dynamic-steps'], at, notes)
  const hookTasks = importHookTasks(file['hook-tasks'], at, notes)
  const phases = isGoalDriven ? undefined : importPhases(file['phases'], notes)
  const currentIteration = Math.max(
    readCount(stats['current-iteration']) ?? 0,
    context.lastTranscript,
    ...steps.map(({ addedInIteration }) => addedInIteration),
    ...hookTasks.map(({ iteration }) => iteration),
  )
  const isUsed =
    currentIteration > 0 || steps.length > 0 || (phases?.some(({ status }) => status !== 'pending') ?? false)
  // 0 is no limit in m42-sprint.
  const maxIterations = readCount(stats['max-iterations']) || unlimitedIterations
  const completedSteps = steps.filter(({ status }) => status === 'completed').length
  const progress: Progress = {
    schemaVersion,
    rev: 0,
    sprintId: SprintId.safeParse(file['sprint-id']).data ?? context.sprintId,
    workflow: readText(file['workflow']) ?? (isGoalDriven ? 'ralph' : 'imported'),
    mode: isGoalDriven ? 'ralph' : 'standard',
    goal: readText(file['goal']) ?? '',
    ralph: importRalph(file['ralph']),
    limits: {
      ...defaultLimits,
      iterations: maxIterations < unlimitedIterations ? maxIterations : 'off',
    },
    timeouts: defaultTimeouts,
    ...(phases && importPlan(file, phases, notes)),
    perIterationHooks: decodeList(Hook, file['per-iteration-hooks'], 'per-iteration-hooks', notes),
    dynamicSteps: steps,
    live: [],
    iterations: [],
    hookTasks,
    ralphExit: { detectedAt: null, iteration: null, finalSummary: null },
    stats: {
      startedAt,
      completedAt: null,
      currentIteration,
      maxIterations,
      totalSteps: steps.length === 0 ? 0 : nextStepNumber(steps),
      completedSteps,
      ...(phases && countPhases(phases)),
      costUsd: 0,
      usage: noUsage,
      activeMs: 0,
      withoutProgress: 0,
    },
    ...importStatus(file, { isUsed, at: context.at }, notes),
  }
  const unknown = listUnknownFields(file)
  if (unknown.length > 0) notes.push(`unknown to Ralph, kept in the copy of the original: ${unknown.join(', ')}`)
  return { progress, notes }
}

/** Step ids are never reused, so the next one is above all numbers in use. */
const nextStepNumber = (steps: readonly { readonly id: string }[]): number =>
  Math.max(steps.length, ...steps.map(({ id }) => Number(/^step-(\d{1,9})$/.exec(id)?.[1] ?? -1) + 1))

function importRalph(value: unknown): Progress['ralph'] {
  const ralph = isRecord(value) ? value : {}
  const attempted = readCount(ralph['goal-complete-attempted-at'])
  return {
    idleThreshold: Math.max(1, readCount(ralph['idle-threshold']) ?? 3),
    minIterations: readCount(ralph['min-iterations']) ?? 0,
    idleCount: 0,
    ...(attempted !== undefined && { goalCompleteAttemptedAt: attempted }),
  }
}

const importPlan = (file: FileRecord, phases: NonNullable<Progress['phases']>, notes: string[]): Partial<Progress> => {
  const prompts = Prompts.safeParse(file['prompts']).data
  const graph = decodeList(DependencyGraph, file['dependency-graph'], 'dependency-graph', notes)
  return {
    phases,
    ...(prompts && { prompts }),
    ...(graph.length > 0 && { dependencyGraph: graph }),
    current: { phase: 0, step: null, subPhase: null },
  }
}

/** What ran when the file was written no longer has a process, and its result is unknown. */
function importHookTasks(value: unknown, at: number, notes: string[]): HookTask[] {
  const tasks = Array.isArray(value) ? value.filter(isRecord) : []
  return tasks.flatMap((task): HookTask[] => {
    const [iteration, hookId] = [readCount(task['iteration']), readText(task['hook-id'])]
    if (iteration === undefined || hookId === undefined) {
      notes.push('a hook task without iteration or hook-id was left behind')
      return []
    }
    const completedAt = readTime(task['completed-at'])
    const exitCode = typeof task['exit-code'] === 'number' ? Math.trunc(task['exit-code']) : undefined
    const transcript = readText(task['transcript'])
    const known = task['status'] === 'completed' || task['status'] === 'failed' ? task['status'] : undefined
    return [
      {
        iteration,
        hookId,
        status: known ?? 'failed',
        spawnedAt: readTime(task['spawned-at']) ?? at,
        ...(completedAt !== undefined && { completedAt }),
        ...(exitCode !== undefined && { exitCode }),
        ...(known === undefined && { error: `was ${String(task['status'])} when the sprint was imported` }),
        ...(transcript !== undefined && { transcript }),
      },
    ]
  })
}

type StatusFields = Pick<Progress, 'status' | 'reason' | 'humanNeeded' | 'claimPrompt' | 'error'>

/** The statuses of m42 mean the same here, except that an end is not believed. */
function importStatus(
  file: FileRecord,
  { isUsed, at }: { readonly isUsed: boolean; readonly at: number },
  notes: string[],
): StatusFields {
  const status = readText(file['status']) ?? (isUsed ? 'in-progress' : 'not-started')
  const error = readText(file['error'])
  const reason = readText(file['pause-reason']) ?? error
  const because = { ...(reason !== undefined && { reason }), ...(error !== undefined && { error }) }
  switch (status) {
    case 'not-started':
      return { status: isUsed ? 'in-progress' : 'not-started' }
    case 'in-progress':
      return { status }
    case 'paused':
    case 'paused-at-breakpoint':
    case 'blocked':
    case 'failed':
    case 'interrupted':
      return { status, ...because }
    case 'needs-human':
      return { status, ...because, humanNeeded: importQuestion(file['human-needed'], at) }
    case 'completed':
      notes.push('completed became a claim: the next run checks it')
      return { status: 'in-progress', reason: importedClaimReason, claimPrompt: describeClaim(file) }
    default:
      notes.push(`status ${status} is unknown; the sprint is paused`)
      return { status: 'paused', reason: `imported with the unknown status ${status}` }
  }
}

function describeClaim(file: FileRecord): string {
  const exit = isRecord(file['ralph-exit']) ? file['ralph-exit'] : {}
  const summary = readText(exit['final-summary']) ?? readText(file['summary'])
  const summarySentence = summary === undefined ? '' : ` Its summary: ${summary}`
  return `Another program recorded this sprint as completed.${summarySentence}\nNothing has confirmed it. Verify each part of the goal; claim it again only if it holds, otherwise continue.`
}

function importQuestion(value: unknown, askedAt: number): NonNullable<Progress['humanNeeded']> {
  const question = isRecord(value) ? value : {}
  return {
    reason: readText(question['reason']) ?? 'The imported sprint needs a human, and does not say why',
    details: readText(question['details']) ?? '',
    askedAt,
  }
}
