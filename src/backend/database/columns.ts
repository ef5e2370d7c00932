import { sql, type Column, type SQL } from 'drizzle-orm'
import { bigint, customType } from 'drizzle-orm/pg-core'

const timestampType = customType<{ data: number; driverData: string | Date }>({
  dataType: () => 'timestamp (3) with time zone',
  toDriver: (ms) => new Date(ms).toISOString(),
  fromDriver: (value) => new Date(value).getTime(),
})

/** A moment in milliseconds. `of` formats one as a value in a statement. */
export const timestampMs = Object.assign((name: string) => timestampType(name), {
  literal: (ms: number): SQL => sql`${new Date(ms).toISOString()}::timestamptz`,
})

/** Passes a value as JSON in a statement. */
export const jsonValue = (value: unknown): SQL => sql`${JSON.stringify(value)}::jsonb`

/** Matches any of the values with a single parameter, so that every number of values shares one prepared statement. */
export const equalsAny = (column: Column, values: readonly unknown[]): SQL =>
  sql`${column} = any(${sql.param([...values])})`

export const bigintColumn = (name: string) => bigint(name, { mode: 'number' })

/** A transaction number as text, because it has 64 bits. */
export const transactionNumber = customType<{ data: string }>({ dataType: () => 'xid8' })
