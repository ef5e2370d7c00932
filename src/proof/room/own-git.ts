import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { serialize } from '../../platform/async.ts'
import { exists, createPrivateFolder, removeFile } from '../../platform/files/files.ts'
import { plumb, type Plumbing } from '../../platform/git-plumbing.ts'
import { writeText } from '../../platform/files/text-files.ts'

/** What a tree holds at a path. */
export type TreeEntry = { readonly mode: string; readonly id: string }

/** One path that differs between two trees. */
export type TreeChange = {
  readonly path: string
  readonly before?: TreeEntry | undefined
  readonly after?: TreeEntry | undefined
}

/** An edit of a tree: without an entry the path is removed. */
export type TreeEdit = { readonly path: string; readonly entry?: TreeEntry | undefined }

/**
 * Ralph's private git folder of a sprint. It holds every object it needs itself: objects in the project's folder can be
 * forged, and git does not compute hashes again when it reads, so the two never share anything.
 */
export type OwnGit = {
  readonly folder: string
  readonly objects: string
  readonly run: (options: Omit<Plumbing, 'gitDir'>, ...args: readonly string[]) => Promise<Buffer>
  readonly has: (object: string) => Promise<boolean>
  /** All paths of a tree. */
  readonly list: (tree: string) => Promise<ReadonlyMap<string, TreeEntry>>
  readonly compare: (before: string, after: string) => Promise<readonly TreeChange[]>
  /** A tree with some paths replaced or removed, made in an index and never through files: a link cannot lead it astray. */
  readonly edit: (tree: string, edits: readonly TreeEdit[]) => Promise<string>
  /** Contents in the order of the ids, with their hashes computed again. */
  readonly readBlobs: (ids: readonly string[]) => Promise<readonly Buffer[]>
  readonly writeBlob: (content: string) => Promise<string>
  /** The same tree always becomes the same commit. */
  readonly commit: (tree: string) => Promise<string>
}

/** Overrides every `.gitattributes`: git stores and writes files byte by byte. */
const attributes = '* -text !eol -filter -ident -working-tree-encoding -crlf\n'

/** Opens or creates the git folder. One process uses it at a time, so existing locks belong to a dead process. */
export async function openOwnGit(folder: string): Promise<OwnGit> {
  await createPrivateFolder(folder)
  if (!exists(join(folder, 'HEAD'))) await plumb({ gitDir: folder }, 'init', '-q', '--bare', '--template=', folder)
  await plumb({ gitDir: folder }, 'config', 'core.bare', 'false')
  await writeText(join(folder, 'info', 'attributes'), attributes)
  const run: OwnGit['run'] = (options, ...args) => plumb({ ...options, gitDir: folder }, ...args)
  // All edits share one index.
  const oneByOne = serialize()
  const edit = (tree: string, edits: readonly TreeEdit[]) => oneByOne(() => editTree(run, folder, tree, edits))
  return {
    folder,
    objects: join(folder, 'objects'),
    run,
    has: (object) =>
      run({}, 'cat-file', '-e', object).then(
        () => true,
        () => false,
      ),
    list: async (tree) => parseTree(await run({}, 'ls-tree', '-r', '-z', '--full-tree', tree)),
    compare: async (before, after) =>
      parseChanges(await run({}, 'diff-tree', '-r', '-z', '--raw', '--no-renames', before, after)),
    edit: (tree, edits) => (edits.length === 0 ? Promise.resolve(tree) : edit(tree, edits)),
    readBlobs: (ids) => readBlobs(run, ids),
    writeBlob: async (content) =>
      (await run({ input: content }, 'hash-object', '-w', '--no-filters', '--stdin')).toString().trim(),
    commit: async (tree) => (await run({ input: 'Before the check\n' }, 'commit-tree', tree)).toString().trim(),
  }
}

type Run = OwnGit['run']

async function editTree(run: Run, folder: string, tree: string, edits: readonly TreeEdit[]): Promise<string> {
  const index = join(folder, 'compose.idx')
  await removeFile(`${index}.lock`)
  await run({ index }, 'read-tree', '--reset', tree)
  // Removals first: a new path may be below a removed one, or the reverse.
  const ordered = [...edits.filter(({ entry }) => !entry), ...edits.filter(({ entry }) => entry)]
  const lines = ordered.map(({ path, entry }) => `${entry?.mode ?? '0'} ${entry?.id ?? noObject}\t${path}\0`)
  await run({ index, input: lines.join('') }, 'update-index', '-z', '--index-info')
  return (await run({ index }, 'write-tree')).toString().trim()
}

const noObject = '0'.repeat(40)

function parseTree(output: Buffer): Map<string, TreeEntry> {
  const found = new Map<string, TreeEntry>()
  for (const line of output.toString().split('\0')) {
    const [, mode, id, path] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? []
    if (mode !== undefined && id !== undefined && path !== undefined) found.set(path, { mode, id })
  }
  return found
}

/** `:<mode> <mode> <id> <id> <letter>`, NUL, path, NUL. */
function parseChanges(output: Buffer): TreeChange[] {
  const parts = output.toString().split('\0')
  const changes: TreeChange[] = []
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [oldMode = '', newMode = '', oldId = '', newId = ''] = (parts[at] ?? '').slice(1).split(' ')
    const entry = (mode: string, id: string) => (id === noObject ? undefined : { mode, id })
    changes.push({ path: parts[at + 1] ?? '', before: entry(oldMode, oldId), after: entry(newMode, newId) })
  }
  return changes
}

const perCall = 500

async function readBlobs(run: Run, ids: readonly string[]): Promise<Buffer[]> {
  const blobs: Buffer[] = []
  for (let first = 0; first < ids.length; first += perCall) {
    const part = ids.slice(first, first + perCall)
    const output = await run({ input: `${part.join('\n')}\n` }, 'cat-file', '--batch')
    blobs.push(...parseBlobs(output, part))
  }
  return blobs
}

/** `<id> blob <size>`, LF, content, LF, for each. */
function parseBlobs(output: Buffer, ids: readonly string[]): Buffer[] {
  let at = 0
  return ids.map((id) => {
    const end = output.indexOf(0x0a, at)
    const [found, type, size] = output.toString('latin1', at, end).split(' ')
    if (found !== id || type !== 'blob') throw damaged(id, `${type ?? 'nothing'} instead of a file`)
    const content = output.subarray(end + 1, end + 1 + Number(size))
    at = end + 1 + content.length + 1
    if (hashBlob(content) !== id) throw damaged(id, 'its content has another hash')
    return content
  })
}

export const hashBlob = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')

const damaged = (id: string, reason: string): RalphError =>
  new RalphError('BASELINE_DAMAGED', `the stored file ${id.slice(0, 12)} was changed: ${reason}`, {
    hint: 'a program changed the files under Ralph’s state folder; start the sprint again',
  })
