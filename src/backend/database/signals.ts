import { Client, type Pool } from 'pg'

/**
 * Best-effort wake-up for listeners in this process and in other replicas. Signals can be lost, so listeners must also
 * poll.
 */
export interface Signals {
  readonly give: (topic: string, key: string) => void
  /** Returns an unsubscribe function. */
  readonly on: (topic: string, hear: (key: string) => void) => () => void
  readonly close: () => Promise<void>
}

/** For the embedded database, which has a single process. */
export function localSignals(): Signals {
  const listeners = new Map<string, Set<(key: string) => void>>()
  return {
    give: (topic, key) => listeners.get(topic)?.forEach((hear) => hear(key)),
    on: (topic, hear) => {
      const hearing = listeners.get(topic) ?? new Set()
      listeners.set(topic, hearing.add(hear))
      return () => void hearing.delete(hear)
    },
    close: async () => listeners.clear(),
  }
}

const channel = 'ralph_signals'
const reconnectMs = 1000
/** Postgres serializes commits of transactions that notify, so signals are sent outside of them, in batches. */
const gatherMs = 5
const mostBytes = 7000

/** Signals between replicas: LISTEN on a dedicated connection, NOTIFY after the commit. */
export async function openSignals(url: string, pool: Pool, onTrouble: (error: Error) => void): Promise<Signals> {
  const local = localSignals()
  const self = crypto.randomUUID()
  const waiting = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let listening: Client | undefined

  const tellOthers = () => {
    timer = undefined
    const parts = packed([...waiting])
    waiting.clear()
    for (const part of parts) {
      pool.query('select pg_notify($1, $2)', [channel, JSON.stringify([self, ...part])]).catch(onTrouble)
    }
  }

  const listen = async (): Promise<void> => {
    const client = new Client({ connectionString: url, keepAlive: true })
    const lost = (error: Error) => {
      if (closed || listening !== client) return
      listening = undefined
      onTrouble(error)
      setTimeout(() => void listen(), reconnectMs).unref()
    }
    listening = client
    client.on('error', lost)
    client.on('end', () => lost(new Error('the listening connection has ended')))
    client.on('notification', ({ payload = '[]' }) => {
      const [from, ...signals] = heard(payload)
      if (from !== self) for (const signal of signals) local.give(...split(signal))
    })
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
    } catch (error) {
      lost(error instanceof Error ? error : new Error(String(error)))
    }
  }
  await listen()

  return {
    on: local.on,
    give: (topic, key) => {
      local.give(topic, key)
      waiting.add(`${topic} ${key}`)
      timer ??= setTimeout(tellOthers, gatherMs)
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      await listening?.end().catch(() => {})
      await local.close()
    },
  }
}

const heard = (payload: string): string[] => {
  const parsed: unknown = JSON.parse(payload)
  return Array.isArray(parsed) ? parsed.filter((part) => typeof part === 'string') : []
}

const split = (signal: string): [string, string] => {
  const at = signal.indexOf(' ')
  return [signal.slice(0, at), signal.slice(at + 1)]
}

/** A notification payload holds 8000 bytes. */
function packed(signals: readonly string[]): string[][] {
  const parts: string[][] = []
  let size = mostBytes
  for (const signal of signals) {
    const bytes = Buffer.byteLength(signal) + 3
    if (size + bytes > mostBytes) {
      parts.push([])
      size = 0
    }
    size += bytes
    parts.at(-1)?.push(signal)
  }
  return parts
}
