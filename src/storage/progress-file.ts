import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { RalphError } from '../contract/errors.ts'
import { Progress } from '../contract/progress.ts'
import { writeFileAtomic } from '../platform/atomic-file.ts'
import { readTextIfThere } from '../platform/files.ts'

const header = '# Written by Ralph; how to read it: docs/guide/progress.md\n'

export const progressPath = (sprintDir: string): string => join(sprintDir, 'PROGRESS.yaml')

/** The state of a sprint, or undefined if it was never compiled. What cannot be read is an error, never an empty state. */
export async function readProgress(sprintDir: string): Promise<Progress | undefined> {
  const file = progressPath(sprintDir)
  const text = await readTextIfThere(file)
  return text === undefined ? undefined : parseProgress(text, file)
}

export function parseProgress(text: string, file: string): Progress {
  let value: unknown
  try {
    value = parse(text, { maxAliasCount: 0 })
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : ''
    throw new RalphError('PROGRESS_INVALID', `is not YAML: ${reason}`, { place: { file }, hint, cause })
  }
  const decoded = Progress.safeParse(value)
  if (decoded.success) return decoded.data
  const problems = decoded.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'file'}: ${message}`)
  throw new RalphError('PROGRESS_INVALID', problems.join('; '), { place: { file }, hint })
}

const hint = 'restore the file, or move it away and compile the sprint again'

export async function writeProgress(sprintDir: string, progress: Progress): Promise<void> {
  const file = progressPath(sprintDir)
  try {
    await writeFileAtomic(file, formatProgress(progress))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RalphError('FILE_UNWRITABLE', `cannot write: ${reason}`, { place: { file }, cause })
  }
}

export const formatProgress = (progress: Progress): string =>
  header + stringify(z.encode(Progress, progress), { lineWidth: 0, aliasDuplicateObjects: false })
