import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { z } from 'zod'
import { afterFile } from '../support/after-file.ts'
import { root } from '../support/paths.ts'
import { createDataFolder, waitUntil } from './test-fleet.ts'

const canary = 'sk-ant-canary-0123456789abcdef0123456789abcdef'
/** The compile cache that the first start writes and the next ones use. */
const home = mkdtempSync(join(tmpdir(), 'ralph-home-'))
afterAll(() => rm(home, { recursive: true, force: true }))
const started: ChildProcess[] = []
afterAll(() => started.forEach((child) => child.kill('SIGKILL')))

/** `ralph serve`, as users start it. */
function startServe(...args: readonly string[]) {
  const env = { ...process.env, ANTHROPIC_API_KEY: canary, RALPH_HOME: home, DATABASE_URL: '', RALPH_OIDC_ISSUER: '' }
  const main = [join(root, 'bin/cli/main.cjs'), 'serve', '--json', ...args]
  const child = spawn(process.execPath, main, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  started.push(child)
  const output = { out: '', err: '' }
  child.stdout.on('data', (part: Buffer) => (output.out += part.toString()))
  child.stderr.on('data', (part: Buffer) => (output.err += part.toString()))
  const ended = once(child, 'close').then(([code]: unknown[]) => code)
  const origin = async () => {
    await waitUntil(
      async () => output,
      ({ out }) => out.includes('\n') || child.exitCode !== null,
      120_000,
    )
    return z.object({ origin: z.string(), address: z.string() }).parse(JSON.parse(output.out))
  }
  return { child, said: output, ended, origin }
}

/** A user who opens the printed address. */
async function signIn({ origin, address }: { readonly origin: string; readonly address: string }) {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ ticket: new URL(address).hash.slice(1) })
  const answer = await fetch(`${origin}/api/sign-in`, { method: 'POST', headers, body })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const withCookie: typeof fetch = (url, init) => fetch(url, { ...init, headers: { ...headers, cookie } })
  return { cookie, api: createClient({ baseUrl: origin, fetch: withCookie }) }
}

it('serves a data folder once, exits on request, and a copy of the folder has everything', async () => {
  const data = await createDataFolder()
  const first = startServe('--port', '0', '--data', data)
  const at = await first.origin()
  const { cookie, api } = await signIn(at)
  const webhook = { url: `https://hooks.example.com/${canary}`, events: ['failed' as const] }
  await api.makeWebhook(webhook)

  const second = startServe('--port', '0', '--data', data)
  expect(await second.ended).toBe(1)
  expect(second.said.err + second.said.out).toContain('DATA_FOLDER_IN_USE')
  expect(second.said.err + second.said.out).toContain(`process ${first.child.pid}`)

  const stream = await fetch(`${at.origin}/api/events`, { headers: { cookie } })
  first.child.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  await stream.text().catch(() => '')
  const lines = first.said.err.trim().split('\n')
  expect(lines.map((line) => z.looseObject({ level: z.string() }).parse(JSON.parse(line)).level)).toContain('info')
  expect(first.said.err).not.toContain(canary)

  const copy = await mkdtemp(join(tmpdir(), 'ralph-restored-'))
  afterFile(() => rm(copy, { recursive: true, force: true }))
  await cp(data, copy, { recursive: true })
  const restored = startServe('--port', '0', '--data', copy)
  const again = await signIn(await restored.origin())
  expect((await again.api.listWebhooks({})).items).toMatchObject([{ events: ['failed'] }])
  restored.child.kill('SIGTERM')
  expect(await restored.ended).toBe(0)
}, 240_000)

it('refuses other machines without TLS and accounts, and reports a port in use', async () => {
  const exposed = startServe('--port', '0', '--data', await createDataFolder(), '--host', '0.0.0.0')
  expect([await exposed.ended, exposed.said.err]).toEqual([1, expect.stringContaining('"EXPOSED"')])
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const taken = startServe('--port', `${port}`, '--data', await createDataFolder())
  expect([await taken.ended, taken.said.err]).toEqual([1, expect.stringContaining('"PORT_TAKEN"')])
  other.close()
}, 240_000)
