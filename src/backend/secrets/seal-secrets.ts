import { eq } from 'drizzle-orm'
import type { Database } from '../database/database.ts'
import { authorities } from '../database/machine.ts'
import type { SecretBox } from './secret-box.ts'
import { webhooks } from '../database/webhook.ts'

/** Encrypts what was stored before there was a key. Replicas may do it at the same time: both results open. */
export async function sealStoredSecrets({ db }: Database, box: SecretBox): Promise<void> {
  for (const { id, key } of await db.select().from(authorities)) {
    if (box.isOpen(key)) {
      await db
        .update(authorities)
        .set({ key: box.seal(key, 'authority key') })
        .where(eq(authorities.id, id))
    }
  }
  for (const { id, secret } of await db.select().from(webhooks)) {
    if (box.isOpen(secret)) {
      await db
        .update(webhooks)
        .set({ secret: box.seal(secret, 'webhook secret') })
        .where(eq(webhooks.id, id))
    }
  }
}
