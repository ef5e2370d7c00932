import { Duplex } from 'node:stream'
import type { PGlite } from '@electric-sql/pglite'

/** Messages that expect an answer: query, sync, flush, terminate; the startup message begins with a zero byte. */
const answeredMessages: ReadonlySet<number> = new Set([...Buffer.from('QSHX'), 0])

type WaitingQuery = { readonly of: Duplex; readonly run: () => void }

/**
 * Connects `pg` to the Postgres inside this process without a socket. Everything written up to a sync is executed at
 * once and answered in one chunk. There is one session, so a connection in a transaction has it exclusively; if that
 * connection ends, its transaction is rolled back.
 */
export function createEmbeddedSession(lite: PGlite): () => Duplex {
  let holder: Duplex | undefined
  let waiting: WaitingQuery[] = []

  const answer = async (connection: Duplex, question: Uint8Array) => {
    const parts: Buffer[] = []
    // When this returns, everything but the file writes is done.
    const flushed = lite.execProtocolRawStream(question, { onRawData: (part) => void parts.push(Buffer.from(part)) })
    holder = lite.isInTransaction() ? connection : undefined
    await flushed
    if (parts.length === 0) throw new Error('the embedded database no longer answers')
    // Deferred, so that a long series of statements does not starve other connections.
    setImmediate(() => {
      if (!connection.destroyed) connection.push(Buffer.concat(parts))
    })
    runNext()
  }
  const ask = (connection: Duplex, question: Uint8Array) => {
    const run = () =>
      void answer(connection, question).catch((error: unknown) => connection.destroy(new Error(String(error))))
    if (holder === undefined || holder === connection) run()
    else waiting.push({ of: connection, run })
  }
  const runNext = () => {
    const [next] = holder === undefined ? waiting.splice(0, 1) : []
    next?.run()
  }
  const leave = (connection: Duplex) => {
    waiting = waiting.filter(({ of }) => of !== connection)
    if (holder !== connection) return
    lite.execProtocolRawSync(rollback)
    holder = undefined
    runNext()
  }
  return () => createConnection(ask, leave)
}

const rollback = Buffer.from([...Buffer.from('Q'), 0, 0, 0, 13, ...Buffer.from('rollback'), 0])

/** The part of a socket that `pg` uses. */
function createConnection(ask: (of: Duplex, question: Uint8Array) => void, leave: (of: Duplex) => void): Duplex {
  let gathered: Buffer[] = []
  const take = (chunks: readonly Buffer[]) => {
    gathered.push(...chunks)
    if (!chunks.some(([type = 0]) => answeredMessages.has(type))) return
    const question = Buffer.concat(gathered)
    gathered = []
    if (question[0] === goodbye) leave(connection)
    else ask(connection, question)
  }
  const connection: Duplex = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _encoding, done) => {
      take([chunk])
      done()
    },
    writev: (chunks, done) => {
      take(chunks.map(({ chunk }: { readonly chunk: Buffer }) => chunk))
      done()
    },
    final: (done) => {
      connection.push(null)
      done()
    },
    destroy: (error, done) => {
      leave(connection)
      done(error)
    },
  })
  const connect = () => void setImmediate(() => connection.emit('connect'))
  const nothing = () => connection
  return Object.assign(connection, {
    connect,
    setNoDelay: nothing,
    setKeepAlive: nothing,
    ref: nothing,
    unref: nothing,
  })
}

const [goodbye] = Buffer.from('X')
