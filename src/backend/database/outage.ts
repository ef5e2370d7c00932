import { DrizzleQueryError } from 'drizzle-orm'
import { DatabaseError } from 'pg'
import { errorMessage, type RalphError } from '../../contract/errors.ts'
import type { Database } from './database.ts'
import { explainOutage, isUnavailableText } from './database-unavailable.ts'

const usualTimes = {
  probeIntervalMs: 2000,
  /** Without a failure for this long, a successful write ends an outage. */
  quietMs: 5000,
}
/** The row of the probe does not fit into a page that exists. */
const probeBytes = 60_000

type OutageWatchOptions = {
  /** Rejects while the database cannot write. */
  readonly probe: () => Promise<void>
  readonly log: (text: string, about: Readonly<Record<string, unknown>>) => void
  readonly now: () => number
  readonly times?: typeof usualTimes
}

export type OutageWatch = {
  /** Whether the error comes from an unusable database. An outage is logged once when it starts and once when it ends. */
  readonly covers: (error: unknown) => boolean
  readonly close: () => void
}

/** Turns the many errors of an unusable database into two lines for the operator. */
export function createOutageWatch({ probe, log, now, times = usualTimes }: OutageWatchOptions): OutageWatch {
  let outage: { readonly problem: string; readonly since: number } | undefined
  let failedAt = 0
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const checkRecovery = async () => {
    try {
      await probe()
    } catch {
      failedAt = now()
    }
    if (isClosed) return
    if (outage && now() - failedAt < times.quietMs) return probeLater()
    const seconds = Math.ceil((failedAt - (outage?.since ?? failedAt)) / 1000)
    log(`the database works again, after ${seconds} s`, {})
    outage = undefined
  }
  const probeLater = () => void (timer = setTimeout(() => void checkRecovery(), times.probeIntervalMs).unref())
  const begin = ({ message, hint }: RalphError) => {
    // Without the cause and figures, which differ from error to error.
    const problem = message.split(': ')[0]?.replaceAll(/\d+/g, '') ?? ''
    if (outage?.problem === problem) return
    log(`${message}; agents continue, and their reports wait (${hint})`, { code: 'DATABASE_UNAVAILABLE' })
    if (!outage) probeLater()
    outage = { problem, since: outage?.since ?? now() }
  }
  /** The engine passes on only a text, and may be the first to notice: the error of the probe says what is wrong. */
  const explain = (text: string) => {
    probe().then(
      () => log(text, {}),
      (error: unknown) => {
        const problem = explainOutage(error)
        if (problem) begin(problem)
        else log(text, {})
      },
    )
  }
  return {
    covers: (error) => {
      const problem = explainOutage(error)
      if (!problem && !isUnavailableText(errorMessage(error))) return false
      failedAt = now()
      if (problem) begin(problem)
      else if (!outage) explain(errorMessage(error))
      return true
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** Who passes on errors of the database only. */
const databaseSources: readonly string[] = ['database', 'engine']

/** Which errors are known as an outage; those of other connections, such as a client's, never are. */
export function createOutageFilter() {
  const reported = new WeakSet<Error>()
  const isOfDatabase = (error: unknown): boolean =>
    error instanceof Error &&
    (error instanceof DrizzleQueryError ||
      error instanceof DatabaseError ||
      reported.has(error) ||
      isOfDatabase(error.cause))
  return {
    covers: (error: unknown, doing: string, watch: Pick<OutageWatch, 'covers'> | undefined): boolean => {
      if (databaseSources.includes(doing)) {
        // The caller of the database throws the same error once more.
        for (let at: unknown = error; at instanceof Error; at = at.cause) reported.add(at)
      } else if (!isOfDatabase(error)) return false
      return watch?.covers(error) ?? explainOutage(error) !== undefined
    },
  }
}

/** Writes and forgets it: rejects if the database is away, read-only or full. */
export const probeWrite = (database: Pick<Database, 'transaction'>): Promise<void> =>
  database.transaction(async ({ client }) => {
    await client.query('create temporary table outage_probe (filler text) on commit drop')
    await client.query('alter table outage_probe alter column filler set storage external')
    await client.query(`insert into outage_probe values (repeat('x', ${probeBytes}))`)
  })
