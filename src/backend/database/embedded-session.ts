import { Duplex } from 'node:stream'
import type { PGlite } from '@electric-sql/pglite'

/** Messages that ask for an answer: query, sync, flush, goodbye; the first message of all begins with a zero. */
const asking: ReadonlySet<number> = new Set([...Buffer.from('QSHX'), 0])

type Waiting = { readonly of: Duplex; readonly run: () => void }

/**
 * Connections of `pg` to the Postgres inside this process, without a socket: what is written up to a sync is understood at once
 * and answered in one piece. There is one session, so whoever is in a transaction has it for himself; a connection that ends
 * in the middle of one is rolled back.
 */
export function embeddedSession(lite: PGlite): () => Duplex {
  let holder: Duplex | undefined
  let waiting: Waiting[] = []

  const answer = async (connection: Duplex, question: Uint8Array) => {
    const parts: Buffer[] = []
    // All but the files is done when it returns.
    const kept = lite.execProtocolRawStream(question, { onRawData: (part) => void parts.push(Buffer.from(part)) })
    holder = lite.isInTransaction() ? connection : undefined
    await kept
    if (parts.length === 0) throw new Error('the embedded database does not answer any more')
    // In a turn of its own: many statements in a row must not keep everybody else from theirs.
    setImmediate(() => {
      if (!connection.destroyed) connection.push(Buffer.concat(parts))
    })
    goOn()
  }
  const ask = (connection: Duplex, question: Uint8Array) => {
    const run = () =>
      void answer(connection, question).catch((error: unknown) => connection.destroy(new Error(String(error))))
    if (holder === undefined || holder === connection) run()
    else waiting.push({ of: connection, run })
  }
  const goOn = () => {
    const [next] = holder === undefined ? waiting.splice(0, 1) : []
    next?.run()
  }
  const leave = (connection: Duplex) => {
    waiting = waiting.filter(({ of }) => of !== connection)
    if (holder !== connection) return
    lite.execProtocolRawSync(rollback)
    holder = undefined
    goOn()
  }
  return () => connectionTo(ask, leave)
}

const rollback = Buffer.from([...Buffer.from('Q'), 0, 0, 0, 13, ...Buffer.from('rollback'), 0])

/** What `pg` takes for a socket. */
function connectionTo(ask: (of: Duplex, question: Uint8Array) => void, leave: (of: Duplex) => void): Duplex {
  let gathered: Buffer[] = []
  const take = (chunks: readonly Buffer[]) => {
    gathered.push(...chunks)
    if (!chunks.some(([type = 0]) => asking.has(type))) return
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
