import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eq } from 'drizzle-orm'
import { agents } from '../../src/backend/database/agent.ts'
import { agentPrompts } from '../../src/backend/database/agent-prompt.ts'
import type { Database } from '../../src/backend/database/database.ts'
import { machines } from '../../src/backend/database/machine.ts'
import { openDatabase } from '../../src/backend/database/open-database.ts'
import { sprints } from '../../src/backend/database/sprint.ts'
import { openEngine } from '../../src/backend/engine/open-engine.ts'
import { openFleet, type OpenFleet } from '../../src/backend/open-fleet.ts'
import type { Fleet } from '../../src/backend/fleet/fleet.ts'
import type { Notice } from '../../src/backend/fleet/notice.ts'
import { simulatedMachine, simulatedMachines, type Script } from '../support/simulated-machine.ts'
import { afterFile } from '../support/after-file.ts'
import { testPostgres } from '../support/postgres.ts'

export const migrations = fileURLToPath(new URL('../../assets/migrations', import.meta.url))
const workflows = fileURLToPath(new URL('../../assets/workflows', import.meta.url))

export const kinds = ['embedded', 'postgres'] as const
export type Kind = (typeof kinds)[number]

/** A new database of this kind for the tests of this file. */
export async function createTestDatabase(kind: Kind): Promise<Database> {
  const place =
    kind === 'embedded'
      ? { dataFolder: await createDataFolder() }
      : { url: await (await testPostgres()).makeDatabase() }
  const database = await openDatabase(place, { migrations })
  afterFile(() => database.close())
  return database
}

/** A copy of a prepared database, because creating one takes Postgres some seconds. */
export async function createDataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-data-'))
  afterFile(() => rm(folder, { recursive: true, force: true }))
  const hash = createHash('sha256')
  for (const name of readdirSync(migrations).toSorted()) hash.update(readFileSync(join(migrations, name)))
  const template = join(tmpdir(), `ralph-data-template-ready-${hash.digest('hex').slice(0, 16)}`)
  if (!existsSync(template)) {
    const made = await mkdtemp(join(tmpdir(), 'ralph-data-template-'))
    const database = await openDatabase({ dataFolder: made }, { migrations })
    // The ninety migrations of the engine take longer than ours. A process has one engine, so it is not in the copy.
    const engine = await openEngine(database, { handlers: {}, onLost: () => {} }).catch(() => undefined)
    await engine?.close()
    await database.close()
    await rename(made, template).catch(() => rm(made, { recursive: true, force: true }))
  }
  await cp(template, folder, { recursive: true })
  return folder
}

export type TestFleet = {
  readonly fleet: OpenFleet
  readonly notices: Notice[]
  readonly errors: string[]
  /** Moves the clock forward. */
  readonly advanceClock: (ms: number) => void
}

/** A fleet on that database, with its engine; one per process at a time. */
export async function createTestFleet(database: Database, script: Script = {}): Promise<TestFleet> {
  const notices: Notice[] = []
  const troubles: string[] = []
  let ahead = 0
  const clock = { now: () => Date.now() + ahead }
  const fleet = await openFleet({
    database,
    clock,
    machines: simulatedMachines({ database, clock }, script),
    notifier: { notify: async (_tx, notice) => void notices.push(notice), deliver: async () => {} },
    newId: randomUUID,
    compiling: {
      readWorkflow: (name) => {
        const file = join(workflows, `${name}.yaml`)
        return existsSync(file) ? { file, text: readFileSync(file, 'utf8') } : undefined
      },
    },
    logError: (error, doing) => troubles.push(`${doing}: ${String(error)}`),
    onLost: (reason) => troubles.push(reason),
    settings: { sweepMs: 200 },
  })
  return { fleet, notices, errors: troubles, advanceClock: (ms) => (ahead += ms) }
}

type AgentOverrides = Partial<typeof agents.$inferInsert>
type MachineOverrides = Partial<typeof machines.$inferInsert>

/** A connected machine with an idle agent. */
export async function createTestAgent(
  fleet: Fleet,
  script: Script = {},
  overrides: AgentOverrides & { readonly machine?: MachineOverrides } = {},
) {
  const machineId = overrides.machineId ?? randomUUID()
  const createdAt = Date.now()
  const machine = {
    id: machineId,
    name: 'a machine',
    status: 'active' as const,
    slots: 4,
    createdAt,
    ...overrides.machine,
  }
  await fleet.database.db.insert(machines).values(machine).onConflictDoNothing()
  const { machine: _machine, ...fields } = overrides
  const agent = await createAnotherTestAgent(fleet, machineId, fields)
  const simulated = simulatedMachine(fleet, machineId, script)
  await simulated.connect()
  return { ...agent, machine: simulated }
}

export async function createAnotherTestAgent(fleet: Fleet, machineId: string, overrides: AgentOverrides = {}) {
  const id = randomUUID()
  const agent = { id, name: 'an agent', program: 'claude', account: `account-${id}`, state: 'idle' as const }
  const workspace = { kind: 'folder' as const, path: '/project' }
  await fleet.database.db.insert(agents).values({ ...agent, workspace, createdAt: Date.now(), ...overrides, machineId })
  return {
    id,
    row: async () => (await fleet.database.db.select().from(agents).where(eq(agents.id, id)))[0],
    prompts: () =>
      fleet.database.db.select().from(agentPrompts).where(eq(agentPrompts.agentId, id)).orderBy(agentPrompts.createdAt),
    sprints: () => fleet.database.db.select().from(sprints).where(eq(sprints.agentId, id)),
  }
}

/** Polls until the condition is true; the error shows the last value. */
export async function waitUntil<T>(
  read: () => Promise<T>,
  isDone: (value: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const value = await read()
    if (isDone(value)) return value
    if (Date.now() > deadline) throw new Error(`timed out: ${JSON.stringify(value)?.slice(0, 2000)}`)
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}
