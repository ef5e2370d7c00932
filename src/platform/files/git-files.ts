import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync, inflateSync } from 'node:zlib'
import {
  exists,
  existsItself,
  hasGroupWrite,
  isErrno,
  isFileItself,
  isFolder,
  isFolderItself,
  lstatSize,
  readPlainText,
  readTextSyncIfExists,
} from './files.ts'

// Objects and refs that git keeps as a file each, read and written without git: starting it takes longer than the work. Whatever has
// another form (packs, reftables, symbolic refs) is left to git.

/** `file`: the bytes of the file, compressed. */
export type LooseObject = { readonly id: string; readonly content: Buffer; readonly file: Buffer }

/** Larger objects are left to git. */
const maxBytes = 1024 ** 2

/** Undefined unless the object is in a file of its own, and its content is what its id says. */
export function readLooseObject(objects: string, id: string): LooseObject | undefined {
  const path = objectFile(objects, id)
  if (!isFileItself(path) || lstatSize(path) > maxBytes) return undefined
  try {
    const file = readFileSync(path)
    const whole = inflateSync(file, { maxOutputLength: maxBytes })
    return hash(whole, id.length) === id ? { id, content: whole.subarray(whole.indexOf(0) + 1), file } : undefined
  } catch {
    return undefined
  }
}

export type TreeEntry = { readonly isFolder: boolean; readonly id: string }

/** What a tree object contains, by name; ids have as many characters as that of the tree. Submodules are left out. */
export function parseTree({ content, id }: LooseObject): ReadonlyMap<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>()
  for (let at = 0; at < content.length;) {
    const end = content.indexOf(0, at)
    const next = end + 1 + id.length / 2
    const [mode = '', ...name] = content.toString('latin1', at, end).split(' ')
    const entry = { isFolder: mode === '40000', id: content.toString('hex', end + 1, next) }
    if (mode !== '160000') entries.set(name.join(' '), entry)
    at = next
  }
  return entries
}

/** `sameFormat`: an id of the same repository, which says how it computes ids. Resolves with the id of the commit. */
export function writeCommitObject(objects: string, text: string, sameFormat: string): string {
  const content = Buffer.from(text)
  const whole = Buffer.concat([Buffer.from(`commit ${content.length}\0`), content])
  const id = hash(whole, sameFormat.length)
  writeLooseObject(objects, { id, content, file: deflateSync(whole, { level: 1 }) })
  return id
}

/** Also if the object exists, so that a `git gc` does not take it for an old one. */
export function writeLooseObject(objects: string, { id, file }: LooseObject): void {
  const path = objectFile(objects, id)
  createFolderLike(dirname(path), objects)
  // A draft of a killed process has the name that `git gc` removes.
  replaceFile(join(dirname(path), `tmp_obj_${randomUUID()}`), path, file, 0o444)
}

export const objectFile = (objects: string, id: string): string => join(objects, id.slice(0, 2), id.slice(2))

/** The commit of a ref; undefined if there is none, or only git can tell. `git pack-refs` removes a file once its ref is packed. */
export function readRef(folder: string, ref: string): string | undefined {
  const path = join(folder, ref)
  const loose = readPlainText(path)
  if (loose !== undefined) return parseId(loose.trim())
  if (existsItself(path) && !isFolderItself(path)) return undefined
  const packed = readPackedRefs(folder)
  const end = packed.indexOf(` ${ref}\n`)
  return end === -1 ? undefined : parseId(packed.slice(packed.lastIndexOf('\n', end) + 1, end))
}

/** The commits of the refs with a prefix, by the rest of their name; undefined if only git can tell. */
export function readRefs(folder: string, refs: string): ReadonlyMap<string, string> | undefined {
  if (exists(join(folder, 'reftable'))) return undefined
  const found = new Map<string, string>()
  const names = isFolderItself(join(folder, refs)) ? readdirSync(join(folder, refs)) : []
  for (const name of names.filter((file) => !file.endsWith('.lock'))) {
    const commit = readRef(folder, `${refs}/${name}`)
    if (commit === undefined) return undefined
    found.set(name, commit)
  }
  for (const [, commit = '', ref = ''] of readPackedRefs(folder).matchAll(/^([0-9a-f]+) (.+)$/gm)) {
    const name = ref.slice(refs.length + 1)
    if (ref.startsWith(`${refs}/`) && !found.has(name)) found.set(name, commit)
  }
  return found
}

export const hasRef = (folder: string, ref: string): boolean =>
  existsItself(join(folder, ref)) || readPackedRefs(folder).includes(` ${ref}\n`)

const readPackedRefs = (folder: string): string => readTextSyncIfExists(join(folder, 'packed-refs')) ?? ''

const parseId = (text: string | undefined): string | undefined =>
  text !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : undefined

/** A commit, or undefined to delete the ref. */
export type RefChanges = Readonly<Record<string, string | undefined>>

/** Sets refs with the locks of git. False: git has to do it, and says why it cannot. */
export function writeRefs(folder: string, commits: RefChanges): boolean {
  const changes = Object.entries(commits).filter(([ref, commit]) => commit !== undefined || hasRef(folder, ref))
  const isPlain = ([ref, commit]: (typeof changes)[number]) =>
    commit !== undefined && /^refs(?:\/[\w@-]+)+$/.test(ref) && exists(objectFile(join(folder, 'objects'), commit))
  if (exists(join(folder, 'reftable')) || !changes.every(isPlain)) return false
  try {
    for (const [ref, commit] of changes) {
      const path = join(folder, ref)
      createFolderLike(dirname(path), join(folder, 'refs'))
      replaceFile(`${path}.lock`, path, `${commit}\n`, 0o666)
    }
    return true
  } catch {
    return false
  }
}

/** With the permissions of the folder above: a repository may belong to a group. */
function createFolderLike(path: string, top: string): void {
  if (path === top || isFolder(path)) return
  createFolderLike(dirname(path), top)
  mkdirSync(path)
  if (hasGroupWrite(top)) chmodSync(path, statSync(top).mode & 0o7777)
}

function replaceFile(draft: string, path: string, content: string | Buffer, mode: number): void {
  try {
    writeFileSync(draft, content, { flag: 'wx', mode })
    const created = statSync(draft).mode & 0o777
    if (hasGroupWrite(dirname(path))) chmodSync(draft, created | ((created & 0o600) >> 3))
    renameSync(draft, path)
  } catch (error) {
    // It may be the lock of another process.
    if (!isErrno(error, 'EEXIST')) rmSync(draft, { force: true })
    throw error
  }
}

const hash = (bytes: Buffer, characters: number): string =>
  createHash(characters === 40 ? 'sha1' : 'sha256')
    .update(bytes)
    .digest('hex')
