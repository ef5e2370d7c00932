import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { RunningBackend } from '../../src/cli/serve/running-backend.ts'
import { createClient } from '../../src/client/client.ts'
import { testPostgres } from '../support/postgres.ts'
import { createDataFolder, type Kind } from './test-fleet.ts'
import { findFreePort } from '../support/free-port.ts'
import { createRalphProcess, type Environment } from './ralph-process.ts'
import { timeoutOptions } from './real-machines.ts'

export type ServedFleet = Awaited<ReturnType<typeof createServedFleet>>
export type ServedMachine = Awaited<ReturnType<ServedFleet['machine']>>

type MachineLocation = {
  /** The port on which it reaches the backend. */
  readonly through?: number
  /** Puts the machine's folder elsewhere. */
  readonly within?: (home: string) => Promise<{ readonly prefix: readonly string[] }>
  /** The ralph that it runs, and the command that installs another one in its place. */
  readonly installed?: { readonly program: string; readonly update: string }
}

/**
 * `ralph serve` in its own process, which can be killed and restarts on the same ports; machines join it with a token.
 */
export async function createServedFleet(folder: string, kind: Kind, extraEnv: Environment = {}) {
  const data = await createDataFolder()
  const DATABASE_URL = kind === 'postgres' ? await (await testPostgres()).makeDatabase() : undefined
  const home = join(folder, 'backend')
  mkdirSync(home, { recursive: true })
  const env = { ...process.env, RALPH_HOME: home, HOME: home, DATABASE_URL, ...extraEnv }
  const program = createRalphProcess(env, { log: join(folder, 'backend.log') })
  const [port, machinePort] = [await findFreePort(), await findFreePort()]
  const machines = ['--machines-port', `${machinePort}`, '--machines-host', '127.0.0.1', '--no-machine']
  const start = () => program.start('serve', '--port', `${port}`, '--data', data, ...machines, '--json')
  const file = join(data, 'serve.json')
  const served = () => RunningBackend.parse(JSON.parse(readFileSync(file, 'utf8')))
  start()
  await expect.poll(() => existsSync(file), timeoutOptions).toBe(true)
  /** Every start creates another token. */
  const api = () => createClient({ baseUrl: served().origin, token: served().token })
  return {
    backend: { start, kill: program.kill, restart: () => program.kill().then(start) },
    served,
    api,
    machinePort,
    /** A joined agents-server in its own process. */
    machine: async (name: string, { through = machinePort, within, installed }: MachineLocation = {}) => {
      const own = join(folder, name)
      mkdirSync(own)
      const { prefix = [] } = (await within?.(own)) ?? {}
      const machine = createRalphProcess(
        { ...process.env, RALPH_HOME: join(own, '.ralph'), HOME: own },
        { log: join(folder, `${name}.log`), prefix, ...(installed && { program: installed.program }) },
      )
      const { token } = await api().makeJoinToken({ name })
      const update = installed ? ['--update', installed.update] : []
      const where = ['--backend', `127.0.0.1:${through}`, '--roots', folder, '--name', name, ...update, '--json']
      const { machineId }: { machineId: string } = JSON.parse(
        await machine.run('agents-server', 'join', token, ...where),
      )
      const begin = () => machine.start('agents-server', '--json')
      begin()
      const row = async () => (await api().listMachines({})).items.find(({ id }) => id === machineId)
      await expect.poll(async () => (await row())?.reachable, timeoutOptions).toBe(true)
      const { kill, exitCode } = machine
      return { id: machineId, row, start: begin, kill, exitCode, restart: () => kill().then(begin) }
    },
  }
}
