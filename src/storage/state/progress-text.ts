import type { Progress } from '../../contract/progress.ts'
import { encodeShownProgress } from './shown-progress.ts'
import { formatYaml, formatYamlBytes } from './yaml-text.ts'

const header = '# Written by Ralph; what the fields mean: docs/reference/progress-yaml.md\n'

/** The text of PROGRESS.yaml. Reuses the text of parts that have not changed. */
export const formatProgress = (progress: Progress): string => header + formatYaml(encodeShownProgress(progress))

/** The same as bytes, for a file that is written after every iteration. `waiting`: what the run waits for, as a comment. */
export const formatProgressBytes = (progress: Progress, waiting?: string): Buffer =>
  formatYamlBytes(encodeShownProgress(progress), header + (waiting === undefined ? '' : `# ${waiting}\n`))

/** The `rev` in the text of PROGRESS.yaml; NaN if it has none. */
export const parseRev = (text: string): number => Number(/^rev: (\d+)$/m.exec(text)?.[1])
