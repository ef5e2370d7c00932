import { createHash } from 'node:crypto'
import { z } from 'zod'
import { TestRun } from '../../contract/tests.ts'
import { readTextSyncIfExists } from '../../platform/files/files.ts'
import { writePrivateFile } from '../../platform/files/private-file.ts'

const CheckRecord = z.object({
  name: z.string(),
  command: z.string(),
  passed: z.boolean(),
  exitCode: z.number().nullable(),
  /** Where later runs of this check take place. */
  place: z.enum(['room', 'in-place']),
  run: TestRun.optional(),
  /** Names of tests that change with every run, in their normal form. */
  volatile: z.array(z.string()),
  /** Ignored files that the room has as they were at the start. */
  kept: z.array(z.object({ path: z.string(), entry: z.object({ mode: z.string(), id: z.string() }) })).optional(),
  /** Ids of tests that were red in one run of the start and green in another: they prove nothing. */
  flaky: z.array(z.string()).optional(),
})
/** The result of a check before the first agent. */
export type CheckRecord = z.output<typeof CheckRecord>

const Checks = z.array(CheckRecord)

/** Writes the results of the baseline and returns their hash, which the journal keeps. */
export async function saveRecord(file: string, checks: readonly CheckRecord[]): Promise<string> {
  const text = JSON.stringify(z.encode(Checks, [...checks]))
  await writePrivateFile(file, text)
  return hash(text)
}

/** Undefined if the file is gone or not the one that was written. */
export function loadRecord(file: string, expected: string): CheckRecord[] | undefined {
  const text = readTextSyncIfExists(file)
  return text === undefined || hash(text) !== expected ? undefined : Checks.parse(JSON.parse(text))
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
