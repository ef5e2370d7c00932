import { basename, dirname } from 'node:path'
import { RalphError } from './contract/errors.ts'
import type { Progress } from './contract/progress.ts'
import type { ProgramRunOptions } from './cli/run/run-in-program.ts'
import { advance } from './loop/advance.ts'
import type { Fact } from './loop/core/fact.ts'
import type { Ports } from './runtime/ports.ts'
import { systemClock } from './platform/clock.ts'
import { runSprint } from './runtime/run-sprint.ts'
import { encodeCompiledProgress } from './seed-compile.ts'
import type { CompiledProgress } from './seed-names.ts'
import { previewEdits } from './storage/edits/preview-edits.ts'
import type { Fold } from './storage/state/journal.ts'
import { readProgress as readStoredProgress } from './storage/state/read-progress.ts'

/** Ports of the caller: Ralph then only decides, and the caller carries out what it decides. */
export type PortedLoopOptions = {
  readonly ports: Ports
  /** Default: the sprint starts now, without limits for this run. */
  readonly first?: Fact
}

export type LoopOptions = ProgramRunOptions | PortedLoopOptions

/**
 * Reads the state of a sprint, with the fields as in PROGRESS.yaml, by the path of that file or of its folder; with what was
 * edited there since the last run.
 */
export async function readProgress(path: string): Promise<CompiledProgress> {
  const sprintDir = basename(path) === 'PROGRESS.yaml' ? dirname(path) : path
  const stored = await readSprintProgress(sprintDir)
  const progress = await previewEdits(stored, { sprintDir, fold, at: systemClock.now() })
  return encodeCompiledProgress(progress)
}

async function readSprintProgress(sprintDir: string): Promise<Progress> {
  const progress = await readStoredProgress({ sprintDir, fold })
  if (progress) return progress
  throw new RalphError('PROGRESS_NOT_FOUND', 'there is no PROGRESS.yaml', { place: { file: sprintDir } })
}

const fold: Fold = (known, fact) => advance(known, fact).progress

/** Compiles a goal-driven sprint and runs it until it rests, as `ralph run` does; resolves with its progress. */
export const runRalphLoop = (sprintDir: string, options: LoopOptions = {}): Promise<Progress> =>
  runLoop(sprintDir, 'ralph', options)

/** Compiles a sprint with phases and runs it until it rests, as `ralph run` does; resolves with its progress. */
export const runStandardLoop = (sprintDir: string, options: LoopOptions = {}): Promise<Progress> =>
  runLoop(sprintDir, 'standard', options)

async function runLoop(sprintDir: string, mode: Progress['mode'], options: LoopOptions): Promise<Progress> {
  if (!('ports' in options)) {
    // Drivers, checks and checkpoints of this computer load only for a program that runs sprints.
    const { runInProgram } = await import('./cli/run/run-in-program.ts')
    return runInProgram(sprintDir, mode, options)
  }
  const progress = await readSprintProgress(sprintDir)
  if (progress.mode !== mode) {
    throw new RalphError('USAGE', `the sprint is in ${progress.mode} mode, not in ${mode} mode`, {
      place: { file: sprintDir },
    })
  }
  const { ports, first } = options
  return runSprint(progress, ports, first ?? { type: 'started', at: ports.clock.now() }).done
}
