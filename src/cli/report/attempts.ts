import { dirname, join } from 'node:path'
import type { Exit } from '../../agents/readers/outcome.ts'
import { getDriver, findDriver } from '../../agents/drivers/registry.ts'
import { readTranscript } from '../../agents/transcript/transcript.ts'
import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Redact } from '../../contract/secrets/redact.ts'
import {
  attemptFiles,
  attemptState,
  parseEndReason,
  readEndReason,
  readExitCode,
} from '../../platform/processes/attempt-folder.ts'
import {
  attemptIteration,
  listPacks,
  readPackedIteration,
  transcriptFile,
  type PackedAttempt,
} from '../../platform/processes/attempt-pack.ts'
import { exists, listFolder, readTail, readTextIfExists } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { createLineSplitter } from '../../platform/files/line-splitter.ts'
import { readModifiedAt } from '../../platform/files/line-reader.ts'
import { openTail } from '../../platform/files/tail.ts'

/** One process of an agent, as recorded on the disk. `again`: how often this attempt was started. */
export type RecordedAttempt = {
  readonly iteration: number
  readonly attempt: number
  readonly again: number
  /** Where it is, or was until it was packed. */
  readonly folder: string
  readonly packed?: PackedAttempt
}

const namePattern = /^([1-9]\d*)-(\d+)(?:\.(\d+))?$/

/** The iterations with attempts that have output, ascending. Cheap: it opens no pack. */
export async function listRecordedIterations(sprintDir: string): Promise<number[]> {
  const state = stateFolder(sprintDir)
  const packed = listPacks(state).flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  )
  const open = (await listFolder(join(state, 'attempts'))).flatMap((name) =>
    namePattern.test(name) && exists(join(state, 'attempts', name, attemptFiles.stdout))
      ? (attemptIteration(name) ?? [])
      : [],
  )
  return [...new Set([...packed, ...open])].filter((number) => number > 0).toSorted((a, b) => a - b)
}

/** The last iteration that has output. */
export async function findLastRecorded(sprintDir: string): Promise<number | undefined> {
  const open = await listOpenAttempts(sprintDir)
  for (const number of (await listRecordedIterations(sprintDir)).toReversed())
    if ((await listRecordedAttempts(sprintDir, number, open)).length > 0) return number
  return undefined
}

/** Names of attempts that are not packed, by iteration. */
export type OpenAttempts = ReadonlyMap<number | undefined, readonly string[]>

/** Lists the attempts that are not packed; a caller that asks about many iterations reads them once. */
export async function listOpenAttempts(sprintDir: string): Promise<OpenAttempts> {
  const names = new Map<number | undefined, string[]>()
  for (const name of await listFolder(join(stateFolder(sprintDir), 'attempts'))) {
    const iteration = attemptIteration(name)
    const known = names.get(iteration)
    if (known) known.push(name)
    else names.set(iteration, [name])
  }
  return names
}

/** Lists the attempts of an iteration that have output, in the order they started. Excludes checks and hooks. */
export async function listRecordedAttempts(
  sprintDir: string,
  iteration: number,
  open?: OpenAttempts,
): Promise<RecordedAttempt[]> {
  const state = stateFolder(sprintDir)
  const packed = new Map((await readPackedIteration(state, iteration)).map((attempt) => [attempt.name, attempt]))
  const unpacked = (open ?? (await listOpenAttempts(sprintDir))).get(iteration) ?? []
  return [...new Set([...packed.keys(), ...unpacked])]
    .flatMap((name): RecordedAttempt[] => {
      const [, , attempt, again = 1] = namePattern.exec(name) ?? []
      const folder = join(state, 'attempts', name)
      const found = packed.get(name)
      const hasOutput = found
        ? found.isLong || found.files.has(attemptFiles.stdout)
        : exists(join(folder, attemptFiles.stdout))
      if (attempt === undefined || !hasOutput) return []
      return [{ iteration, attempt: Number(attempt), again: Number(again), folder, ...(found && { packed: found }) }]
    })
    .toSorted((a, b) => a.attempt - b.attempt || a.again - b.again)
}

export const isAttemptRunning = ({ folder, packed }: RecordedAttempt): boolean =>
  !packed && attemptState(folder) === 'running'

export const readAttemptPrompt = async ({ folder, packed }: RecordedAttempt): Promise<string | undefined> =>
  packed ? packed.files.get(attemptFiles.stdin)?.toString() : readTextIfExists(join(folder, attemptFiles.stdin))

export interface AttemptReader {
  /** Returns the output since the last call. */
  readonly read: () => Promise<void>
  /** How the process exited, if it has. */
  readonly end: () => Promise<Outcome>
}

/** Reads the redacted output of an attempt, even while the attempt is running. */
export async function openAttemptReader(
  { folder, packed }: RecordedAttempt,
  { agent, redact }: { readonly agent: string; readonly redact: Redact },
  onEvent: (event: AgentEvent) => void,
): Promise<AttemptReader> {
  const reading = readTranscript(findDriver(agent) ?? getDriver('command'), redact, onEvent)
  const lines = createLineSplitter(reading.line)
  const content = packed?.files.get(attemptFiles.stdout)
  if (packed && content) {
    let isRead = false
    const readOnce = async () => {
      if (!isRead) lines.push(content)
      isRead = true
    }
    return {
      read: readOnce,
      async end() {
        await readOnce()
        lines.end()
        return reading.end(packedExit(packed))
      },
    }
  }
  const tail = await openTail(findTranscript(folder, packed), lines.push)
  const read = async () => {
    while (await tail.read());
  }
  return {
    read,
    async end() {
      await read()
      lines.end()
      await tail.close()
      return reading.end(packed ? packedExit(packed) : await readAttemptExit(folder))
    },
  }
}

/** A transcript too long for a pack was moved, unless the process that was about to do so was killed. */
function findTranscript(folder: string, packed: PackedAttempt | undefined): string {
  const moved = packed && transcriptFile(dirname(dirname(folder)), packed.name)
  return moved !== undefined && exists(moved) ? moved : join(folder, attemptFiles.stdout)
}

/** How a packed attempt ended. */
export function packedExit({ files, at }: PackedAttempt): Exit {
  const text = (name: string) => files.get(name)?.toString()
  const code = text(attemptFiles.exit)?.trim()
  const ended = parseEndReason(text(attemptFiles.ended))
  const stderrTail = (text(attemptFiles.stderr) ?? '').slice(-2000)
  return { code: code ? Number(code) : null, signal: null, stderrTail, at, ...(ended && { ended }) }
}

async function readAttemptExit(folder: string): Promise<Exit> {
  const ended = readEndReason(folder)
  const stderrTail = await readTail(join(folder, attemptFiles.stderr), 2000)
  const at = readModifiedAt(join(folder, attemptFiles.stdout))
  return { code: readExitCode(folder), signal: null, stderrTail, at, ...(ended && { ended }) }
}
