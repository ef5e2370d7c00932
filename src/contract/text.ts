/** Quotes any text as one word of a shell command. */
export const quoteShellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const clipText = (text: string, size: number): string => (text.length <= size ? text : `${text.slice(0, size)}…`)

/** Returns the known word that the user probably meant, if one is close enough. */
export function findNearestWord(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = word.length < 4 ? 2 : 3
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Counts insertions, deletions, replacements and swapped neighbours; stops at `limit`. */
function editDistance(from: string, to: string, limit: number): number {
  if (from.length - to.length >= limit || to.length - from.length >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current.push(
        smallest([
          (last[column] ?? limit) + 1,
          (current[column - 1] ?? limit) + 1,
          (last[column - 1] ?? limit) + (same ? 0 : 1),
          swapped ? (beforeLast[column - 2] ?? limit) + 1 : limit,
        ]),
      )
    }
    beforeLast = last
    last = current
  }
  return last[to.length] ?? limit
}

const smallest = (numbers: readonly number[]): number => numbers.reduce((a, b) => (b < a ? b : a))
