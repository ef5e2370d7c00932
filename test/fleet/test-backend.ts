import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBackend, type Backend, type BackendOptions } from '../../src/backend/open-backend.ts'
import { access, users } from '../../src/backend/database/user.ts'
import { agents } from '../../src/backend/database/agent.ts'
import { agentPrompts } from '../../src/backend/database/agent-prompt.ts'
import { machines } from '../../src/backend/database/machine.ts'
import { machineGrants } from '../../src/backend/database/machine-grant.ts'
import { questions } from '../../src/backend/database/question.ts'
import { sprints } from '../../src/backend/database/sprint.ts'
import { createAuthentication } from '../../src/backend/http/identity.ts'
import type { MachineGrantLevel } from '../../src/contract/fleet/machine-grant.ts'
import type { AccessLevel } from '../../src/contract/fleet/user.ts'
import { newUuid } from '../../src/platform/uuid.ts'
import { afterFile } from '../support/after-file.ts'
import { buildProgress } from '../support/builders.ts'
import { testPostgres } from '../support/postgres.ts'
import { createDataFolder, migrations, type Kind } from './test-fleet.ts'

/** A whole backend without machines. A process has one engine, so close a backend before you open the next one. */
export async function createTestBackend(kind: Kind, more: Partial<BackendOptions> = {}): Promise<Backend> {
  return openBackend({
    host: '127.0.0.1',
    port: 0,
    place:
      kind === 'embedded'
        ? { dataFolder: await createDataFolder() }
        : { url: await (await testPostgres()).makeDatabase() },
    migrations,
    page: createTestPage(),
    version: '1.2.3',
    userName: 'local',
    compiling: { readWorkflow: bundled },
    log: (level, text, about) => {
      if (level === 'warn' && process.env['LOUD']) console.log(text, about)
    },
    onLost: () => {},
    ...more,
  })
}

function bundled(name: string) {
  const file = join(migrations, '..', 'workflows', `${name}.yaml`)
  return existsSync(file) ? { file, text: readFileSync(file, 'utf8') } : undefined
}

function createTestPage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-page-'))
  afterFile(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Ralph</title>')
  writeFileSync(join(folder, 'assets', 'main.js'), 'export {}')
  return folder
}

export type Json = { readonly status: number; readonly body: Record<string, unknown>; readonly headers: Headers }

/** Calls the API with this cookie or token. */
export const createApiCaller =
  (origin: string, who: { readonly cookie?: string; readonly token?: string } = {}) =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Json> => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: {
        ...(method !== 'GET' && { 'content-type': 'application/json' }),
        ...(who.cookie !== undefined && { cookie: who.cookie }),
        ...(who.token !== undefined && { authorization: `Bearer ${who.token}` }),
        ...headers,
      },
      ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : { text }, headers: answer.headers }
  }

/** Signs a user in and returns the cookie. */
export async function createTestSession({ database }: Backend, userId: string): Promise<string> {
  return `ralph-session=${await createAuthentication(database, Date.now).createSession(userId, 'oidc')}`
}

export async function createTestUser({ database }: Backend, role: 'member' | 'admin' = 'member'): Promise<string> {
  const id = newUuid()
  await database.db.insert(users).values({ id, name: `user ${id.slice(-4)}`, role, createdAt: 1, subject: id })
  return id
}

export type TestRows = Readonly<Record<'agentId' | 'sprintId' | 'promptId' | 'questionId' | 'machineId', string>>

/** An agent with a sprint, an open question and a queued prompt, on a machine that is disconnected. */
export async function createTestRows({ database: { db } }: Backend): Promise<TestRows> {
  const ids = {
    agentId: newUuid(),
    sprintId: newUuid(),
    promptId: newUuid(),
    questionId: newUuid(),
    machineId: newUuid(),
  }
  const { agentId, sprintId, promptId, questionId, machineId } = ids
  const at = { createdAt: 1 }
  await db.insert(machines).values({ id: machineId, name: 'vm', status: 'active', ...at })
  const workspace = { kind: 'folder', path: '/srv/app' } as const
  const own = { id: agentId, name: 'api', machineId, workspace, program: 'claude', account: 'a', sprintId }
  await db.insert(agents).values({ ...own, state: 'idle', ...at })
  const progress = buildProgress({ status: 'needs-human' })
  const rev = { rev: progress.rev, status: progress.status, progress }
  await db.insert(sprints).values({ id: sprintId, agentId, protocol: 'report', ...rev, updatedAt: 1, ...at })
  await db
    .insert(agentPrompts)
    .values({ id: promptId, agentId, prompt: 'hello', status: 'queued', by: 'me', position: 1, ...at })
  const ask = { reason: 'Postgres or Redis?', details: '', askedAt: 1 }
  await db.insert(questions).values({ id: questionId, sprintId, agentId, status: 'open', ...ask })
  return ids
}

export const grantAccess = async ({ database }: Backend, agentId: string, userId: string, level: AccessLevel) => {
  await database.db.insert(access).values({ agentId, userId, level })
}

export const grantMachine = async (
  { database }: Backend,
  machineId: string,
  userId: string,
  level: MachineGrantLevel,
): Promise<void> => {
  await database.db.insert(machineGrants).values({ machineId, userId, level, createdAt: 1 })
}
