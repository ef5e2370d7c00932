import type { Diff } from '../../contract/fleet/sprint.ts'

type File = Diff['files'][number]

/** Longer patches are only counted. */
const longestPatch = 200_000

/** Splits the output of `git diff` by file. */
export function filesIn(patch: string): File[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map((part) => {
      const body = part.slice(part.search(/^@@ /m) < 0 ? part.length : part.search(/^@@ /m))
      const lines = body.split('\n')
      return {
        path: pathIn(part),
        added: lines.filter((line) => line.startsWith('+')).length,
        removed: lines.filter((line) => line.startsWith('-')).length,
        ...(body !== '' && body.length <= longestPatch && { patch: body }),
      }
    })
}

/** Git quotes names with unusual characters. Uses the new name, unless the file was deleted. */
function pathIn(part: string): string {
  const named = /^\+\+\+ "?b\/(.*?)"?$/m.exec(part)?.[1] ?? /^--- "?a\/(.*?)"?$/m.exec(part)?.[1]
  return named ?? /^diff --git "?a\/.*?"? "?b\/(.*?)"?$/m.exec(part)?.[1] ?? 'unknown'
}
