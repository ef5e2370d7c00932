import type { z } from 'zod'
import { Timestamp } from '../../contract/time.ts'

/** A map of a file that another program wrote. */
export type FileRecord = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is FileRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text that says something; numbers count, because YAML reads `id: 1` as one. */
export function readText(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.trim() !== '' ? text : undefined
}

export const readCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

export const readTime = (value: unknown): number | undefined => Timestamp.safeParse(value).data

/** Decodes each entry by itself; notes the ones that do not fit instead of refusing the file. */
export function decodeList<T extends z.ZodType>(
  schema: T,
  value: unknown,
  name: string,
  notes: string[],
): z.output<T>[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : []
  return entries.flatMap((entry, index) => {
    const decoded = schema.safeParse(entry)
    if (decoded.success) return [decoded.data]
    notes.push(`${name}[${index}] was left behind: ${decoded.error.issues[0]?.message ?? 'not understood'}`)
    return []
  })
}
