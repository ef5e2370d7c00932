import type { SprintDiff } from '../../../contract/fleet/sprint.ts'

/** A patch that `git apply` takes; files without a complete one are left out. */
export const createPatch = ({ files }: SprintDiff): string =>
  files.flatMap(({ head, patch = '' }) => (head === undefined ? [] : [`${head}${patch}`])).join('')

export const isCompletePatch = ({ files, truncated }: SprintDiff): boolean =>
  !truncated && files.every(({ head }) => head !== undefined)
