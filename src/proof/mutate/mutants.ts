import { codeLanguage, maskCode } from './code-text.ts'

/** A file with one small change, which tests of that line should notice. */
export type Mutant = {
  readonly path: string
  readonly line: number
  /** The old and the new text. */
  readonly change: string
  readonly text: string
}

const swaps: readonly (readonly [RegExp, string])[] = [
  [/===/g, '!=='],
  [/!==/g, '==='],
  [/(?<![=!<>])==(?!=)/g, '!='],
  [/(?<![=!])!=(?!=)/g, '=='],
  [/<=/g, '>'],
  [/>=/g, '<'],
  [/(?<= )<(?= )/g, '>='],
  [/(?<= )>(?= )/g, '<='],
  [/&&/g, '||'],
  [/\|\|/g, '&&'],
  [/(?<=[\w)\]] ?)\+(?![+=])(?=\s*[\w(])/g, '-'],
  [/(?<=[\w)\]] ?)-(?![-=>])(?=\s*[\w(])/g, '+'],
  [/(?<=[\w)\]] ?)\*(?![*=])(?=\s*[\w(])/g, '/'],
  [/(?<=[\w)\]] )\/(?=\s*[\w(])/g, '*'],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/\bTrue\b/g, 'False'],
  [/\bFalse\b/g, 'True'],
  [/\band\b/g, 'or'],
  [/(?<![\w.])\d+(?![\w.])/g, 'number'],
]

/** Mutants of the lines that differ from what was there, in the order of the file. */
export function createMutants(path: string, before: string, after: string): Mutant[] {
  const language = codeLanguage(path)
  if (language === undefined) return []
  const masked = maskCode(after, language, 'comments-and-strings').split('\n')
  const known = new Set(before.split('\n').map((line) => line.trim()))
  const lines = after.split('\n')
  return lines.flatMap((line, at) => {
    if (known.has(line.trim()) || /^\s*(?:import|from|use|package|#include|export \*)\b/.test(line)) return []
    return swaps.flatMap(([pattern, instead]) =>
      [...(masked[at] ?? '').matchAll(pattern)].map(({ index, 0: found }): Mutant => {
        const word = instead === 'number' ? String(Number(found) + 1) : instead
        const changed = line.slice(0, index) + word + line.slice(index + found.length)
        const text = lines.with(at, changed).join('\n')
        return { path, line: at + 1, change: `${found} to ${word}`, text }
      }),
    )
  })
}

/** Spread over all lines, so that a budget that ends early has seen every part. */
export function spread<T>(items: readonly T[]): T[] {
  const step = items.length > 8 ? Math.floor(items.length / 8) : 1
  return Array.from({ length: step }, (_, first) => items.filter((_item, at) => at % step === first)).flat()
}
