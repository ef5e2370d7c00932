/** The candidate that the word was probably meant to be: it begins with it, or few letters differ. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.trim().toLowerCase()
  const begun = candidates.find((name) => typed.startsWith(name))
  if (begun !== undefined) return begun
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const name of candidates) {
    const distance = editDistance(typed, name.toLowerCase())
    if (distance <= Math.max(2, Math.floor(name.length / 3)) && distance < (best?.distance ?? Infinity)) {
      best = { name, distance }
    }
  }
  return best?.name
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const changed = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      row.push(swapped ? Math.min(changed, (before[j - 2] ?? 0) + 1) : changed)
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}
