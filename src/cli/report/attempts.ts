import { join } from 'node:path'
import type { Exit } from '../../agents/drivers/driver.ts'
import { driverNamed, findDriver } from '../../agents/drivers/registry.ts'
import { readTranscript } from '../../agents/transcript/transcript.ts'
import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Redact } from '../../contract/redact.ts'
import { attemptFiles, readEnded, readExit } from '../../platform/processes/attempt-folder.ts'
import { exists, listFolder, readTail } from '../../platform/files/files.ts'
import { lineSplitter } from '../../platform/files/line-splitter.ts'
import { writtenAt } from '../../platform/files/recorded-file.ts'
import { openTail } from '../../platform/files/tail.ts'

/** One process of the agent, as it is on the disk. `again`: the same attempt was started this often. */
export type AttemptFolder = {
  readonly iteration: number
  readonly attempt: number
  readonly again: number
  readonly folder: string
}

const namePattern = /^([1-9]\d*)-(\d+)(?:\.(\d+))?$/

/** The attempts that have printed something, in the order in which they were made. Checks and hooks are none. */
export async function attemptsOf(sprintDir: string): Promise<AttemptFolder[]> {
  const names = await listFolder(join(sprintDir, 'attempts'))
  return names
    .flatMap((name) => {
      const [, iteration, attempt, again = 1] = namePattern.exec(name) ?? []
      const folder = join(sprintDir, 'attempts', name)
      if (iteration === undefined || !exists(join(folder, attemptFiles.stdout))) return []
      return [{ iteration: Number(iteration), attempt: Number(attempt), again: Number(again), folder }]
    })
    .toSorted((a, b) => a.iteration - b.iteration || a.attempt - b.attempt || a.again - b.again)
}

export interface AttemptReading {
  /** What has been printed since the last call. */
  readonly read: () => Promise<void>
  /** How it ended, as far as it has. */
  readonly end: () => Promise<Outcome>
}

/** Reads what an attempt has printed, without its secrets, also while it is still at work. */
export async function openAttempt(
  { folder }: AttemptFolder,
  { agent, redact }: { readonly agent: string; readonly redact: Redact },
  onEvent: (event: AgentEvent) => void,
): Promise<AttemptReading> {
  const reading = readTranscript(findDriver(agent) ?? driverNamed('command'), redact, onEvent)
  const lines = lineSplitter(reading.line)
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
      return reading.end(await exitOf(folder))
    },
  }
}

async function exitOf(folder: string): Promise<Exit> {
  const ended = readEnded(folder)
  const stderrTail = await readTail(join(folder, attemptFiles.stderr), 2000)
  const at = writtenAt(join(folder, attemptFiles.stdout))
  return { code: readExit(folder), signal: null, stderrTail, at, ...(ended && { ended }) }
}
