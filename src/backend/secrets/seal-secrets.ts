import { eq } from 'drizzle-orm'
import type { Database } from '../database/database.ts'
import { authorities } from '../database/machine.ts'
import type { SecretBox } from './secret-box.ts'
import { pushKeys } from '../database/push.ts'
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
  for (const { id, privateKey } of await db.select().from(pushKeys)) {
    if (box.isOpen(privateKey)) {
      await db
        .update(pushKeys)
        .set({ privateKey: box.seal(privateKey, 'push key') })
        .where(eq(pushKeys.id, id))
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
