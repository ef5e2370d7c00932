import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readRunningBackend } from '../../src/cli/serve/running-backend.ts'
import { createTestFolder } from '../support/folder.ts'
import { testPostgres } from '../support/postgres.ts'
import { createRalphProcess } from './ralph-process.ts'
import { timeoutOptions } from './real-machines.ts'

const keys = { RALPH_SECRETS_KEY: 'the key of this fleet, more than 32 characters' }

/** `ralph serve` on a database that others use too. */
function createReplica(folder: string, DATABASE_URL: string, env: Readonly<Record<string, string>> = keys) {
  mkdirSync(folder, { recursive: true })
  const log = join(folder, 'serve.log')
  const ralph = createRalphProcess({ ...process.env, RALPH_HOME: folder, HOME: folder, DATABASE_URL, ...env }, { log })
  const token = () => readRunningBackend(join(folder, 'backend'))?.token ?? ''
  return {
    ...ralph,
    token,
    log: () => readFileSync(log, 'utf8'),
    /** Resolves once it has left another token than this one. */
    start: async (before = '') => {
      ralph.start('serve', '--port', '0', '--no-machine')
      await expect.poll(() => token() !== before && token() !== '', timeoutOptions).toBe(true)
    },
    lists: () => ralph.run('machine', 'list').then(() => 'works'),
  }
}

it('lets the commands on the host of each backend work, and after an upgrade on one host too', async () => {
  const folder = createTestFolder()
  const url = await (await testPostgres()).makeDatabase()
  const first = createReplica(join(folder, 'first'), url)
  mkdirSync(join(folder, 'first/backend'))
  writeFileSync(join(folder, 'first/backend/serve.json'), '{ "cut off')
  await first.start()
  const second = createReplica(join(folder, 'second'), url)
  await second.start()
  expect([await first.lists(), await second.lists()]).toEqual(['works', 'works'])

  // The newer version starts beside the old one, which stops then: on the same folder.
  const newer = createReplica(join(folder, 'first'), url)
  await newer.start(first.token())
  first.signal('SIGTERM')
  await expect.poll(first.exitCode, timeoutOptions).toBe(0)
  expect([await newer.lists(), await second.lists()]).toEqual(['works', 'works'])
  newer.signal('SIGTERM')
  await expect.poll(newer.exitCode, timeoutOptions).toBe(0)
  await expect(newer.lists()).rejects.toThrow('BACKEND_NOT_FOUND')
}, 240_000)

it('refuses a second backend with another key, or without one, in one line, and the first one works on', async () => {
  const folder = createTestFolder()
  const url = await (await testPostgres()).makeDatabase()
  const first = createReplica(join(folder, 'first'), url)
  await first.start()
  const refuse = async (name: string, env: Readonly<Record<string, string>>) => {
    const other = createReplica(join(folder, name), url, env)
    await expect(other.run('serve', '--port', '0', '--no-machine')).rejects.toThrow(
      /^error SECRETS_KEY_WRONG {2}the authority key in the database .*RALPH_SECRETS_KEY_FILE[^\n]*\n$/,
    )
  }
  await refuse('other', { RALPH_SECRETS_KEY: 'another key that has more than 32 characters' })
  await refuse('keyless', {})
  expect(await first.lists()).toBe('works')
  expect(first.log()).not.toMatch(/warning|error/)
}, 240_000)
