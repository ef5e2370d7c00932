import type { Progress } from '../contract/progress.ts'
import { broken, notice, type Finding } from './finding.ts'

/** The folder of a process that ran for an iteration, and what became of that process. */
export type AttemptFolderState = {
  readonly name: string
  readonly state: 'never-started' | 'running' | 'ended' | 'aborted' | 'lost'
}

type ParsedAttemptFolder = AttemptFolderState & {
  readonly iteration: number
  /** `2`, `check-1`, `hook-lint`, `review`, `gate`. */
  readonly subject: string
  /** 1 for the first run, 2 for its first repetition. */
  readonly repetition: number
}

type AttemptEvidence = {
  readonly attempts: readonly AttemptFolderState[]
  readonly isRunning: boolean
  /** Part of the journal was moved aside, so the state may not know every attempt. */
  readonly isRepaired?: boolean
}

const attemptFolderPattern = /^(\d+)-(.+?)(?:\.(\d+))?$/

/** Checks the attempt folders against the state. */
export function checkAttempts(
  progress: Progress,
  { attempts, isRunning, isRepaired = false }: AttemptEvidence,
): Finding[] {
  const named = attempts.flatMap((folder): ParsedAttemptFolder[] => {
    const [, iteration, what = '', turn = '1'] = attemptFolderPattern.exec(folder.name) ?? []
    return iteration === undefined
      ? []
      : [{ ...folder, iteration: Number(iteration), subject: what, repetition: Number(turn) }]
  })
  return named.flatMap((folder) => [
    ...(isRepaired ? [] : findUnknownAttempts(progress, folder)),
    ...findRepeatedAttempts(named, folder),
    ...findLeftoverProcesses(progress, folder, isRunning),
  ])
}

/** State is saved before an attempt starts, so no folder may exist that the state does not know. */
function findUnknownAttempts(
  { stats, live }: Progress,
  { name, iteration, subject: what }: ParsedAttemptFolder,
): Finding[] {
  if (iteration > stats.currentIteration) {
    return [broken('I2', `${name} is there, but iteration ${iteration} has never begun`)]
  }
  const current = live.find(({ number }) => number === iteration)
  if (!current || !isAttemptNumber(what) || Number(what) <= current.attempt) return []
  return [broken('I4', `${name} is there, but attempt ${current.attempt} is the last one of the iteration`)]
}

/** An attempt with a result never runs again. Checks and gates do: only a result that this run has seen counts. */
function findRepeatedAttempts(
  all: readonly ParsedAttemptFolder[],
  { name, iteration, subject: what, repetition: turn }: ParsedAttemptFolder,
): Finding[] {
  if (turn === 1 || /^(?:check-|gate$)/.test(what)) return []
  const before = all.find((one) => one.iteration === iteration && one.subject === what && one.repetition === turn - 1)
  if (before && ['never-started', 'aborted'].includes(before.state)) return []
  return [broken('I4', `${name} has run although ${before?.name ?? 'the one before'} is ${before?.state ?? 'gone'}`)]
}

function findLeftoverProcesses(progress: Progress, folder: ParsedAttemptFolder, isRunning: boolean): Finding[] {
  if (folder.state !== 'running') return []
  if (!isAttemptOpen(progress, folder)) {
    return [{ ...broken('I7', `${folder.name} is over, but its process still runs`), attempt: folder.name }]
  }
  return isRunning ? [] : [notice('I7', `${folder.name} still runs; the next run joins it`)]
}

/** Whether the attempt is running according to the state. */
function isAttemptOpen(
  { live, hookTasks, baseline }: Progress,
  { iteration, subject: what }: ParsedAttemptFolder,
): boolean {
  const hook = /^hook-(.+)$/.exec(what)?.[1]
  if (hook !== undefined) {
    return hookTasks.some((task) => task.iteration === iteration && task.hookId === hook && task.status === 'running')
  }
  if (iteration === 0) return baseline === undefined
  const current = live.find(({ number }) => number === iteration)
  if (!current) return false
  return isAttemptNumber(what)
    ? current.stage === 'agent' && Number(what) === current.attempt
    : current.stage !== 'agent'
}

const isAttemptNumber = (text: string): boolean => /^\d+$/.test(text)
