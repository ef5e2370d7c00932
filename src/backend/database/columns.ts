import { bigint, customType } from 'drizzle-orm/pg-core'

/** A moment: milliseconds inside, as everywhere. */
export const moment = customType<{ data: number; driverData: string | Date }>({
  dataType: () => 'timestamp (3) with time zone',
  toDriver: (ms) => new Date(ms).toISOString(),
  fromDriver: (value) => new Date(value).getTime(),
})

export const count = (name: string) => bigint(name, { mode: 'number' })

/** The number of a transaction, as text: it has 64 bits. */
export const transactionNumber = customType<{ data: string }>({ dataType: () => 'xid8' })
