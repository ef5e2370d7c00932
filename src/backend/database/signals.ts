import { toError } from '../../contract/errors.ts'
import { Client, type Pool } from 'pg'

/**
 * Best-effort wake-up for listeners in this process and in other replicas. Signals can be lost, so listeners must also
 * poll.
 */
export interface Signals {
  readonly emit: (topic: string, key: string) => void
  /** Returns an unsubscribe function. */
  readonly on: (topic: string, listener: (key: string) => void) => () => void
  readonly close: () => Promise<void>
}

/** For the embedded database, which has a single process. */
export function createLocalSignals(): Signals {
  const listeners = new Map<string, Set<(key: string) => void>>()
  return {
    emit: (topic, key) => listeners.get(topic)?.forEach((listener) => listener(key)),
    on: (topic, listener) => {
      const subscribers = listeners.get(topic) ?? new Set()
      listeners.set(topic, subscribers.add(listener))
      return () => void subscribers.delete(listener)
    },
    close: async () => listeners.clear(),
  }
}

const channel = 'ralph_signals'
const reconnectMs = 1000
/** Postgres serializes commits of transactions that notify, so signals are sent outside of them, in batches. */
const batchMs = 5
const maxPayloadBytes = 7000

/** Signals between replicas: LISTEN on a dedicated connection, NOTIFY after the commit. */
export async function openSignals(url: string, pool: Pool, onError: (error: Error) => void): Promise<Signals> {
  const local = createLocalSignals()
  const self = crypto.randomUUID()
  const waiting = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let listening: Client | undefined

  const notifyReplicas = () => {
    timer = undefined
    const parts = packSignals([...waiting])
    waiting.clear()
    for (const part of parts) {
      pool.query('select pg_notify($1, $2)', [channel, JSON.stringify([self, ...part])]).catch(onError)
    }
  }

  const listen = async (): Promise<void> => {
    const client = new Client({ connectionString: url, keepAlive: true })
    const lost = (error: Error) => {
      if (closed || listening !== client) return
      listening = undefined
      onError(error)
      setTimeout(() => void listen(), reconnectMs).unref()
    }
    listening = client
    client.on('error', lost)
    client.on('end', () => lost(new Error('the listening connection has ended')))
    client.on('notification', ({ payload = '[]' }) => {
      const [from, ...signals] = parsePayload(payload)
      if (from !== self) for (const signal of signals) local.emit(...splitSignal(signal))
    })
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
    } catch (error) {
      lost(toError(error))
    }
  }
  await listen()

  return {
    on: local.on,
    emit: (topic, key) => {
      local.emit(topic, key)
      waiting.add(`${topic} ${key}`)
      timer ??= setTimeout(notifyReplicas, batchMs)
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      await listening?.end().catch(() => {})
      await local.close()
    },
  }
}

const parsePayload = (payload: string): string[] => {
  const parsed: unknown = JSON.parse(payload)
  return Array.isArray(parsed) ? parsed.filter((part) => typeof part === 'string') : []
}

const splitSignal = (signal: string): [string, string] => {
  const at = signal.indexOf(' ')
  return [signal.slice(0, at), signal.slice(at + 1)]
}

/** A notification payload holds 8000 bytes. */
function packSignals(signals: readonly string[]): string[][] {
  const parts: string[][] = []
  let size = maxPayloadBytes
  for (const signal of signals) {
    const bytes = Buffer.byteLength(signal) + 3
    if (size + bytes > maxPayloadBytes) {
      parts.push([])
      size = 0
    }
    size += bytes
    parts.at(-1)?.push(signal)
  }
  return parts
}
