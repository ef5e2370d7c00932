/** Never trust what a program printed: check every field before use. */
export type JsonObject = { readonly [name: string]: unknown }

/** The object on a line; undefined for anything else: banners, HTML, half a line, numbers, lists. */
export function parseObject(line: string): JsonObject | undefined {
  if (!line.startsWith('{') && !line.trimStart().startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const emptyObject: JsonObject = {}
const emptyList: readonly unknown[] = []

/** For chained reads: a field of the wrong type reads as empty. */
export const toJsonObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : emptyObject)
export const toJsonList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : emptyList)
export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined
export const asCount = (value: unknown): number => {
  const number = asNumber(value)
  return number !== undefined && number > 0 ? number : 0
}
