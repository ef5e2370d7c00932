import type { BackendLog } from './connection.ts'

const intervalMs = 600_000

export type RefusalLog = (from: string, why: string, text: string) => void

/** A refused machine tries again and again: logs each sender and reason once in ten minutes. */
export function createRefusalLog(log: BackendLog): RefusalLog {
  const seen = new Set<string>()
  setInterval(() => seen.clear(), intervalMs).unref()
  return (from, why, text) => {
    if (seen.has(`${from} ${why}`)) return
    seen.add(`${from} ${why}`)
    log('warn', text, { why, from })
  }
}
