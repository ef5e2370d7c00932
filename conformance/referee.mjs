// Knows every call of the agent and every child of it from its first to its last moment, by the connections that they hold.
import { createServer } from 'node:net'

/**
 * `decide(number, call)` says what a call is told: `{fault?, resetsAt?, step?}`. `calls` grows; the times are those of this
 * process, in milliseconds; `endedAt` is missing while it lives; `isOver` says that it came to its end by itself; `others` and
 * `besides` are the calls that lived when it began, and how many.
 */
export async function openReferee(decide = () => ({})) {
  const calls = []
  const alive = new Set()
  const server = createServer((socket) => {
    let text = ''
    let call
    alive.add(socket)
    socket.setEncoding('utf8').on('data', (part) => {
      text += part
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
        const { hello, ...said } = JSON.parse(text.slice(0, end))
        text = text.slice(end + 1)
        if (hello === 'over') call.isOver = true
        if (hello === 'child') socket.write('{}\n')
        if (hello !== 'call') continue
        const others = living(calls)
        call = { number: calls.length + 1, startedAt: Date.now(), others, besides: others.length, ...said }
        calls.push(call)
        call.told = decide(call.number, call)
        socket.write(`${JSON.stringify({ number: call.number, ...call.told })}\n`)
      }
    })
    // Half open is dead too: it is the process that closes it.
    socket.on('error', () => {})
    socket.on('close', () => {
      alive.delete(socket)
      if (call) call.endedAt = Date.now()
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${server.address().port}`,
    calls,
    /** How many processes of the agent live, its children too. */
    alive: () => alive.size,
    close() {
      for (const socket of alive) socket.destroy()
      server.close()
    },
  }
}

/** Whoever has said goodbye is gone, though the end of its connection may come later than the next call. */
const living = (calls) =>
  calls.filter(({ endedAt, isOver }) => endedAt === undefined && !isOver).map(({ number }) => number)
