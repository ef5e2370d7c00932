import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { BackendOptions } from '../../src/backend/open-backend.ts'
import { createTestFolder } from '../support/folder.ts'
import { createTestBackend } from './test-backend.ts'
import type { Kind } from './test-fleet.ts'
import { createRalphProcess, type Environment } from './ralph-process.ts'

export const timeoutOptions = { timeout: 90_000, interval: 100 }

/** A backend that machines reach over TLS, and a root folder for all their workspaces. */
export async function createRealFleet(kind: Kind, settings: BackendOptions['settings'] = {}) {
  const folder = createTestFolder()
  const backend = await createTestBackend(kind, { settings, machines: { host: '127.0.0.1', port: 0 } })
  onTestFinished(() => backend.close(), 60_000)
  const api = createClient({ baseUrl: backend.origin, token: await backend.commandToken() })
  return {
    folder,
    api,
    backend,
    /** A joined machine in its own process. */
    machine: async (name: string, env: Environment = {}) => {
      const home = join(folder, name)
      mkdirSync(home)
      const machine = createRalphProcess({ ...process.env, HOME: home, RALPH_HOME: join(home, '.ralph'), ...env })
      const [, , , token = ''] = (await backend.joinCommand(name)).split(' ')
      const where = ['--backend', `127.0.0.1:${backend.machinePort}`, '--roots', folder]
      await machine.run('agents-server', 'join', token, ...where)
      const start = async () => {
        machine.start('agents-server', '--json')
        await expect.poll(isReachable, timeoutOptions).toBe(true)
      }
      const row = async () => (await api.listMachines({})).items.find((one) => one.name === name)
      const isReachable = async () => (await row())?.reachable ?? false
      await start()
      return { id: (await row())?.id ?? '', home, row, start, kill: machine.kill }
    },
  }
}
