import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync, chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { createProject, createSprint, git, put } from '../../../test/support/room.ts'
import { hashBlob, type OwnGit } from '../room/own-git.ts'
import { plainEnclosure } from '../room/plain.ts'
import { openBaseline, verifyBaseline } from './baseline.ts'

const noRoom = () => Promise.resolve(plainEnclosure('not used'))

async function texts(own: OwnGit, tree: string): Promise<Record<string, string>> {
  const files = [...(await own.list(tree))]
  const blobs = await own.readBlobs(files.map(([, { id }]) => id))
  return Object.fromEntries(files.map(([path], n) => [path, blobs[n]?.toString() ?? '']))
}

it('lays old tests on new code, new on new, and new tests on old code', async () => {
  const project = createProject({
    'package.json': '{"scripts":{"test":"t"}}',
    'add.js': 'old code',
    'test/a.test.js': 'old test',
    'test/gone.test.js': 'gone',
    'test/fixtures/f.json': 'old fixture',
  })
  const { own, claim } = await createSprint(project, noRoom)
  rmSync(join(project, 'test/gone.test.js'))
  put(project, {
    'add.js': 'new code',
    'package.json': '{"scripts":{"test":"exit 0"},"dependencies":{"x":"1"}}',
    'test/a.test.js': 'new test',
    'test/b.test.js': 'added test',
    '.npmrc': 'script-shell=/bin/true',
    GNUmakefile: 'test:\n',
  })
  const trees = await claim()

  const frozenPackage = `${JSON.stringify({ scripts: { test: 't' }, dependencies: { x: '1' } }, null, 2)}\n`
  expect(await texts(own, trees.oldOnNew)).toEqual({
    'add.js': 'new code',
    'package.json': frozenPackage,
    'test/a.test.js': 'old test',
    'test/gone.test.js': 'gone',
    'test/fixtures/f.json': 'old fixture',
  })
  expect(await texts(own, trees.newOnNew)).toEqual({
    'add.js': 'new code',
    'package.json': frozenPackage,
    'test/a.test.js': 'new test',
    'test/b.test.js': 'added test',
    'test/fixtures/f.json': 'old fixture',
  })
  expect(await texts(own, await trees.newOnOld())).toEqual({
    'add.js': 'old code',
    'package.json': frozenPackage,
    'test/a.test.js': 'new test',
    'test/b.test.js': 'added test',
    'test/fixtures/f.json': 'old fixture',
  })
  expect(trees.frozenChanges.map(({ path, kind, change }) => [path, kind, change])).toEqual([
    ['.npmrc', 'setting', 'added'],
    ['GNUmakefile', 'setting', 'added'],
    ['package.json', 'keys', 'changed'],
    ['test/a.test.js', 'test', 'changed'],
    ['test/b.test.js', 'test', 'added'],
    ['test/gone.test.js', 'test', 'deleted'],
  ])
  expect(await trees.frozenChanges[3]?.readDiff()).toContain('-old test\n\\ No newline at end of file\n+new test')
  expect(trees.dependenciesChanged).toBe(true)
})

it('is one tree where no frozen file differs, and says when nothing differs at all', async () => {
  const project = createProject({ 'add.js': 'old', 'package.json': '{}' })
  const { baseline, claim } = await createSprint(project, noRoom)
  const nothing = await claim()
  expect([nothing.isChanged, nothing.newOnNew]).toEqual([false, baseline.tree])
  put(project, { 'add.js': 'new', 'x.pyc': 'ignored' })
  const { oldOnNew, newOnNew, frozenChanges } = await claim()
  expect([oldOnNew === newOnNew, frozenChanges]).toEqual([true, []])
})

it('makes a real folder where the agent put a link, and writes nothing through it', async () => {
  const project = createProject({ 'test/a.test.js': 'old test', 'package.json': '{}' })
  const { own, claim, run } = await createSprint(project, noRoom)
  const outside = createTestFolder()
  rmSync(join(project, 'test'), { recursive: true })
  put(project, { test: { link: outside } })
  git(project, 'add', '-A')
  const { oldOnNew } = await claim()

  expect(await texts(own, oldOnNew)).toEqual({ 'package.json': '{}', 'test/a.test.js': 'old test' })
  expect((await run(oldOnNew, 'cat test/a.test.js')).output).toBe('old test')
  expect(readdirSync(outside)).toEqual([])
})

it('takes no manifest that became a link', async () => {
  const project = createProject({ 'package.json': '{"scripts":{"test":"t"}}' })
  const { own, claim } = await createSprint(project, noRoom)
  rmSync(join(project, 'package.json'))
  put(project, { 'package.json': { link: '/tmp/evil.json' }, 'sub/package.json': { link: '/tmp/evil.json' } })
  const { newOnNew } = await claim()
  expect(await texts(own, newOnNew)).toEqual({ 'package.json': '{"scripts":{"test":"t"}}' })
})

it('leaves out modules that hide one of the runner, but not one that was there', async () => {
  const project = createProject({ 'setup.py': '', 'queue.py': 'ours', 'app.py': '' })
  const { own, claim } = await createSprint(project, noRoom)
  put(project, { 'pytest/__init__.py': 'cheat', 'random.py': 'cheat', 'queue.py': 'changed', 'app.py': 'new' })
  const { newOnNew, shadows } = await claim()
  expect(shadows).toEqual(['pytest/__init__.py', 'random.py'])
  expect(await texts(own, newOnNew)).toEqual({ 'setup.py': '', 'queue.py': 'changed', 'app.py': 'new' })
})

it('gives old tests no new manifest beside them, and no new file that would be loaded in place of another', async () => {
  const project = createProject({
    'test_a.py': 'old test',
    'calc/sums.py': 'wrong',
    'lib/sum.js': 'wrong',
    'lib/split.js': 'old',
  })
  const { own, claim } = await createSprint(project, noRoom)
  put(project, {
    'pyproject.toml': '[project]\nname = "calc"\n\n[tool.pytest.ini_options]\naddopts = "-p evil"\n',
    'calc/sums/__init__.py': 'right',
    'lib/sum.mjs': 'right',
    'lib/split.js': "import './split/index.js'",
    'lib/split/index.js': 'new',
  })
  const { oldOnNew, newOnNew } = await claim()
  const [old, now] = [await texts(own, oldOnNew), await texts(own, newOnNew)]
  expect(Object.keys(now).filter((path) => !(path in old))).toEqual(['calc/sums/__init__.py', 'lib/sum.mjs'])
  expect([old['pyproject.toml'], now['pyproject.toml']]).toEqual([
    expect.not.stringContaining('evil'),
    expect.stringContaining('evil'),
  ])
})

it('takes vendored packages from the claim where it requires others, and no others', async () => {
  const start = {
    'go.mod': 'module m\n\nrequire (\n\ta.org/a v1.0.0\n\tb.org/b v1.0.0 // indirect\n)\n',
    'vendor/modules.txt': 'old',
    'vendor/a.org/a/a.go': 'old',
    'vendor/b.org/b/b.go': 'old',
    'rs/Cargo.toml': '[package]\nname = "x"\n',
    'rs/Cargo.lock': 'old',
    'rs/vendor/c/lib.rs': 'old',
    'rs/vendor/c/Cargo.toml': '[package]\nname = "c"\nmetadata = 1\n',
    'rs/vendor/c/build.rs': 'old',
    'rs/vendor/c/tests/t.rs': 'old',
  }
  const { 'go.mod': mod, 'rs/Cargo.lock': lock, ...vendored } = start
  const now = Object.fromEntries(Object.keys(vendored).map((path) => [path, path.includes('vendor') ? 'new' : '']))
  const project = createProject(start)
  const { own, claim } = await createSprint(project, noRoom)
  const listNew = async () => {
    const found = Object.entries(await texts(own, (await claim()).oldOnNew))
    return found.flatMap(([path, text]) => (text === 'new' ? [path] : []))
  }
  put(project, { ...now, 'rs/Cargo.toml': start['rs/Cargo.toml'], 'go.mod': mod.replace(' // indirect', '') })
  expect(await listNew()).toEqual([])
  put(project, { 'go.mod': mod.replace('a v1.0.0', 'a v1.1.0'), 'rs/Cargo.lock': `${lock}er` })
  expect(await listNew()).toEqual([
    'rs/vendor/c/Cargo.toml',
    'rs/vendor/c/build.rs',
    'rs/vendor/c/lib.rs',
    'rs/vendor/c/tests/t.rs',
    'vendor/a.org/a/a.go',
    'vendor/modules.txt',
  ])
})

it('leads a pattern of exports to the new folder once no file of the old one is left', async () => {
  const pack = (folder: string) => `{"exports":{"./*":"./${folder}/*.js"}}`
  const project = createProject({ 'package.json': pack('src'), 'src/sum.js': 'old' })
  const { own, claim } = await createSprint(project, noRoom)
  put(project, { 'package.json': pack('lib'), 'lib/sum.js': 'old' })
  const readManifest = async () => (await texts(own, (await claim()).oldOnNew))['package.json'] ?? ''
  expect(JSON.parse(await readManifest())).toEqual({ exports: { './*': './src/*.js' } })
  rmSync(join(project, 'src'), { recursive: true })
  expect(await readManifest()).toBe(pack('lib'))
})

it('releases what may change', async () => {
  const project = createProject({ 'package.json': '{}', 'test/a.test.js': 'old', 'vitest.config.ts': 'old' })
  const { own, claim } = await createSprint(project, noRoom, { mayChange: ['test/**', 'vitest.config.*'] })
  put(project, { 'test/a.test.js': 'new', 'vitest.config.ts': 'new' })
  const { oldOnNew, frozenChanges } = await claim()
  expect([await texts(own, oldOnNew), frozenChanges]).toEqual([
    { 'package.json': '{}', 'test/a.test.js': 'new', 'vitest.config.ts': 'new' },
    [],
  ])
})

it('freezes the scripts that a check runs, also through other scripts, and not the sources that they name', async () => {
  const project = createProject({
    'package.json': '{"scripts":{"test":"npm run all","all":"node scripts/run.js src/main.js"}}',
    'scripts/run.js': "import './helper.js'; spawn('./ci/deep.sh')",
    'ci/deep.sh': 'x',
    'src/main.js': 'old',
    Makefile: 'check:\n\t./verify.sh src/main.js\n',
    'verify.sh': 'x',
    'other.sh': 'x',
  })
  const { baseline } = await createSprint(project, noRoom, { commands: ['npm test', 'make check'] })
  expect(baseline.rules.scripts?.toSorted()).toEqual(['ci/deep.sh', 'scripts/run.js', 'verify.sh'])
})

it('does not see what is done to the project’s objects, replacements and index', async () => {
  const project = createProject({ 'test/a.test.js': 'a strict test', 'package.json': '{}' })
  const { own, claim, baseline } = await createSprint(project, noRoom)
  const id = git(project, 'rev-parse', 'HEAD:test/a.test.js')
  const weak = git(project, 'hash-object', '-w', '/dev/null')
  git(project, 'replace', id, weak)
  forge(join(project, '.git'), id, 'a weak test')
  git(project, 'update-index', '--assume-unchanged', 'test/a.test.js')
  put(project, { 'test/a.test.js': 'agent' })
  const { oldOnNew, newOnNew } = await claim()

  expect((await texts(own, oldOnNew))['test/a.test.js']).toBe('a strict test')
  expect((await texts(own, newOnNew))['test/a.test.js']).toBe('agent')
  const again = await openBaseline(own, baseline.tree, { frozen: [], mayChange: [], commands: [] })
  expect(again.paths).toEqual(baseline.paths)
})

it('notices that a stored test was replaced by other bytes', async () => {
  const project = createProject({ 'test/a.test.js': 'a strict test', 'package.json': '{}' })
  const { own, baseline } = await createSprint(project, noRoom)
  await verifyBaseline(own, baseline)

  const packs = join(own.folder, 'objects', 'pack')
  const aside = createTestFolder()
  for (const name of existsSync(packs) ? readdirSync(packs) : []) renameSync(join(packs, name), join(aside, name))
  for (const name of readdirSync(aside).filter((file) => file.endsWith('.pack')))
    await own.run({ input: readFileSync(join(aside, name)) }, 'unpack-objects', '-q')
  forge(own.folder, hashBlob(Buffer.from('a strict test')), 'a weak test')
  await expect(verifyBaseline(own, baseline)).rejects.toMatchObject({ code: 'BASELINE_DAMAGED' })
})

/** Other bytes under the name of an object: git reads them without a word. */
function forge(gitDir: string, id: string, content: string): void {
  const file = join(gitDir, 'objects', id.slice(0, 2), id.slice(2))
  chmodSync(file, 0o644)
  writeFileSync(file, deflateSync(Buffer.from(`blob ${content.length}\0${content}`)))
}
