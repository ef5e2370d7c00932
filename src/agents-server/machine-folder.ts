import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import type { Credentials } from '../connection/authority.ts'
import { RalphError } from '../contract/errors.ts'
import { writeFileAtomic } from '../platform/files/atomic-file.ts'
import { lockFile } from '../platform/files/file-lock.ts'
import { createPrivateFolder, readTextIfExists } from '../platform/files/files.ts'
import { writePrivateFile } from '../platform/files/private-file.ts'

/** The identity of this machine and of its backend. Only the owner can read the file. */
const MachineIdentity = z.object({
  machineId: z.uuid(),
  backend: z.object({ host: z.string(), port: z.int() }),
  key: z.string(),
  certificate: z.string(),
  authorities: z.string(),
  settings: z.object({
    name: z.string(),
    labels: z.array(z.string()),
    roots: z.array(z.string()),
    slots: z.int().min(1),
    notes: z.string(),
    update: z.string().optional(),
    shared: z.boolean().optional(),
  }),
})
export type MachineIdentity = z.output<typeof MachineIdentity>

export type OwnedFolder = { readonly bootEpoch: number; readonly bootId: string; readonly release: () => void }

const machineFolder = (home: string): string => join(home, 'machine')
const identityFile = (home: string): string => join(machineFolder(home), 'identity.json')

/** One agents-server per data folder; every start gets a higher number than all before. */
export async function lockMachineFolder(home: string): Promise<OwnedFolder> {
  const folder = machineFolder(home)
  await createPrivateFolder(folder)
  const taken = lockFile(join(folder, 'lock'), `agents-server, process ${process.pid}`)
  if ('owner' in taken) {
    throw new RalphError('DATA_FOLDER_IN_USE', `another agents-server uses this data folder: ${taken.owner}`, {
      place: { file: folder },
      hint: 'stop it, or set RALPH_HOME to use another data folder',
    })
  }
  const before = Number((await readTextIfExists(join(folder, 'boot'))) ?? 0)
  const bootEpoch = (Number.isSafeInteger(before) ? before : 0) + 1
  await writeFileAtomic(join(folder, 'boot'), `${bootEpoch}\n`)
  return { bootEpoch, bootId: randomUUID(), release: taken.lock.release }
}

export async function readIdentity(home: string): Promise<MachineIdentity | undefined> {
  const text = await readTextIfExists(identityFile(home))
  if (text === undefined) return undefined
  const parsed = MachineIdentity.safeParse(JSON.parse(text))
  if (parsed.success) return parsed.data
  throw new RalphError('FILE_UNREADABLE', 'the identity of this machine cannot be read', {
    place: { file: identityFile(home) },
    hint: 'join again: ralph agents-server join <token>',
  })
}

export async function saveIdentity(home: string, identity: MachineIdentity): Promise<void> {
  await createPrivateFolder(machineFolder(home))
  await writePrivateFile(identityFile(home), `${JSON.stringify(identity, undefined, 2)}\n`)
}

export const toCredentials = ({ certificate, key }: MachineIdentity): Credentials => ({ certificate, key })
