import type { Progress } from '../contract/progress.ts'
import { broken, notice, type Finding } from './finding.ts'

/** The folder of a process that ran for an iteration, and what became of that process. */
export type AttemptFolder = {
  readonly name: string
  readonly state: 'never-started' | 'running' | 'ended' | 'aborted' | 'lost'
}

type Named = AttemptFolder & {
  readonly iteration: number
  /** `2`, `check-1`, `hook-lint`, `review`, `gate`. */
  readonly what: string
  /** 1 for the first run, 2 for its first repetition. */
  readonly turn: number
}

type Seen = {
  readonly attempts: readonly AttemptFolder[]
  readonly isRunning: boolean
  /** Part of the journal was moved aside, so the state may not know every attempt. */
  readonly isRepaired?: boolean
}

const pattern = /^(\d+)-(.+?)(?:\.(\d+))?$/

/** Checks the attempt folders against the state. */
export function attemptFindings(progress: Progress, { attempts, isRunning, isRepaired = false }: Seen): Finding[] {
  const named = attempts.flatMap((folder): Named[] => {
    const [, iteration, what = '', turn = '1'] = pattern.exec(folder.name) ?? []
    return iteration === undefined ? [] : [{ ...folder, iteration: Number(iteration), what, turn: Number(turn) }]
  })
  return named.flatMap((folder) => [
    ...(isRepaired ? [] : unknownFindings(progress, folder)),
    ...repeatFindings(named, folder),
    ...aliveFindings(progress, folder, isRunning),
  ])
}

/** State is saved before an attempt starts, so no folder may exist that the state does not know. */
function unknownFindings({ stats, live }: Progress, { name, iteration, what }: Named): Finding[] {
  if (iteration > stats.currentIteration) {
    return [broken('I2', `${name} is there, but iteration ${iteration} has never begun`)]
  }
  const current = live.find(({ number }) => number === iteration)
  if (!current || !isNumber(what) || Number(what) <= current.attempt) return []
  return [broken('I4', `${name} is there, but attempt ${current.attempt} is the last one of the iteration`)]
}

/** An attempt with a result never runs again. A check that was killed may: it is read-only. */
function repeatFindings(all: readonly Named[], { name, iteration, what, turn }: Named): Finding[] {
  if (turn === 1) return []
  const before = all.find((one) => one.iteration === iteration && one.what === what && one.turn === turn - 1)
  const mayRepeat = ['never-started', 'aborted', ...(/^(?:check-|gate$)/.test(what) ? ['lost'] : [])]
  if (before && mayRepeat.includes(before.state)) return []
  return [broken('I4', `${name} has run although ${before?.name ?? 'the one before'} is ${before?.state ?? 'gone'}`)]
}

function aliveFindings(progress: Progress, folder: Named, isRunning: boolean): Finding[] {
  if (folder.state !== 'running') return []
  if (!isOpen(progress, folder)) {
    return [{ ...broken('I7', `${folder.name} is over, but its process still runs`), attempt: folder.name }]
  }
  return isRunning ? [] : [notice('I7', `${folder.name} still runs; the next run joins it`)]
}

/** Whether the attempt is running according to the state. */
function isOpen({ live, hookTasks, baseline }: Progress, { iteration, what }: Named): boolean {
  const hook = /^hook-(.+)$/.exec(what)?.[1]
  if (hook !== undefined) {
    return hookTasks.some((task) => task.iteration === iteration && task.hookId === hook && task.status === 'running')
  }
  if (iteration === 0) return baseline === undefined
  const current = live.find(({ number }) => number === iteration)
  if (!current) return false
  return isNumber(what) ? current.stage === 'agent' && Number(what) === current.attempt : current.stage !== 'agent'
}

const isNumber = (text: string): boolean => /^\d+$/.test(text)
