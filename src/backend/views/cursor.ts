import { and, eq, lt, or, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { RalphError } from '../../contract/errors.ts'
import type { Page } from '../../contract/fleet/page.ts'

/** The position in a list ordered by time and ID. */
export type Cursor = { readonly at: number; readonly id: string }

const encodeCursor = ({ at, id }: Cursor): string => Buffer.from(`${at} ${id}`).toString('base64url')

export function decodeCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined
  const [, at, id] = /^(\d{1,16}) ([\w:-]{1,100})$/.exec(Buffer.from(text, 'base64url').toString()) ?? []
  if (at === undefined || id === undefined)
    throw new RalphError('INVALID_REQUEST', 'query.cursor: not a cursor of this API')
  return { at: Number(at), id }
}

/** `rows` has one extra row if there are more pages. */
export function toPage<R, T>(
  rows: readonly R[],
  limit: number,
  { show, cursor }: { readonly show: (row: R) => T; readonly cursor: (row: R) => Cursor },
): Page<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const next = rows.length > limit && last ? { next: encodeCursor(cursor(last)) } : {}
  return { items: shown.map(show), ...next }
}

/** Items after the cursor in a list with the newest first. */
export const olderThan = (cursor: Cursor | undefined, at: AnyPgColumn, id: AnyPgColumn): SQL | undefined =>
  cursor && or(lt(at, cursor.at), and(eq(at, cursor.at), lt(id, cursor.id)))
