import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startAgentsServer } from '../../src/agents-server/agents-server.ts'
import { createClient } from '../../src/client/client.ts'
import { startPostgres } from '../support/postgres.ts'
import { createTestBackend, createApiCaller } from './test-backend.ts'
import { waitUntil } from './test-fleet.ts'

/** How long the database is down. The agent works during all of it. */
const outageMs = Number(process.env['OUTAGE_MS'] ?? 3000)
const program = `
const { appendFileSync, existsSync } = require('node:fs')
appendFileSync('ran', 'begun\\n')
const timer = setInterval(() => {
  if (!existsSync('go')) return
  clearInterval(timer)
  appendFileSync('ran', 'ended\\n')
  console.log('done')
}, 50)
`

it('survives a database outage, and the agent does not notice', async () => {
  const postgres = await startPostgres({ isDurable: true })
  onTestFinished(() => postgres.stop())
  const warnings: string[] = []
  const backend = await createTestBackend('postgres', {
    place: { url: await postgres.makeDatabase() },
    log: (level, text) => void (level === 'warn' && warnings.push(text)),
  })
  onTestFinished(() => backend.close())
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-outage-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const { machineId, connect } = await backend.localMachine('here')
  const settings = { name: 'here', labels: [], roots: [home], slots: 4, notes: join(home, 'notes', '{agent}') }
  const own = { home: join(home, 'machine'), env: process.env, machineId, connect, version: '1.2.3' }
  const machine = await startAgentsServer({ ...own, settings, log: () => {} })
  onTestFinished(() => machine.close())
  const token = await backend.commandToken()
  const api = createClient({ baseUrl: backend.origin, token })
  const ask = createApiCaller(backend.origin, { token })
  await waitUntil(
    async () => (await api.listMachines({})).items,
    ([row]) => row?.reachable === true,
  )
  const folder = join(home, 'project')
  mkdirSync(folder)
  writeFileSync(join(folder, 'agent.cjs'), program)
  const workspace = { kind: 'folder', path: folder } as const
  const agent = await api.createAgent({ name: 'a', workspace, program: `command:${process.execPath} agent.cjs` })
  await api.queuePrompt({ agentId: agent.id, prompt: 'work' })
  const ran = () => readFileSync(join(folder, 'ran'), { encoding: 'utf8', flag: 'a+' })
  await waitUntil(
    async () => ran(),
    (text) => text === 'begun\n',
    60_000,
  )

  await postgres.crash()
  const refused = await ask('GET', '/api/agents')
  expect([refused.status, refused.headers.get('content-type')]).toEqual([503, 'application/problem+json'])
  expect(refused.body).toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
  expect((await ask('POST', `/api/agents/${agent.id}/prompts`, { prompt: 'x' })).status).toBe(503)
  expect([(await ask('GET', '/readyz')).status, (await ask('GET', '/healthz')).status]).toEqual([503, 200])
  writeFileSync(join(folder, 'go'), '')
  await waitUntil(
    async () => ran(),
    (text) => text === 'begun\nended\n',
    60_000,
  )
  await new Promise((resolve) => setTimeout(resolve, outageMs))
  await postgres.restart()

  await waitUntil(
    () => ask('GET', '/readyz'),
    ({ status }) => status === 200,
    60_000,
  )
  const prompts = () => api.listPrompts({ agentId: agent.id })
  const { items } = await waitUntil(prompts, (page) => page.items[0]?.status === 'finished', 90_000)
  expect([items.length, ran()]).toEqual([1, 'begun\nended\n'])
  await api.queuePrompt({ agentId: agent.id, prompt: 'again' })
  await waitUntil(prompts, (page) => page.items.every(({ status }) => status === 'finished'), 60_000)
  expect(ran()).toBe('begun\nended\nbegun\nended\n')
  const lines = [/^cannot reach the database: .*; agents continue/, /^the database works again, after \d+ s$/]
  await expect.poll(() => warnings, { timeout: 60_000 }).toEqual(lines.map((line) => expect.stringMatching(line)))
}, 300_000)
