// Tracks every call of the agent and each of its children from start to end, by their open connections.
import { createServer } from 'node:net'

/**
 * `decide(number, call)` returns the answer to a call: `{fault?, resetsAt?, step?}`. `calls` grows; times are those of this process,
 * in milliseconds; `endedAt` is missing while the call lives; `isOver`: it ended by itself; `others` and `besides`: the calls
 * that were alive when it started, and how many.
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
        const { hello, ...message } = JSON.parse(text.slice(0, end))
        text = text.slice(end + 1)
        if (hello === 'over') call.isOver = true
        if (hello === 'child') socket.write('{}\n')
        if (hello !== 'call') continue
        const others = living(calls)
        call = { number: calls.length + 1, startedAt: Date.now(), others, besides: others.length, ...message }
        calls.push(call)
        call.instruction = decide(call.number, call)
        socket.write(`${JSON.stringify({ number: call.number, ...call.instruction })}\n`)
      }
    })
    // Half open is dead too: the process closes it.
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
    /** Number of live processes of the agent, children included. */
    alive: () => alive.size,
    close() {
      for (const socket of alive) socket.destroy()
      server.close()
    },
  }
}

/** A process that said goodbye is gone, although the end of its connection may arrive after the next call. */
const living = (calls) =>
  calls.filter(({ endedAt, isOver }) => endedAt === undefined && !isOver).map(({ number }) => number)
