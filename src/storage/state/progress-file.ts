import { RalphError, firstErrorLine } from '../../contract/errors.ts'
import { Progress, type Step } from '../../contract/progress.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { readTextIfExists } from '../../platform/files/files.ts'
import { readSeedFile } from './read-seed.ts'
import { formatProgress, parseRev } from './progress-text.ts'
import { omitDerivedFields } from './shown-progress.ts'
import { progressPath } from './sprint-folder.ts'
import { parseYaml } from './parse-yaml.ts'

/**
 * Reads PROGRESS.yaml, also in the form of the seed systems; undefined if it does not exist. Throws if it cannot be read, never
 * returns an empty state.
 */
export async function readProgressFile(sprintDir: string): Promise<Progress | undefined> {
  const seed = await readSeedFile(sprintDir)
  if (seed) return seed.progress
  const file = progressPath(sprintDir)
  const text = await readTextIfExists(file)
  return text === undefined ? undefined : parseProgress(text, file)
}

/** The `rev` in the file, if the file looks as Ralph writes it. */
export async function readShownRev(sprintDir: string): Promise<number | undefined> {
  const rev = parseRev((await readTextIfExists(progressPath(sprintDir))) ?? '')
  return Number.isNaN(rev) ? undefined : rev
}

export function parseProgress(text: string, file: string): Progress {
  const hint = 'restore the file, or move it away and compile the sprint again'
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (cause) {
    const reason = firstErrorLine(cause)
    throw new RalphError('PROGRESS_INVALID', `is not YAML: ${reason}`, { place: { file }, hint, cause })
  }
  if (typeof value !== 'object' || value === null || !('schema-version' in value))
    throw new RalphError('PROGRESS_INVALID', noKnownFormat, { place: { file }, hint })
  const decoded = Progress.safeParse(value)
  if (decoded.success) return sortCompletedFirst(omitDerivedFields(decoded.data))
  const problems = decoded.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'file'}: ${message}`)
  throw new RalphError('PROGRESS_INVALID', problems.join('; '), { place: { file }, hint })
}

const noKnownFormat =
  'is not a PROGRESS.yaml of Ralph (schema-version), and none of m42 (phases, or goal with stats or dynamic-steps)'

/** The loop keeps completed steps first; users who write the file by hand need not know that. */
function sortCompletedFirst(progress: Progress): Progress {
  const { dynamicSteps: steps } = progress
  const firstPending = steps.findIndex(isUnfinishedStep)
  if (firstPending === -1 || steps.findLastIndex(isCompletedStep) < firstPending) return progress
  return { ...progress, dynamicSteps: [...steps.filter(isCompletedStep), ...steps.filter(isUnfinishedStep)] }
}

const isCompletedStep = ({ status }: Step): boolean => status === 'completed'
const isUnfinishedStep = ({ status }: Step): boolean => status === 'pending'

export const writeProgressFile = (sprintDir: string, progress: Progress): Promise<void> =>
  writeFileAtomic(progressPath(sprintDir), formatProgress(progress))
