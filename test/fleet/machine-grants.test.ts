import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAgentsServer, type AgentsServer } from '../../src/agents-server/agents-server.ts'
import { machines } from '../../src/backend/database/machine.ts'
import type { Backend } from '../../src/backend/open-backend.ts'
import { listPathIds, buildPath, type Route } from '../../src/contract/fleet/route.ts'
import { routes } from '../../src/contract/fleet/routes.ts'
import { createTestBackend, createApiCaller, createTestRows, createTestSession } from './test-backend.ts'
import { createTestUser, grantAccess, grantMachine, type TestRows } from './test-backend.ts'
import { waitUntil } from './test-fleet.ts'

/** Whose machine it is, and whether the owner shares it. */
const ownerships = ['without an owner', 'not shared', 'shared', 'own'] as const
type Ownership = (typeof ownerships)[number]
const grants = ['none', 'run', 'command'] as const
const roles = ['member', 'admin'] as const

const machineRoutes = Object.entries<Route>(routes).filter(([, { machine }]) => machine !== undefined)

const isAllowed = (
  { machine }: Route,
  on: { readonly role: (typeof roles)[number]; readonly grant: (typeof grants)[number]; readonly ownership: Ownership },
): boolean => {
  if (on.ownership === 'own') return true
  if (machine === 'manage') return on.role === 'admin'
  return on.ownership !== 'not shared' && (on.role === 'admin' || on.grant !== 'none')
}

describe('a machine', () => {
  let backend: Backend
  beforeAll(async () => {
    backend = await createTestBackend('embedded')
  }, 120_000)
  afterAll(() => backend?.close())

  const own = async ({ machineId }: TestRows, ownership: Ownership, userId: string) => {
    if (ownership === 'without an owner') return
    const ownerId = ownership === 'own' ? userId : await createTestUser(backend)
    const fields = { ownerId, shared: ownership === 'shared' }
    await backend.database.db.update(machines).set(fields).where(eq(machines.id, machineId))
  }

  it.each(ownerships)(
    '%s is used by whom the grants allow, for every route that names a right on it',
    async (ownership) => {
      const got: Record<string, string> = {}
      const expected: Record<string, string> = {}
      for (const role of roles) {
        for (const grant of grants) {
          const userId = await createTestUser(backend, role)
          const ask = createApiCaller(backend.origin, { cookie: await createTestSession(backend, userId) })
          const rows = await createTestRows(backend)
          await grantAccess(backend, rows.agentId, userId, 'owner')
          if (grant !== 'none') await grantMachine(backend, rows.machineId, userId, grant)
          await own(rows, ownership, userId)
          for (const [name, route] of machineRoutes) {
            const ids = listPathIds(route.path).map((id) => [id, { ...rows, userId }[id] ?? ''])
            const { status } = await ask(route.method, buildPath(route.path, Object.fromEntries(ids)))
            const which = `${name}, ${role}, grant ${grant}`
            got[which] = status === 403 ? 'refused' : status >= 500 && status !== 503 ? 'failed' : 'allowed'
            expected[which] = isAllowed(route, { role, grant, ownership }) ? 'allowed' : 'refused'
          }
        }
      }
      expect(got).toEqual(expected)
    },
    120_000,
  )

  it('is granted by its owner and by admins, only if it is shared', async () => {
    const [owner, admin, friend] = [
      await createTestUser(backend),
      await createTestUser(backend, 'admin'),
      await createTestUser(backend),
    ]
    const rows = await createTestRows(backend)
    const by = async (userId: string) =>
      createApiCaller(backend.origin, { cookie: await createTestSession(backend, userId) })
    const grant = async (userId: string) =>
      (await by(userId))('PUT', `/api/machines/${rows.machineId}/grants/${friend}`, { level: 'run', roots: ['/srv'] })
    const share = (shared: boolean) =>
      backend.database.db.update(machines).set({ ownerId: owner, shared }).where(eq(machines.id, rows.machineId))
    await share(false)
    expect([(await grant(owner)).status, (await grant(admin)).status, (await grant(friend)).status]).toEqual([
      403, 403, 403,
    ])
    await share(true)
    const granted = await grant(owner)
    expect([granted.status, (await grant(admin)).status, (await grant(friend)).status]).toEqual([200, 200, 403])
    expect(granted.body).toMatchObject({ items: [{ userId: friend, level: 'run', roots: ['/srv'] }] })
    const dotted = { level: 'run', roots: ['/srv/../etc'] }
    const path = `/api/machines/${rows.machineId}/grants/${friend}`
    expect((await (await by(owner))('PUT', path, dotted)).status).toBe(422)
    expect((await (await by(owner))('PUT', path, { level: null })).body).toEqual({ items: [] })
  })
})

describe('a member of the fleet', () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-grants-')))
  const [alice, bob, state] = [join(home, 'alice'), join(home, 'bob'), join(home, '.ralph')]
  let backend: Backend
  let machine: AgentsServer
  let machineId: string
  beforeAll(async () => {
    for (const folder of [alice, bob, state]) mkdirSync(folder)
    writeFileSync(join(alice, 'secret'), 'secret-of-alice')
    symlinkSync(alice, join(bob, 'shortcut'))
    writeFileSync(join(state, 'machine.yaml'), 'programs: [scripted]\n')
    backend = await createTestBackend('embedded', { shareMachine: true })
    const local = await backend.localMachine('here')
    machineId = local.machineId
    const settings = { name: 'here', labels: [], roots: [home], slots: 4, notes: join(state, 'notes', '{agent}') }
    const paths = { home: join(state, 'backend', 'machine'), limitsHome: state }
    machine = await startAgentsServer({
      ...local,
      ...paths,
      env: process.env,
      version: '1.2.3',
      settings,
      log: () => {},
    })
    const ask = createApiCaller(backend.origin, { token: await backend.commandToken() })
    await waitUntil(
      async () => (await ask('GET', '/api/machines')).body,
      ({ items }) => JSON.stringify(items).includes('"reachable":true'),
    )
  }, 120_000)
  afterAll(async () => {
    await machine?.close()
    await backend?.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })

  const member = async (roots?: readonly string[]) => {
    const userId = await createTestUser(backend)
    const local = createApiCaller(backend.origin, { token: await backend.commandToken() })
    if (roots) await local('PUT', `/api/machines/${machineId}/grants/${userId}`, { level: 'run', roots })
    const ask = createApiCaller(backend.origin, { cookie: await createTestSession(backend, userId) })
    return async (program: string, path: string, named: object = { machineId }) => {
      const workspace = { kind: 'folder', path }
      const { status, body } = await ask('POST', '/api/agents', { name: 'a', ...named, program, workspace })
      return { status, state: body['state'], reason: body['reason'] ?? body['title'], id: String(body['id']), ask }
    }
  }

  it('without a grant creates no agent, on a named machine or on any', async () => {
    const create = await member()
    expect((await create('claude', bob)).status).toBe(403)
    expect((await create('scripted', bob, {})).reason).toContain('here is not granted to you')
  })

  it('runs no command of its own, also not by changing the program of an agent', async () => {
    const create = await member([bob])
    expect((await create('command:cat ~/.ralph/backend/serve.json', bob)).status).toBe(403)
    const { id, state: created, ask } = await create('scripted', bob)
    const changed = await ask('PATCH', `/api/agents/${id}`, { program: 'command:id' })
    const tried = await ask('POST', `/api/machines/${machineId}/preflight`, { program: 'command:id' })
    expect([created, changed.status, tried.status]).toEqual(['idle', 403, 403])
  })

  it("reads no other user's folder, also not through a link", async () => {
    const create = await member([bob])
    expect(await create('scripted', alice)).toMatchObject({ status: 403 })
    expect(await create('scripted', `${bob}/../alice`)).toMatchObject({ status: 403 })
    expect(await create('scripted', join(bob, 'shortcut'))).toMatchObject({
      status: 403,
      reason: expect.stringContaining('outside the folders granted to you'),
    })
  })

  it("gets no workspace in Ralph's own folder, nor does the owner", async () => {
    const create = await member([state])
    const refused = expect.stringContaining('belongs to Ralph itself')
    expect(await create('scripted', state)).toMatchObject({ status: 403, reason: refused })
    const local = createApiCaller(backend.origin, { token: await backend.commandToken() })
    const workspace = { kind: 'folder', path: state }
    const { body } = await local('POST', '/api/agents', { name: 'a', machineId, program: 'scripted', workspace })
    expect(body).toMatchObject({ code: 'WORKSPACE_REFUSED', title: refused })
  })

  it('starts no sprint that names a command of its own or leaves the cell', async () => {
    const { id, ask } = await (await member([bob]))('scripted', bob)
    const yaml = (fields: string) => ({ sprintYaml: `workflow: ralph\ngoal: g\n${fields}\n` })
    const planned = [
      'agent: "command:id"',
      'review: {agent: "command:id"}',
      'sandbox: off',
      'cell: none',
      'cell: {kind: auto, read: [/root]}',
      'network: open',
      'network: {private: ["localhost:5432"]}',
      'per-iteration-hooks: [{id: h, run: id, cell: none}]',
      'env: {pass: [GITHUB_TOKEN]}',
      'room: {network: true}',
      'done-when: [{run: id, install: id}]',
      'done-when: [{run: id, held-out: /root/.ssh}]',
    ].map((fields) => ask('POST', `/api/agents/${id}/sprints`, yaml(fields)))
    const modes = [{ program: 'command:id' }, { sandbox: 'off' }].map((fields) =>
      ask('POST', `/api/agents/${id}/ralph-mode/start`, { taskDescription: 't', ...fields }),
    )
    const answers = await Promise.all([...planned, ...modes])
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 14 }, () => 403))
    expect(answers.map(({ body }) => String(body['title']))).toContain(
      'you are not allowed to use "cell: none of the hook h" on this machine',
    )
  })

  it('is as powerless as the whole backend against the policy of the machine', async () => {
    const proof = join(home, 'proof')
    const owner = createApiCaller(backend.origin, { token: await backend.commandToken() })
    const program = `command:touch ${proof}`
    const workspace = { kind: 'folder', path: bob }
    const { id } = (await owner('POST', '/api/agents', { name: 'a', machineId, program, workspace })).body
    await owner('POST', `/api/agents/${String(id)}/prompts`, { prompt: 'hi' })
    const ended = await waitUntil(
      async () => JSON.stringify((await owner('GET', `/api/agents/${String(id)}/prompts`)).body),
      (text) => !/"status":"(queued|running)"/.test(text),
    )
    expect(ended).toContain('does not allow the program')
    expect(existsSync(proof)).toBe(false)
    const tried = await owner('POST', `/api/machines/${machineId}/preflight`, { program })
    expect(String(tried.body['title'])).toContain('does not allow the program')
  })
})
