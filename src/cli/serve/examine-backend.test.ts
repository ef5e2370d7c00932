import { expect, it } from 'vitest'
import { createClient } from '../../client/client.ts'
import type { Deployment } from '../../contract/fleet/operation-routes.ts'
import { examineBackend } from './examine-backend.ts'

const now = Date.parse('2026-11-18T12:00:00Z')
const healthy: Deployment = {
  version: '1.0.0',
  now,
  database: {
    kind: 'postgres',
    serverVersion: '16.2',
    sizeBytes: 1e6,
    latencyMs: 1,
    clockSkewMs: 0,
    readOnly: false,
    migrations: { applied: 9, known: 9, last: '0009_push.sql' },
    diskFreeBytes: 5e10,
  },
  engine: { replicas: 1, waiting: 0, oldestDueSeconds: 0 },
  machines: { connected: 2, offline: 0, pending: 0 },
  prompts: { running: 0, queued: 0, oldestQueuedSeconds: 0 },
}
const sick: Deployment = {
  version: '0.9.0',
  now: now + 60_000,
  database: {
    ...healthy.database,
    latencyMs: 800,
    readOnly: true,
    migrations: { applied: 7, known: 9, last: '0007_more.sql' },
    diskFreeBytes: 1e6,
  },
  engine: { replicas: 1, waiting: 9, oldestDueSeconds: 900 },
  machines: { connected: 0, offline: 2, pending: 0 },
  prompts: { running: 0, queued: 5, oldestQueuedSeconds: 7200 },
}

function examine(address: string, deployment: Deployment, readyStatus: number) {
  const url = new URL(address)
  const send: typeof fetch = async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input)
    if (pathname === '/healthz') return new Response('ok')
    return pathname === '/readyz' ? new Response('', { status: readyStatus }) : Response.json(deployment)
  }
  const client = createClient({ baseUrl: url.origin, fetch: send })
  return examineBackend({ url, fetch: send, client, version: '1.0.0', now: () => now })
}

it('finds nothing wrong with a healthy deployment', async () => {
  const found = await examine('http://127.0.0.1:7257', healthy, 200)
  expect(found.filter(({ ok, hint }) => !ok || hint !== undefined)).toEqual([])
  expect(found.find(({ name }) => name === 'engine')?.text).toBe('1 replica, 0 tasks waiting')
})

it('marks everything that is wrong, and says what to do about each', async () => {
  const found = await examine('http://ralph.example.com', sick, 503)
  const wrong = found.filter(({ ok }) => !ok)
  expect(found.filter(({ ok }) => ok).map(({ name }) => name)).toEqual(['address'])
  expect(wrong.map(({ name }) => name)).toEqual([
    'TLS',
    'ready',
    'version',
    'clock',
    'database',
    'rights',
    'migrations',
    'disk',
    'engine',
    'machines',
    'prompts',
  ])
  expect(wrong.filter(({ hint }) => hint === undefined)).toEqual([])
})
