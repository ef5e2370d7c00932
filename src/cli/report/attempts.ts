import { join } from 'node:path'
import type { Exit } from '../../agents/drivers/driver.ts'
import { getDriver, findDriver } from '../../agents/drivers/registry.ts'
import { readTranscript } from '../../agents/transcript/transcript.ts'
import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Redact } from '../../contract/redact.ts'
import { attemptFiles, readEndReason, readExitCode } from '../../platform/processes/attempt-folder.ts'
import { exists, listFolder, readTail } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { createLineSplitter } from '../../platform/files/line-splitter.ts'
import { readModifiedAt } from '../../platform/files/line-reader.ts'
import { openTail } from '../../platform/files/tail.ts'

/** One process of an agent, as recorded on the disk. `again`: how often this attempt was started. */
export type RecordedAttempt = {
  readonly iteration: number
  readonly attempt: number
  readonly again: number
  readonly folder: string
}

const namePattern = /^([1-9]\d*)-(\d+)(?:\.(\d+))?$/

/** Lists the attempts that have output, in the order they started. Excludes checks and hooks. */
export async function listRecordedAttempts(sprintDir: string): Promise<RecordedAttempt[]> {
  const attempts = join(stateFolder(sprintDir), 'attempts')
  const names = await listFolder(attempts)
  return names
    .flatMap((name) => {
      const [, iteration, attempt, again = 1] = namePattern.exec(name) ?? []
      const folder = join(attempts, name)
      if (iteration === undefined || !exists(join(folder, attemptFiles.stdout))) return []
      return [{ iteration: Number(iteration), attempt: Number(attempt), again: Number(again), folder }]
    })
    .toSorted((a, b) => a.iteration - b.iteration || a.attempt - b.attempt || a.again - b.again)
}

export interface AttemptReader {
  /** Returns the output since the last call. */
  readonly read: () => Promise<void>
  /** How the process exited, if it has. */
  readonly end: () => Promise<Outcome>
}

/** Reads the redacted output of an attempt, even while the attempt is running. */
export async function openAttemptReader(
  { folder }: RecordedAttempt,
  { agent, redact }: { readonly agent: string; readonly redact: Redact },
  onEvent: (event: AgentEvent) => void,
): Promise<AttemptReader> {
  const reading = readTranscript(findDriver(agent) ?? getDriver('command'), redact, onEvent)
  const lines = createLineSplitter(reading.line)
  const tail = await openTail(join(folder, attemptFiles.stdout), lines.push)
  const read = async () => {
    while (await tail.read());
  }
  return {
    read,
    async end() {
      await read()
      lines.end()
      await tail.close()
      return reading.end(await readAttemptExit(folder))
    },
  }
}

async function readAttemptExit(folder: string): Promise<Exit> {
  const ended = readEndReason(folder)
  const stderrTail = await readTail(join(folder, attemptFiles.stderr), 2000)
  const at = readModifiedAt(join(folder, attemptFiles.stdout))
  return { code: readExitCode(folder), signal: null, stderrTail, at, ...(ended && { ended }) }
}
