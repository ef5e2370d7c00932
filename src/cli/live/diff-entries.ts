import { pluralize } from '../../words/counts.ts'
import type { TerminalPaint } from '../io/paint.ts'
import type { OverlayEntry } from './overlay.ts'

/** The files of a patch, each with its coloured changes; the first entry shows all of them. */
export function diffEntries(patch: string, paint: TerminalPaint): OverlayEntry[] {
  const files = splitPatch(patch)
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  const all = { path: pluralize(files.length, 'file'), added, removed, lines: files.flatMap(({ lines }) => lines) }
  return [all, ...files].map(({ path, lines, ...counts }) => {
    const shown = lines.map((line) => paintDiffLine(line, paint))
    const text = `${path}  +${counts.added} −${counts.removed}`
    return { text, preview: shown, open: async () => ({ kind: 'text', title: text, lines: shown }) }
  })
}

type FilePatch = {
  readonly path: string
  readonly added: number
  readonly removed: number
  readonly lines: readonly string[]
}

/** Splits the output of `git diff` at its files. */
export function splitPatch(patch: string): FilePatch[] {
  const parts = patch.split(/^(?=diff --git )/m).filter((part) => part.startsWith('diff --git '))
  return parts.map((part) => {
    const lines = part.trimEnd().split('\n')
    const body = lines.slice(lines.findIndex((line) => line.startsWith('@@')))
    const isText = lines.some((line) => line.startsWith('@@'))
    return {
      path: readPath(lines),
      added: isText ? body.filter((line) => line.startsWith('+')).length : 0,
      removed: isText ? body.filter((line) => line.startsWith('-')).length : 0,
      lines,
    }
  })
}

/** The new name, or the old one of a deleted file; a binary file has neither line. */
function readPath(lines: readonly string[]): string {
  const named = (mark: string) =>
    lines.find((line) => line.startsWith(`${mark} `) && line !== `${mark} /dev/null`)?.slice(mark.length + 3)
  return named('+++') ?? named('---') ?? /^diff --git a\/(.+) b\//.exec(lines[0] ?? '')?.[1] ?? ''
}

function paintDiffLine(line: string, paint: TerminalPaint): string {
  const text = line.replaceAll('\t', '    ')
  if (/^diff --git|^index |^--- |^\+\+\+ /.test(text)) return paint.bold(text)
  if (text.startsWith('@@')) return paint.cyan(text)
  if (text.startsWith('+')) return paint.green(text)
  return text.startsWith('-') ? paint.red(text) : text
}
