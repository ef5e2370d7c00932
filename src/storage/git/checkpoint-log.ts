import { join } from 'node:path'
import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'
import { createFolder, readTextIfExists, removeFile } from '../../platform/files/files.ts'
import { serialize } from '../../platform/async.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { appendText } from '../../platform/files/text-files.ts'

/** One line per iteration whose files were to be stored. `error`: why they were not. `nested`: nested repositories. */
const LogLine = z.object({
  iteration: z.number(),
  error: z.string().optional(),
  nested: z.array(z.string()).optional(),
})
type LogLine = z.infer<typeof LogLine>

const logFile = (sprintDir: string): string => join(stateFolder(sprintDir), 'checkpoints.jsonl')

/** Records that the files after an iteration were stored in all repositories, or why they were not. */
export const recordCheckpoint = (sprintDir: string, line: LogLine): Promise<void> =>
  enqueue(async () => {
    await createFolder(stateFolder(sprintDir))
    await appendText(logFile(sprintDir), `${JSON.stringify(line)}\n`)
  })

/** Of two changes of the log, one waits: a run removes old checkpoints while it makes new ones. */
const enqueue = serialize()

export const forgetCheckpoints = (sprintDir: string): Promise<void> => removeFile(logFile(sprintDir))

/** Records that the checkpoints of these iterations are about to be removed, and drops what later lines have replaced. */
export const recordRemoval = (sprintDir: string, isRemoved: (iteration: number) => boolean): Promise<void> =>
  enqueue(async () => {
    const lines = [...(await readLog(sprintDir)).values()].map((line) =>
      isRemoved(line.iteration) && line.error === undefined ? { iteration: line.iteration, error: removed } : line,
    )
    await writeFileAtomic(logFile(sprintDir), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  })

const removed = 'it was removed (keep.checkpoints in SPRINT.yaml says how many stay)'

/** Whether the files after this iteration were to be stored and were not. */
export const hasFailedCheckpoint = async (sprintDir: string, iteration: number): Promise<boolean> =>
  (await readLog(sprintDir)).get(iteration)?.error !== undefined

/** The nested repositories that a checkpoint contains, relative to the project. */
export const readNestedRepositories = async (sprintDir: string, iteration: number): Promise<readonly string[]> =>
  (await readLog(sprintDir)).get(iteration)?.nested ?? []

/**
 * Throws unless the files after this iteration were stored, naming the nearest iterations that have a checkpoint. An iteration
 * that changed nothing has one: that of an earlier iteration.
 */
export async function assertCheckpoint(sprintDir: string, iteration: number): Promise<void> {
  assertStored(await readLog(sprintDir), iteration)
}

/** For many iterations: a function that throws if storing the files after one of them failed. */
export async function openCheckpointLog(sprintDir: string): Promise<(iteration: number) => void> {
  const log = await readLog(sprintDir)
  return (iteration) => {
    if (log.get(iteration)?.error !== undefined) assertStored(log, iteration)
  }
}

function assertStored(log: ReadonlyMap<number, LogLine>, iteration: number): void {
  const found = log.get(iteration)
  // Earlier versions had no log: it begins with the first iteration of this one.
  const isOlder = iteration < Math.min(...log.keys())
  if (isOlder || (found && found.error === undefined)) return
  const stored = [...log.values()].filter(({ error }) => error === undefined).map((line) => line.iteration)
  const nearest = [
    Math.max(...stored.filter((number) => number < iteration)),
    Math.min(...stored.filter((number) => number > iteration)),
  ].filter(Number.isFinite)
  throw new RalphError('CHECKPOINT_NOT_FOUND', describeMissing(iteration, found), {
    ...(nearest.length > 0 && { hint: `the nearest iterations with a checkpoint: ${nearest.join(' and ')}` }),
  })
}

const describeMissing = (iteration: number, line: LogLine | undefined): string =>
  `iteration ${iteration} has no checkpoint${line?.error === undefined ? '' : `: ${line.error.split('\n')[0]}`}`

/** The last line of each iteration: a checkpoint may be made again after a crash. */
async function readLog(sprintDir: string): Promise<ReadonlyMap<number, LogLine>> {
  const text = (await readTextIfExists(logFile(sprintDir))) ?? ''
  const lines = text.split('\n').flatMap((line) => {
    try {
      return [LogLine.parse(JSON.parse(line))]
    } catch {
      return []
    }
  })
  return new Map(lines.map((line) => [line.iteration, line]))
}
