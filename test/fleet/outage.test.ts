import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startAgentsServer } from '../../src/agents-server/agents-server.ts'
import { openDatabase } from '../../src/backend/database/open-database.ts'
import { createClient } from '../../src/client/client.ts'
import { canMount, createSmallDisk, type SmallDisk } from '../chaos/small-disk.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { createTestBackend, createApiCaller } from './test-backend.ts'
import { migrations, waitUntil } from './test-fleet.ts'

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
  const { api, ask, agentId, ran, letEnd, warnings } = await createBusyAgent(postgres)

  await postgres.crash()
  const refused = await ask('GET', '/api/agents')
  expect([refused.status, refused.headers.get('content-type')]).toEqual([503, 'application/problem+json'])
  expect(refused.body).toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
  expect((await ask('POST', `/api/agents/${agentId}/prompts`, { prompt: 'x' })).status).toBe(503)
  expect([(await ask('GET', '/readyz')).status, (await ask('GET', '/healthz')).status]).toEqual([503, 200])
  await letEnd()
  await new Promise((resolve) => setTimeout(resolve, outageMs))
  await postgres.restart()

  await waitUntil(
    () => ask('GET', '/readyz'),
    ({ status }) => status === 200,
    60_000,
  )
  const prompts = () => api.listPrompts({ agentId })
  const { items } = await waitUntil(prompts, (page) => page.items[0]?.status === 'finished', 90_000)
  expect([items.length, ran()]).toEqual([1, 'begun\nended\n'])
  await api.queuePrompt({ agentId, prompt: 'again' })
  await waitUntil(prompts, (page) => page.items.every(({ status }) => status === 'finished'), 60_000)
  expect(ran()).toBe('begun\nended\nbegun\nended\n')
  const lines = [/^cannot reach the database: .*; agents continue/, /^the database works again, after \d+ s$/]
  await expect.poll(() => warnings, { timeout: 60_000 }).toEqual(lines.map((line) => expect.stringMatching(line)))
}, 300_000)

it.skipIf(!canMount)(
  'refuses prompts while the disk of the database is full, and loses none that it accepted',
  async () => {
    let disk: SmallDisk | undefined
    const within = async (data: string) => (disk = await createSmallDisk(data, 'size=160m'))
    const postgres = await startPostgres({ within })
    const empty = await postgres.makeDatabase()
    const { api, ask, agentId, ran, letEnd, warnings } = await createBusyAgent(postgres)

    disk?.fill(500_000)
    // Filling blocks this process, and idle connections time out.
    await new Promise((resolve) => setTimeout(resolve, 100))
    // Random, or Postgres would compress it into the space that is left in its pages.
    const createPrompt = () => ({ prompt: randomBytes(40_000).toString('base64') })
    const queue = () => ask('POST', `/api/agents/${agentId}/prompts`, createPrompt())
    const accepted: unknown[] = []
    let answer = await queue()
    for (; answer.status === 201; answer = await queue()) accepted.push(answer.body['id'])
    expect([accepted.length > 0, answer.status]).toEqual([true, 503])
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(answer.body).toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
    expect((await ask('GET', '/api/agents')).status).toBe(200)
    await letEnd()
    await expect(openDatabase({ url: empty }, { migrations })).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/^the disk of the database is full: /),
      hint: 'free space on the server',
    })
    disk?.free()

    const statuses = async () => (await api.listPrompts({ agentId })).items.map(({ id, status }) => [id, status])
    await expect.poll(statuses, { timeout: 90_000 }).toEqual(expect.arrayContaining([[expect.any(String), 'finished']]))
    await expect
      .poll(async () => (await statuses()).every(([, status]) => status === 'finished'), { timeout: 90_000 })
      .toBe(true)
    // The newest is the first one.
    const ids = (await statuses()).map(([id]) => id).toReversed()
    expect(ids.slice(1)).toEqual(accepted)
    expect(ran()).toBe('begun\nended\n'.repeat(1 + accepted.length))
    const lines = [/^the disk of the database is full: .*; agents continue.*free space/, /^the database works again/]
    await expect.poll(() => warnings, { timeout: 60_000 }).toEqual(lines.map((line) => expect.stringMatching(line)))
  },
  300_000,
)

/** A backend on this server, and an agent in the middle of its first prompt. */
async function createBusyAgent(postgres: TestPostgres) {
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
  const hasRun = (text: string) =>
    waitUntil(
      async () => ran(),
      (found) => found.startsWith(text),
      60_000,
    )
  await hasRun('begun\n')
  const letEnd = async () => {
    writeFileSync(join(folder, 'go'), '')
    await hasRun('begun\nended\n')
  }
  const ask = createApiCaller(backend.origin, { token })
  return { api, ask, agentId: agent.id, ran, letEnd, warnings }
}
