import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { createServer, globalAgent } from 'node:https'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestCertificate } from '../../../test/support/certificate.ts'
import { createWebhookReceiver } from '../../../test/support/webhook-receiver.ts'
import { isInternalAddress } from './internal-addresses.ts'
import { postWebhook } from './webhook.ts'

const { key, cert } = createTestCertificate()

type ReceivedRequest = {
  readonly method?: string
  readonly url?: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An https server, and the requests that it received. */
async function startReceiver(answer: RequestListener = (_, response) => response.end('thanks')) {
  const received: ReceivedRequest[] = []
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      received.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      answer(request, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const before = globalAgent.options.ca
  globalAgent.options.ca = cert
  onTestFinished(() => {
    globalAgent.options.ca = before
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { received, port, url: `https://localhost:${port}/hook?x=1` }
}

const allows = () => true

describe('a webhook', () => {
  it('gets the body, signed if there is a secret', async () => {
    const { received, url } = await startReceiver()
    const body = JSON.stringify({ text: 'fertig: größer' })

    await postWebhook(url, body, { secret: 's3cret', allows })

    expect(received).toMatchObject([
      {
        method: 'POST',
        url: '/hook?x=1',
        body,
        headers: {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
          'x-ralph-signature': `sha256=${createHmac('sha256', 's3cret').update(body).digest('hex')}`,
        },
      },
    ])
  })

  it('is accepted once by a receiver of Standard Webhooks, also if the sender tries again', async () => {
    const secret = `whsec_${Buffer.from('a secret of many bytes').toString('base64')}`
    const { received, url } = await startReceiver()
    await postWebhook(url, '{"text":"done"}', { secret, id: 'msg_1', allows })
    await postWebhook(url, '{"text":"done"}', { secret, id: 'msg_1', allows })
    await postWebhook(url, '{"text":"other"}', { secret, id: 'msg_2', allows })
    const receive = createWebhookReceiver(secret)
    expect(received.map((call) => receive(call))).toEqual(['accepted', 'repeated', 'accepted'])
  })

  it('cannot be replayed, changed or forged', async () => {
    const secret = `whsec_${Buffer.from('a secret of many bytes').toString('base64')}`
    const { received, url } = await startReceiver()
    await postWebhook(url, '{"text":"done"}', { secret, id: 'msg_1', allows })
    const [call] = received
    if (!call) throw new Error('nothing arrived')
    const later = Date.now() + 6 * 60_000
    const renewed = { ...call.headers, 'webhook-timestamp': `${Math.floor(later / 1000)}` }
    const forged = { ...call.headers, 'webhook-id': 'msg_2' }
    expect([
      createWebhookReceiver(secret, () => later)(call),
      createWebhookReceiver(secret, () => later)({ ...call, headers: renewed }),
      createWebhookReceiver(secret)({ ...call, headers: forged }),
      createWebhookReceiver(secret)({ ...call, body: '{"text":"evil"}' }),
      createWebhookReceiver(`whsec_${Buffer.from('another').toString('base64')}`)(call),
      createWebhookReceiver(secret)(call),
    ]).toEqual(['too old', 'wrong signature', 'wrong signature', 'wrong signature', 'wrong signature', 'accepted'])
  })

  it('has no signature without a secret', async () => {
    const { received, url } = await startReceiver()

    await postWebhook(url, '{}', { allows })

    expect(received[0]?.headers).not.toHaveProperty('x-ralph-signature')
    expect(received[0]?.headers).not.toHaveProperty('webhook-signature')
  })

  it.each([
    [404, 'it answered 404'],
    [500, 'it answered 500'],
  ])('that answers %i is not delivered', async (status, reason) => {
    const { url } = await startReceiver((_, response) => response.writeHead(status).end())

    await expect(postWebhook(url, '{}', { allows })).rejects.toThrow(reason)
  })

  it('follows no redirect: its target was not checked', async () => {
    const { received, url } = await startReceiver((_, response) =>
      response.writeHead(302, { location: 'https://169.254.169.254/latest' }).end(),
    )

    await expect(postWebhook(url, '{}', { allows })).rejects.toThrow('it answered 302')
    expect(received).toHaveLength(1)
  })

  it('fails if no server listens', async () => {
    const { port } = await startReceiver()

    await expect(postWebhook(`https://localhost:${port === 1 ? 2 : 1}/`, '{}', { allows })).rejects.toThrow(
      /ECONNREFUSED/,
    )
  })

  it('fails if the certificate is not trusted', async () => {
    const { received, url } = await startReceiver()
    globalAgent.options.ca = undefined

    await expect(postWebhook(url, '{}', { allows })).rejects.toThrow(/certificate/)
    expect(received).toEqual([])
  })

  it('times out, no matter at which point the server stalls', async () => {
    const drips: NodeJS.Timeout[] = []
    const { url } = await startReceiver(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nx-long: ')
      drips.push(setInterval(() => socket.write('x'), 20))
    })
    onTestFinished(() => drips.forEach((drip) => clearInterval(drip)))
    const { url: mute } = await startReceiver(() => {})

    await expect(postWebhook(mute, '{}', { allows, timeoutMs: 200 })).rejects.toThrow('no answer in 0.2 s')
    await expect(postWebhook(url, '{}', { allows, timeoutMs: 200 })).rejects.toThrow('no answer in 0.2 s')
  })

  it('succeeds if the response never ends, and does not keep the process alive', async () => {
    const closed: string[] = []
    const { url } = await startReceiver((_, response) => {
      const talk = setInterval(() => response.write('blah'), 5)
      response.on('close', () => {
        clearInterval(talk)
        closed.push('closed')
      })
    })

    await postWebhook(url, '{}', { allows })
    await expect.poll(() => closed).toEqual(['closed'])
  })
})

describe('an internal address', () => {
  it.each([
    'https://127.0.0.1/',
    'https://localhost/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://127.1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://[::]/',
    'https://[0:0:0:0:0:ffff:a9fe:a9fe]/',
    'https://[2002:7f00:1::]/',
    'https://①②⑦.0.0.1/',
    'https://user:pass@127.0.0.1:443/',
    'https://10.1.2.3/',
    'https://192.168.0.1/',
    'https://172.31.255.255/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[::a00:1]/',
    'https://[::ffff:0:127.0.0.1]/',
    'https://[fec0::1]/',
    'https://[2001:0:7f00:1::]/',
    'https://[2001:2::1]/',
    'https://[3fff::1]/',
    'https://192.88.99.1/',
  ])('is never called: %s', async (url) => {
    await expect(postWebhook(url, '{}')).rejects.toThrow('is an internal address')
  })

  it.each(['http://example.com/', 'ftp://example.com/', 'file:///etc/passwd'])(
    'nor anything but https: %s',
    async (url) => {
      await expect(postWebhook(url, '{}')).rejects.toThrow('only https URLs are allowed')
    },
  )

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '192.88.98.1', '2606:4700::1111', '2001:4860:4860::8888'])(
    'is not %s',
    (address) => {
      expect(isInternalAddress(address)).toBe(false)
    },
  )

  it.each(['::ffff:127.0.0.1', '::ffff:169.254.169.254', '::FFFF:10.0.0.1'])(
    'is %s, as a name server may say it',
    (address) => {
      expect(isInternalAddress(address)).toBe(true)
    },
  )

  it('includes anything that is not an address', () => {
    expect(isInternalAddress('example.com')).toBe(true)
  })
})
