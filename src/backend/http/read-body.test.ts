import { once } from 'node:events'
import { connect } from 'node:net'
import { Hono } from 'hono'
import { expect, it, onTestFinished } from 'vitest'
import { listenHttp } from './listen.ts'
import { readBodyText } from './read-body.ts'

it('takes a client that leaves during its upload for an invalid request, not for a lost connection', async () => {
  const thrown: unknown[] = []
  const app = new Hono().post('/', async (c) => c.text(await readBodyText(c)))
  app.onError((error, c) => {
    thrown.push(error)
    return c.text('')
  })
  const { port, close } = await listenHttp(app, { host: '127.0.0.1', port: 0, authenticates: false })
  onTestFinished(close)
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST / HTTP/1.1\r\nHost: ralph\r\nContent-Length: 100\r\n\r\nabcde', () => socket.destroy())
  await expect.poll(() => thrown).toEqual([expect.objectContaining({ code: 'INVALID_REQUEST' })])
})
