import { createHash, createHmac } from 'node:crypto'
import { join, resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { ralphHome } from '../ralph-home.ts'
import { exists, readTextSyncIfExists, realPath } from './files.ts'

/** The folder with the state of all sprints of this user. */
export const stateRoot = (): string => join(realHome(), 'state')

/** The key that authenticates journals; one per user. */
export const stateKeyFile = (): string => join(realHome(), 'key')

/** Resolved once per process: every attempt asks several times, and resolving takes a call per folder of the path. */
const realHomes = new Map<string, string>()

function realHome(): string {
  const home = ralphHome(process)
  const known = realHomes.get(home)
  if (known !== undefined) return known
  if (!exists(home)) return resolve(home)
  const real = realPath(home)
  realHomes.set(home, real)
  return real
}

/** The file that maps a sprint folder to the id of its state. */
export const statePathFile = (sprintDir: string): string =>
  join(stateRoot(), 'by-path', createHash('sha256').update(realSprintPath(sprintDir)).digest('hex'))

/** An agent may delete the folder of its sprint. */
export const realSprintPath = (sprintDir: string): string =>
  exists(sprintDir) ? realPath(sprintDir) : resolve(sprintDir)

/** States that this process has bound: what an agent does to the files of `by-path` changes nothing until the process ends. */
const bound = new Map<string, string>()

const boundKey = (sprintDir: string): string => `${ralphHome(process)}\0${sprintDir}`

export const rememberState = (sprintDir: string, id: string): void => void bound.set(boundKey(sprintDir), id)

export const forgetState = (sprintDir: string): void => void bound.delete(boundKey(sprintDir))

/** The id of a sprint's state; undefined if it has none: it never ran, or an earlier version keeps its state in its own folder. */
export function stateId(sprintDir: string): string | undefined {
  return bound.get(boundKey(sprintDir)) ?? parseStateId(readTextSyncIfExists(statePathFile(sprintDir)))
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function parseStateId(text: string | undefined): string | undefined {
  const id = text?.trim() ?? ''
  return uuidPattern.test(id) ? id : undefined
}

/**
 * Where everything lies that Ralph believes about a sprint: out of its agent's reach. Without a state of its own (see
 * `stateId`), it is the sprint's folder; `bindState` runs before anything is believed.
 */
export function stateFolder(sprintDir: string): string {
  const id = stateId(sprintDir)
  return id === undefined ? sprintDir : join(stateRoot(), id)
}

/** The key for the records of a sprint's journal; undefined if the sprint has no state of its own. */
export function recordKey(sprintDir: string): Buffer | undefined {
  const id = stateId(sprintDir)
  return id === undefined ? undefined : deriveRecordKey(id)
}

/** Differs per sprint: a record of one journal is no record of another. */
export const deriveRecordKey = (id: string): Buffer => createHmac('sha256', readStateKey()).update(id).digest()

/** The key of the state root that this process used last: each journal record needs it. */
let cachedKey: { readonly file: string; readonly key: Buffer } | undefined

/** What this process has read of the key, to write it again if it was deleted. */
export const formatStateKey = (): string => `${readStateKey().toString('hex')}\n`

function readStateKey(): Buffer {
  const file = stateKeyFile()
  if (cachedKey?.file === file) return cachedKey.key
  const key = Buffer.from(readTextSyncIfExists(file)?.trim() ?? '', 'hex')
  if (key.length < 16) {
    throw new RalphError('JOURNAL_DAMAGED', 'the key that authenticates the journals is missing or incomplete', {
      place: { file },
      hint: 'restore the file from a backup; without it, Ralph believes no journal',
    })
  }
  cachedKey = { file, key }
  return key
}
