import { basename, dirname } from 'node:path'
import { RalphError } from './contract/errors.ts'
import type { Progress } from './contract/progress.ts'
import { advance } from './loop/advance.ts'
import type { Fact } from './loop/core/fact.ts'
import type { Ports } from './runtime/ports.ts'
import { runSprint } from './runtime/run-sprint.ts'
import type { CompiledProgress } from './seed-names.ts'
import { readProgress as readStoredProgress } from './storage/state/read-progress.ts'
import { encodeShownProgress } from './storage/state/shown-progress.ts'

export type LoopOptions = {
  readonly ports: Ports
  /** Default: the sprint starts now, without limits for this run. */
  readonly first?: Fact
}

/** Reads the state of a sprint, with the fields as in PROGRESS.yaml, by the path of that file or of its folder. */
export async function readProgress(path: string): Promise<CompiledProgress> {
  const progress = await readSprintProgress(basename(path) === 'PROGRESS.yaml' ? dirname(path) : path)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the encoding of Progress, with the fields that it derives
  return encodeShownProgress(progress) as CompiledProgress
}

async function readSprintProgress(sprintDir: string): Promise<Progress> {
  const progress = await readStoredProgress({ sprintDir, fold: (known, fact) => advance(known, fact).progress })
  if (progress) return progress
  throw new RalphError('PROGRESS_NOT_FOUND', 'there is no PROGRESS.yaml', { place: { file: sprintDir } })
}

/** Runs a goal-driven sprint until it rests; resolves with its progress. */
export const runRalphLoop = (sprintDir: string, options: LoopOptions): Promise<Progress> =>
  runLoop(sprintDir, 'ralph', options)

/** Runs a sprint with phases until it rests; resolves with its progress. */
export const runStandardLoop = (sprintDir: string, options: LoopOptions): Promise<Progress> =>
  runLoop(sprintDir, 'standard', options)

async function runLoop(sprintDir: string, mode: Progress['mode'], options: LoopOptions): Promise<Progress> {
  const progress = await readSprintProgress(sprintDir)
  if (progress.mode !== mode) {
    throw new RalphError('USAGE', `the sprint is in ${progress.mode} mode, not in ${mode} mode`, {
      place: { file: sprintDir },
    })
  }
  const { ports, first } = options
  return runSprint(progress, ports, first ?? { type: 'started', at: ports.clock.now() }).done
}
