import { sql, type Column, type SQL } from 'drizzle-orm'
import { bigint, customType } from 'drizzle-orm/pg-core'

const timestamp = customType<{ data: number; driverData: string | Date }>({
  dataType: () => 'timestamp (3) with time zone',
  toDriver: (ms) => new Date(ms).toISOString(),
  fromDriver: (value) => new Date(value).getTime(),
})

/** A moment: milliseconds inside, as everywhere. `of`: one as a value in a statement. */
export const moment = Object.assign((name: string) => timestamp(name), {
  of: (ms: number): SQL => sql`${new Date(ms).toISOString()}::timestamptz`,
})

/** A value as JSON in a statement. */
export const json = (value: unknown): SQL => sql`${JSON.stringify(value)}::jsonb`

/** One statement, however many there are: each number of parameters would be another one. */
export const isAny = (column: Column, values: readonly unknown[]): SQL =>
  sql`${column} = any(${sql.param([...values])})`

export const count = (name: string) => bigint(name, { mode: 'number' })

/** The number of a transaction, as text: it has 64 bits. */
export const transactionNumber = customType<{ data: string }>({ dataType: () => 'xid8' })
