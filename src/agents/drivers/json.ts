/** Never trust what a program printed: check every field before use. */
export type JsonObject = { readonly [name: string]: unknown }

/** The object on a line; undefined for anything else: banners, HTML, half a line, numbers, lists. */
export function parseObject(line: string): JsonObject | undefined {
  if (!line.startsWith('{') && !line.trimStart().startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const noObject: JsonObject = {}
const noList: readonly unknown[] = []

/** For chained reads: a field of the wrong type reads as empty. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : noObject)
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : noList)
export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined
export const countOf = (value: unknown): number => {
  const number = asNumber(value)
  return number !== undefined && number > 0 ? number : 0
}
