import { expect, it } from 'vitest'
import { sql } from 'drizzle-orm'
import { webhooks as webhookRows } from '../../src/backend/database/webhook.ts'
import type { Backend } from '../../src/backend/open-backend.ts'
import { createSecretBox } from '../../src/backend/secrets/secret-box.ts'
import { createApiCaller, createTestBackend } from './test-backend.ts'
import { createDataFolder } from './test-fleet.ts'

const key = 'a key of more than 32 characters, kept elsewhere'

const readSecrets = async ({ database: { db } }: Backend): Promise<string> => {
  const [authorities, webhooks] = [
    await db.execute(sql`select key from authority`),
    await db.execute(sql`select secret from webhook`),
  ]
  return JSON.stringify([authorities.rows, webhooks.rows])
}

/** Opens a backend on the same data, and closes it again. */
async function withBackend<T>(
  dataFolder: string,
  secretsKey: string | undefined,
  use: (backend: Backend) => Promise<T>,
) {
  const backend = await createTestBackend('embedded', { place: { dataFolder }, secretsKey })
  try {
    return await use(backend)
  } finally {
    await backend.close()
  }
}

it(
  'encrypts the authority key and webhook secrets, also those from before there was a key',
  { timeout: 120_000 },
  async () => {
    const dataFolder = await createDataFolder()
    const made = await withBackend(dataFolder, undefined, async (backend) => {
      const ask = createApiCaller(backend.origin, { token: await backend.commandToken() })
      const { body } = await ask('POST', '/api/webhooks', { url: 'https://example.com/', events: ['failed'] })
      expect(await readSecrets(backend)).toContain('BEGIN PRIVATE KEY')
      return { secret: String(body['secret']), join: await backend.joinCommand('vm') }
    })
    const rejoin = await withBackend(dataFolder, key, async (backend) => {
      const stored = await readSecrets(backend)
      expect(stored.match(/sealed1\./g)).toHaveLength(2)
      expect(stored).not.toMatch(/PRIVATE KEY|whsec_/)
      expect(stored).not.toContain(made.secret)
      // As a replica without the key that still runs stores it.
      await backend.database.db.execute(sql`update webhook set secret = 'whsec_plain'`)
      return backend.joinCommand('vm')
    })
    // The same authority: a machine that joined before still trusts the backend.
    const pin = (command: string) => /ralph1\.([^.]+)\./.exec(command)?.[1]
    expect(pin(rejoin)).toBe(pin(made.join))
    for (const wrong of [undefined, 'another key of more than 32 characters, sadly']) {
      await expect(withBackend(dataFolder, wrong, async () => {})).rejects.toMatchObject({ code: 'SECRETS_KEY_WRONG' })
    }
    // A backend with a wrong key must not seal anything with it: the others could no longer open it.
    await withBackend(dataFolder, key, async (backend) => {
      const [row] = await backend.database.db.select().from(webhookRows)
      expect(createSecretBox(key).open(row?.secret ?? '', 'webhook secret')).toBe('whsec_plain')
    })
  },
)
