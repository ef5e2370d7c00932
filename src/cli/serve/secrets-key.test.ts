import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readSecretsKey } from './secrets-key.ts'

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-key-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

it('is made once for the embedded database, readable only by its user', async () => {
  const dataFolder = createFolder()
  const settings = { dataFolder, place: { dataFolder } }
  const first = await readSecretsKey(settings, { env: {}, cwd: '/' })
  expect(first?.trim()).toMatch(/^[\w-]{64}$/)
  expect(await readSecretsKey(settings, { env: {}, cwd: '/' })).toBe(first)
  expect(statSync(join(dataFolder, 'secrets.key')).mode & 0o777).toBe(0o600)
})

it('comes from a variable or a file for a database server, and is never made up for it', async () => {
  const cwd = createFolder()
  writeFileSync(join(cwd, 'key'), 'of the file')
  const settings = { dataFolder: cwd, place: { url: 'postgres://x' } }
  const read = (env: Record<string, string>) => readSecretsKey(settings, { env, cwd })
  expect(await read({})).toBe(undefined)
  expect(await read({ RALPH_SECRETS_KEY: 'of the variable' })).toBe('of the variable')
  expect(await read({ RALPH_SECRETS_KEY_FILE: 'key' })).toBe('of the file')
  await expect(read({ RALPH_SECRETS_KEY_FILE: 'gone' })).rejects.toMatchObject({ code: 'SECRETS_KEY_WRONG' })
})
