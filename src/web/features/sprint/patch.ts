import type { SprintDiff } from '../../../contract/fleet/sprint.ts'

/** A patch that `git apply` takes; files without a patch are left out. */
export const createPatch = ({ files }: SprintDiff): string =>
  files
    .flatMap(({ path, patch }) => (patch === undefined ? [] : [withHeader(path, patch)]))
    .map((patch) => (patch.endsWith('\n') ? patch : `${patch}\n`))
    .join('')

const withHeader = (path: string, patch: string): string =>
  patch.startsWith('diff ') ? patch : `diff --git a/${path} b/${path}\n${patch}`
