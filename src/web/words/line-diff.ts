export type DiffLine = { readonly kind: 'same' | 'add' | 'del' | 'hunk'; readonly text: string }

/** Above this many lines in total, lines are not compared one by one: all old ones are removed, all new ones added. */
const maxLines = 2000

/** The diff of an edit, from the text before and after. */
export function diffTexts(before: string, after: string): DiffLine[] {
  const old = splitLines(before)
  const fresh = splitLines(after)
  if (old.length + fresh.length > maxLines) return [...markLines('del', old), ...markLines('add', fresh)]
  return walkTable(old, fresh, commonSubsequenceTable(old, fresh))
}

const splitLines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

const markLines = (kind: 'add' | 'del', lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind, text }))

/** `table[i][j]`: the length of the longest common subsequence from i and j on. */
function commonSubsequenceTable(old: readonly string[], fresh: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1))
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      const row = table[i]
      if (row)
        row[j] =
          old[i] === fresh[j]
            ? tableValue(table, i + 1, j + 1) + 1
            : Math.max(tableValue(table, i + 1, j), tableValue(table, i, j + 1))
    }
  return table
}

const tableValue = (table: readonly Uint16Array[], i: number, j: number): number => table[i]?.[j] ?? 0

function walkTable(old: readonly string[], fresh: readonly string[], table: readonly Uint16Array[]): DiffLine[] {
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < fresh.length) {
    const before = old[i]
    const after = fresh[j]
    if (before !== undefined && before === after) {
      lines.push({ kind: 'same', text: before })
      i += 1
      j += 1
    } else if (
      before !== undefined &&
      (after === undefined || tableValue(table, i + 1, j) >= tableValue(table, i, j + 1))
    ) {
      lines.push({ kind: 'del', text: before })
      i += 1
    } else {
      lines.push({ kind: 'add', text: after ?? '' })
      j += 1
    }
  }
  return lines
}

/** The lines of a unified patch, without the file names. */
export const parsePatchLines = (patch: string): DiffLine[] =>
  patch
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line): DiffLine[] => {
      if (/^(diff |index |--- |\+\+\+ |new file|deleted file|similarity|rename |old mode|new mode)/.test(line))
        return []
      if (line.startsWith('@@')) return [{ kind: 'hunk', text: line }]
      if (line.startsWith('+')) return [{ kind: 'add', text: line.slice(1) }]
      if (line.startsWith('-')) return [{ kind: 'del', text: line.slice(1) }]
      if (line.startsWith('\\')) return []
      return [{ kind: 'same', text: line.slice(1) }]
    })

export const countDiffLines = (lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } => ({
  added: lines.filter(({ kind }) => kind === 'add').length,
  removed: lines.filter(({ kind }) => kind === 'del').length,
})
