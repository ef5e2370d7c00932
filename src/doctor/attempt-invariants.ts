import type { Progress } from '../contract/progress.ts'
import { broken, notice, type Finding } from './finding.ts'

/** The folder of something that ran for an iteration, and what has become of it. */
export type AttemptFolder = {
  readonly name: string
  readonly state: 'never-started' | 'running' | 'ended' | 'aborted' | 'lost'
}

type Named = AttemptFolder & {
  readonly iteration: number
  /** `2`, `check-1`, `hook-lint`, `review`, `gate`. */
  readonly what: string
  /** 1, then 2 for one that began again. */
  readonly turn: number
}

type Seen = {
  readonly attempts: readonly AttemptFolder[]
  readonly isRunning: boolean
  /** What was done may be known to nobody any more. */
  readonly isRepaired?: boolean
}

const pattern = /^(\d+)-(.+?)(?:\.(\d+))?$/

/** What the folders of attempts say against the state. */
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

/** It is saved before it is done, so nothing can have run that the state does not know. */
function unknownFindings({ stats, live }: Progress, { name, iteration, what }: Named): Finding[] {
  if (iteration > stats.currentIteration) {
    return [broken('I2', `${name} is there, but iteration ${iteration} has never begun`)]
  }
  const current = live.find(({ number }) => number === iteration)
  if (!current || !isNumber(what) || Number(what) <= current.attempt) return []
  return [broken('I4', `${name} is there, but attempt ${current.attempt} is the last one of the iteration`)]
}

/** What has a result is not done again. A check that was killed may be: it only looks. */
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

/** Whether the state says that it is under way. */
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
