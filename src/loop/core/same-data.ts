/** Deep equality of plain data, regardless of the order of fields. */
export const isSameData = (a: unknown, b: unknown): boolean =>
  JSON.stringify(sortFields(a)) === JSON.stringify(sortFields(b))

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, entry]) => entry !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sortFields(entry)]),
  )
}
