import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import {
  hasRef,
  objectFile,
  parseTree,
  readLooseObject,
  readRef,
  readRefs,
  writeCommitObject,
  writeLooseObject,
  writeRefs,
} from './git-files.ts'

function createRepository(format = 'sha1') {
  const cwd = createTestFolder()
  const run = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=U', '-c', 'user.email=u@x', ...args], { cwd, encoding: 'utf8' }).trim()
  run('init', '--quiet', '--bare', `--object-format=${format}`)
  writeFileSync(join(cwd, 'text'), 'text\n')
  const blob = run('hash-object', '-w', 'text')
  const tree = execFileSync('git', ['mktree'], { cwd, encoding: 'utf8', input: `100644 blob ${blob}\ta b\n` }).trim()
  const commit = run('commit-tree', tree, '-m', 'one')
  return { cwd, run, blob, tree, commit, objects: join(cwd, 'objects') }
}

it.each(['sha1', 'sha256'])('writes commits that git accepts, and reads its trees: %s', (format) => {
  const { cwd, run, blob, tree, objects } = createRepository(format)
  const who = 'U <u@x> 1 +0000'
  const id = writeCommitObject(objects, `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\ntwo ü\n`, tree)
  expect(writeRefs(cwd, { 'refs/heads/main': id })).toBe(true)
  expect(run('log', '--format=%s %T', 'refs/heads/main')).toBe(`two ü ${tree}`)
  run('fsck', '--strict')

  const read = readLooseObject(objects, tree)
  expect(read && [...parseTree(read)]).toEqual([['a b', { isFolder: false, id: blob }]])
})

it('refuses an object whose content is not what its id says, and one that is in a pack', () => {
  const { run, blob, objects } = createRepository()
  expect(readLooseObject(objects, blob)?.content.toString()).toBe('text\n')
  chmodSync(objectFile(objects, blob), 0o644)
  writeFileSync(objectFile(objects, blob), deflateSync(Buffer.from('blob 5\0evil\n')))
  expect(readLooseObject(objects, blob)).toBeUndefined()
  writeFileSync(objectFile(objects, blob), 'no zlib')
  expect(readLooseObject(objects, blob)).toBeUndefined()

  run('update-ref', 'refs/heads/main', run('commit-tree', run('mktree'), '-m', 'packed'))
  run('repack', '-adq')
  expect(readLooseObject(objects, run('rev-parse', 'refs/heads/main'))).toBeUndefined()
})

it('reads refs, loose and packed, and leaves to git what has another form', () => {
  const { cwd, run, commit } = createRepository()
  run('update-ref', 'refs/ralph/s/1', commit)
  run('pack-refs', '--all')
  run('update-ref', 'refs/ralph/s/2', commit)
  expect(readRef(cwd, 'refs/ralph/s/1')).toBe(commit)
  expect(readRef(cwd, 'refs/ralph/s/3')).toBeUndefined()
  expect(readRefs(cwd, 'refs/ralph/s')).toEqual(new Map(['2', '1'].map((name) => [name, commit])))
  expect([hasRef(cwd, 'refs/ralph/s/1'), hasRef(cwd, 'refs/ralph/s/3')]).toEqual([true, false])

  run('symbolic-ref', 'refs/ralph/s/1', 'refs/ralph/s/2')
  expect([readRef(cwd, 'refs/ralph/s/1'), readRefs(cwd, 'refs/ralph/s')]).toEqual([undefined, undefined])
})

it('sets a ref in place of a link that an agent put there, and follows none', () => {
  const { cwd, commit } = createRepository()
  writeFileSync(join(cwd, 'secret'), 'untouched')
  mkdirSync(join(cwd, 'refs/ralph'))
  symlinkSync('../../secret', join(cwd, 'refs/ralph/1'))
  expect(writeRefs(cwd, { 'refs/ralph/1': commit })).toBe(true)
  expect([readRef(cwd, 'refs/ralph/1'), readFileSync(join(cwd, 'secret'), 'utf8')]).toEqual([commit, 'untouched'])
})

it.each([
  ['a commit that is not there', { 'refs/ralph/1': '1'.repeat(40) }],
  ['a name that leads elsewhere', { 'refs/ralph/../../x': undefined, 'refs/../x': 'commit' }],
  ['a ref to delete', { 'refs/ralph/old': undefined }],
  ['the lock of another process', { 'refs/ralph/locked': 'commit' }],
  ['a folder in its place', { refs: 'commit' }],
])('changes nothing, so that git does it: %s', (_, changes) => {
  const { cwd, run, commit } = createRepository()
  run('update-ref', 'refs/ralph/old', commit)
  writeFileSync(join(cwd, 'refs/ralph/locked.lock'), 'other')
  const named = Object.entries(changes).map(([ref, id]) => [ref, id === 'commit' ? commit : id])
  expect(writeRefs(cwd, Object.fromEntries(named))).toBe(false)
  expect(readdirSync(join(cwd, 'refs/ralph'))).toEqual(['locked.lock', 'old'])
  expect(readFileSync(join(cwd, 'refs/ralph/locked.lock'), 'utf8')).toBe('other')
})

it('leaves refs to git where they are in a table', () => {
  const { cwd, commit } = createRepository()
  mkdirSync(join(cwd, 'reftable'))
  expect([writeRefs(cwd, { 'refs/ralph/1': commit }), readRefs(cwd, 'refs/ralph')]).toEqual([false, undefined])
})

it('gives files and folders to the group of a repository that a group shares', () => {
  const { cwd, blob, commit, objects } = createRepository()
  chmodSync(join(cwd, 'refs'), 0o2775)
  const object = readLooseObject(objects, blob)
  const other = createTestFolder()
  chmodSync(other, 0o2775)
  if (object) writeLooseObject(other, object)
  const file = objectFile(other, blob)
  expect([dirname(file), file].map((path) => (statSync(path).mode & 0o7777).toString(8))).toEqual(['2775', '444'])
  writeRefs(cwd, { 'refs/ralph/1': commit })
  const ref = join(cwd, 'refs/ralph/1')
  expect([dirname(ref), ref].map((path) => (statSync(path).mode & 0o7777).toString(8))).toEqual(['2775', '664'])
})
