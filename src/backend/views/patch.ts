import type { SprintDiff } from '../../contract/fleet/sprint.ts'

type PatchFile = SprintDiff['files'][number]

/** Longer patches are only counted. */
const maxPatchLength = 200_000

/** Splits the output of `git diff` by file. The output arrives without its last newline, which `git apply` needs. */
export function parsePatch(patch: string): PatchFile[] {
  return `${patch}\n`
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map((part) => {
      const at = part.search(/^@@ /m) < 0 ? part.length : part.search(/^@@ /m)
      const [head, body] = [part.slice(0, at), part.slice(at)]
      const isComplete = body.length <= maxPatchLength && !/^(Binary files|GIT binary patch)/m.test(head)
      const lines = body.split('\n')
      return {
        path: parsePatchPath(part),
        added: lines.filter((line) => line.startsWith('+')).length,
        removed: lines.filter((line) => line.startsWith('-')).length,
        ...(body !== '' && body.length <= maxPatchLength && { patch: body }),
        ...(isComplete && { head }),
      }
    })
}

/** Git quotes names with unusual characters. Uses the new name, unless the file was deleted. */
function parsePatchPath(part: string): string {
  const named = /^\+\+\+ "?b\/(.*?)"?$/m.exec(part)?.[1] ?? /^--- "?a\/(.*?)"?$/m.exec(part)?.[1]
  return named ?? /^diff --git "?a\/.*?"? "?b\/(.*?)"?$/m.exec(part)?.[1] ?? 'unknown'
}
