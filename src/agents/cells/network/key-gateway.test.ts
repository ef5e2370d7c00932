import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { listenOnLoopback } from '../../../platform/net/loopback-server.ts'
import { createKeyGateway, createPlaceholder } from './key-gateway.ts'

async function startGateway() {
  const seen: string[] = []
  const model = createServer((incoming, response) => {
    const { url, headers } = incoming
    seen.push([url, headers['x-api-key'] ?? headers.authorization].join(' '))
    incoming.resume().on('end', () => response.end('answer'))
  })
  const upstream = await listenOnLoopback(model)
  const placeholder = createPlaceholder()
  const options = { upstream: new URL(`http://127.0.0.1:${upstream.port}/base`), placeholder, key: 'sk-real' }
  const gateway = await listenOnLoopback(createKeyGateway(options))
  onTestFinished(gateway.close)
  onTestFinished(upstream.close)
  const call = (path: string, headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${gateway.port}${path}`, { method: 'POST', headers, body: '{}' })
  /** `fetch` would resolve the dots itself. */
  const callAsWritten = async (path: string, headers: Record<string, string>) => {
    const sent = request({ port: gateway.port, path, headers }).end()
    const [answer]: { statusCode?: number }[] = await once(sent, 'response')
    return { status: answer?.statusCode }
  }
  return { placeholder, seen, call, callAsWritten }
}

it('puts the key in place of the placeholder, in every header that carries one', async () => {
  const { placeholder, seen, call } = await startGateway()
  expect(await (await call('/v1/messages', { 'x-api-key': placeholder })).text()).toBe('answer')
  await call('/v1/responses', { authorization: `Bearer ${placeholder}` })
  expect(seen).toEqual(['/base/v1/messages sk-real', '/base/v1/responses Bearer sk-real'])
})

it('refuses every other value, and a path that leads elsewhere', async () => {
  const { placeholder, seen, call, callAsWritten } = await startGateway()
  const refused = [
    await call('/v1/messages', { 'x-api-key': 'sk-real' }),
    await call('/v1/messages', {}),
    await callAsWritten('/v1/%2e%2e/admin', { 'x-api-key': placeholder }),
  ]
  expect([refused.map(({ status }) => status), seen]).toEqual([[401, 401, 400], []])
})
