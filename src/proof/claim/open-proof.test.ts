import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { createProject, enclosures, git, put, type Files } from '../../../test/support/room.ts'
import { openProof, type ProofOptions } from './open-proof.ts'
import type { Enclosure } from '../room/enclosure.ts'

/** A server that answers every request with the text, and its address. */
async function serve(text: string): Promise<string> {
  const server = createServer((_, response) => response.end(text))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`
}

type Open = (folder: string) => Promise<Enclosure>

async function createProof(project: string, open: Open, more: Partial<ProofOptions> = {}) {
  const state = createTestFolder()
  const options = {
    state,
    project,
    exclude: ['.claude/sprints'],
    rules: { frozen: [], mayChange: [], commands: ['npm test'] },
    env: process.env,
    hidden: [],
    enclosure: await open(join(state, 'room')),
    ...more,
  }
  const proof = await openProof(options)
  onTestFinished(() => proof.room.close())
  await proof.room.fill(proof.baseline.tree)
  return { ...proof, state, options }
}

/** Runs a check on both trees of the claim, as at a claim; the packages are the recorded ones or there are none. */
async function judge({ claim, dependencies, room }: Awaited<ReturnType<typeof createProof>>, command: string) {
  const made = await claim()
  const plan = await dependencies(made, { timeoutMs: 60_000 })
  const mounts = plan.kind === 'dependencies-changed' ? [] : plan.mounts
  const job = { command, timeoutMs: 60_000, dependencies: mounts }
  const old = await room.run({ ...job, tree: made.oldOnNew })
  const now = await room.run({ ...job, tree: made.newOnNew })
  return { codes: [old.exitCode, now.exitCode], plan, made, output: old.output + now.output }
}

const red: Files = {
  'package.json': '{"scripts":{"test":"node --test"}}',
  'add.js': 'exports.add = (a, b) => a - b\n',
  'test/add.test.js':
    "require('node:test')('adds', () => require('node:assert').equal(require('../add.js').add(1, 2), 3))\n",
  '.gitignore': 'node_modules\n',
}

describe.each(enclosures)('with %s, an agent', (_, open) => {
  it('that does the work is green on both trees', async () => {
    const project = createProject(red)
    const proof = await createProof(project, open)
    put(project, { 'add.js': 'exports.add = (a, b) => a + b\n' })
    const { codes, made } = await judge(proof, 'npm test')
    expect([codes, made.oldOnNew === made.newOnNew]).toEqual([[0, 0], true])
  })

  it.each<readonly [string, Files, readonly number[]]>([
    ['empties the test', { 'test/add.test.js': '' }, [1, 0]],
    ['sets another shell in .npmrc', { '.npmrc': 'script-shell=/bin/true\n' }, [1, 1]],
    [
      'loads code into node by .npmrc',
      { '.npmrc': 'node-options=--require ./x.cjs\n', 'x.cjs': 'process.exit(0)' },
      [1, 1],
    ],
    ['changes the script', { 'package.json': '{"scripts":{"test":"exit 0"}}' }, [1, 1]],
    ['plants a shim beside the packages', { 'node_modules/.bin/node': { program: '#!/bin/sh\nexit 0\n' } }, [1, 1]],
    [
      'adds node_modules to the tree',
      { '.gitignore': '', 'node_modules/.bin/node': { program: '#!/bin/sh\nexit 0\n' } },
      [1, 1],
    ],
  ])('that %s is red', async (__, files, codes) => {
    const project = createProject(red)
    const proof = await createProof(project, open)
    put(project, files)
    git(project, 'add', '-A', '-f')
    expect((await judge(proof, 'npm test')).codes).toEqual(codes)
  })

  it.each<readonly [string, Files]>([
    ['GNUmakefile', { GNUmakefile: 'test:\n\ttrue\n' }],
    ['the script that it calls', { 'scripts/check.sh': 'exit 0\n' }],
    ['an included file', { 'rules.mk': 'CHECK = true\n' }],
  ])('that plants %s is red with make', async (__, files) => {
    const makefile = '-include rules.mk\nCHECK ?= sh scripts/check.sh\ntest:\n\t$(CHECK)\n'
    const project = createProject({
      Makefile: makefile,
      'scripts/check.sh': 'grep -q right src.txt\n',
      'src.txt': 'wrong',
    })
    const proof = await createProof(project, open, { rules: { frozen: [], mayChange: [], commands: ['make test'] } })
    put(project, files)
    const { codes } = await judge(proof, 'make test')
    put(project, { 'src.txt': 'right' })
    const honest = await judge(proof, 'make test')
    expect([...codes, ...honest.codes]).toEqual(has('make') ? [2, 2, 0, 0] : [127, 127, 127, 127])
  })

  it.each<readonly [string, Files]>([
    ['conftest.py', { 'conftest.py': 'import os; os._exit(0)\n' }],
    ['sitecustomize.py', { 'sitecustomize.py': 'import os; os._exit(0)\n' }],
    ['a local unittest', { 'unittest/__init__.py': '', 'unittest/__main__.py': '' }],
    ['a module of the standard library', { 'argparse.py': 'import os; os._exit(0)\n' }],
  ])('that plants %s is red with Python', async (__, files) => {
    const project = createProject(python)
    const proof = await createProof(project, open)
    put(project, files)
    const { codes, output } = await judge(proof, 'PYTHONPATH=. python3 -m unittest test_add')
    expect({ codes, output: output.includes('FAILED') }).toEqual(
      has('python3') ? { codes: [1, 1], output: true } : { codes: [127, 127], output: false },
    )
  })

  it('that commits a compiled file which Python would trust is red', async () => {
    const project = createProject(python)
    const proof = await createProof(project, open)
    if (has('python3')) {
      put(project, { 'add.py': 'def add(a, b): return a + b\n' })
      const compile =
        "import py_compile as p; p.compile('add.py', invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)"
      execFileSync('python3', ['-c', compile], {
        cwd: project,
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      })
      put(project, { 'add.py': 'def add(a, b): return a - b\n' })
    }
    git(project, 'add', '-A', '-f')
    const { codes } = await judge(proof, 'python3 -m unittest test_add')
    const isPlanted = existsSync(join(project, '__pycache__'))
    expect([isPlanted, codes]).toEqual(has('python3') ? [true, [1, 1]] : [false, [127, 127]])
  })
})

const python: Files = {
  'add.py': 'def add(a, b): return a - b\n',
  'test_add.py':
    'import unittest, add\nclass T(unittest.TestCase):\n    def test_add(self): self.assertEqual(add.add(1, 2), 3)\n',
}

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

describe('installed packages', () => {
  const [, open] = enclosures[0] ?? ['', () => Promise.reject(new Error('none'))]
  const packages: Files = {
    'package.json': '{"dependencies":{"x":"1"}}',
    'package-lock.json': '{"lockfileVersion":3}',
    '.gitignore': 'node_modules\n',
    'node_modules/x/index.js': "module.exports = 'original'",
  }
  const use = `node -e "console.log(require('x'))"`

  it('are those of the project as they were at the start, whatever tools keep in them', async () => {
    const project = createProject(packages)
    const proof = await createProof(project, open)
    put(project, { 'node_modules/.vite/results.json': '{}', 'node_modules/.cache/a': 'a' })
    const { plan, output } = await judge(proof, use)
    expect([plan.kind, output]).toEqual(['recorded', 'original\noriginal\n'])
  })

  it.each<readonly [string, (project: string) => void, string]>([
    ['changed', (project) => put(project, { 'node_modules/x/index.js': 'evil' }), 'node_modules/x/index.js'],
    ['added', (project) => put(project, { 'node_modules/y/index.js': 'evil' }), 'node_modules/y'],
    [
      'changed in mode',
      (project) => chmodSync(join(project, 'node_modules/x/index.js'), 0o755),
      'node_modules/x/index.js',
    ],
    ['deleted', (project) => rmSync(join(project, 'node_modules/x/index.js')), 'node_modules/x/index.js'],
    ['replaced as a whole', swapFolder, 'node_modules'],
  ])('that were %s are installed again, or named in a question', async (__, change, path) => {
    const project = createProject(packages)
    const proof = await createProof(project, open)
    change(project)
    const plan = await proof.dependencies(await proof.claim(), {
      install: 'echo cannot reach it; exit 1',
      timeoutMs: 9000,
    })
    const [paths, reason] =
      plan.kind === 'dependencies-changed' ? [plan.changed.map((each) => each.path), plan.reason] : [[], plan.kind]
    expect(paths).toContain(path)
    expect(reason).toBe('echo cannot reach it; exit 1 failed: cannot reach it')
  })

  it('are installed from the lockfile where no file of the agent is, once for each lockfile', async () => {
    const project = createProject(packages)
    const proof = await createProof(project, open)
    put(project, { 'package-lock.json': '{"lockfileVersion":3,"packages":{}}', 'agent.js': 'x', '.npmrc': 'evil' })
    const made = await proof.claim()
    const install = `ls -A > seen && mkdir -p node_modules/x && echo "module.exports = 'fresh'" > node_modules/x/index.js; date +%N > node_modules/made`
    const plan = await proof.dependencies(made, { install, timeoutMs: 9000 })
    expect(plan.kind).toBe('installed')
    const job = { timeoutMs: 9000, dependencies: plan.mounts }
    const run = (command: string) => proof.room.run({ ...job, tree: made.newOnNew, command })
    expect((await run(use)).output).toBe('fresh\n')

    const [folder = ''] = readdirSync(join(proof.state, 'packages')).filter((name) => !name.includes('.'))
    const cached = join(proof.state, 'packages', folder)
    expect(execFileSync('cat', [join(cached, 'seen')], { encoding: 'utf8' })).toBe(
      'package-lock.json\npackage.json\nseen\n',
    )
    const made1 = (await run('cat node_modules/made')).output
    await proof.dependencies(made, { install, timeoutMs: 9000 })
    expect((await run('cat node_modules/made')).output).toBe(made1)

    put(cached, { 'node_modules/x/index.js': 'changed behind our back' })
    await proof.dependencies(made, { install, timeoutMs: 9000 })
    expect((await run(use)).output).toBe('fresh\n')
  })

  it('reach the registry of the start at an install, and no host that the agent names', async () => {
    const [registry, other] = [await serve('from the registry'), await serve('from elsewhere')]
    const project = createProject({ ...packages, '.npmrc': `registry=${registry}\n` })
    const proof = await createProof(project, open)
    put(project, { 'package-lock.json': `{"packages":{},"resolved": "${other}"}`, '.npmrc': `registry=${other}\n` })
    const made = await proof.claim()
    const isOpen = proof.room.kind === 'plain'
    const fetchAll = `node -e "Promise.all(['${registry}', '${other}'].map((url) => fetch(url).then((r) => r.text(), () => 'refused'))).then((texts) => console.log(texts.join()))"`
    const reach = async (isNetworkOpen: boolean) => {
      const install = `${fetchAll}; exit ${isNetworkOpen ? 1 : 2}`
      const plan = await proof.dependencies(made, { install, timeoutMs: 9000, isNetworkOpen })
      return plan.kind === 'dependencies-changed' ? plan.reason.split(' failed: ')[1] : plan.kind
    }
    expect([await reach(false), await reach(true)]).toEqual([
      `from the registry,${isOpen ? 'from elsewhere' : 'refused'}`,
      'from the registry,from elsewhere',
    ])
  })

  it('from an unusual place are a question', async () => {
    const project = createProject(packages)
    const proof = await createProof(project, open)
    put(project, { 'package.json': '{"dependencies":{"x":"1"},"devDependencies":{"mocha":"npm:evil@1"}}' })
    const plan = await proof.dependencies(await proof.claim(), { timeoutMs: 9000 })
    expect(plan).toMatchObject({
      kind: 'dependencies-changed',
      reason: 'packages from an unusual place: mocha@npm:evil@1',
    })
  })

  const workspace: Files = {
    'package.json': '{"workspaces":["packages/*"]}',
    '.gitignore': 'node_modules\n',
    'packages/texts/package.json': '{"name":"texts","main":"main.js"}',
    'packages/texts/main.js': "module.exports = 'texts'",
    'node_modules/texts': { link: '../packages/texts' },
    'node_modules/x/index.js': "module.exports = 'original'",
    'node_modules/.bin/x': { link: '../x/index.js' },
  }
  const dates: Files = {
    'packages/dates/package.json': '{"name":"dates","main":"main.js"}',
    'packages/dates/main.js': "module.exports = 'dates'",
  }

  it.each<readonly [string, Files, string, string]>([
    ['new', { ...dates, 'node_modules/dates': { link: '../packages/dates' } }, 'dates', 'dates'],
    [
      'new, with a program of its own',
      {
        ...dates,
        'node_modules/dates': { link: '../packages/dates' },
        'node_modules/.bin/some-dates': { link: '../dates/main.js' },
      },
      'dates',
      'dates',
    ],
    [
      'moved',
      {
        'libs/texts/package.json': '{"name":"texts","main":"main.js"}',
        'libs/texts/main.js': "module.exports = 'moved'",
        'node_modules/texts': { link: '../libs/texts' },
      },
      'texts',
      'moved',
    ],
  ])('of the project itself that are %s need no lockfile', async (__, files, name, reason) => {
    const project = createProject(workspace)
    const proof = await createProof(project, open, {
      rules: { frozen: [], mayChange: ['packages/**'], commands: ['npm test'] },
    })
    if (reason === 'moved') {
      rmSync(join(project, 'packages/texts'), { recursive: true })
      rmSync(join(project, 'node_modules/texts'))
    }
    put(project, files)
    const { plan, output } = await judge(proof, `node -e "console.log(require('${name}'), require('x'))"`)
    expect([plan.kind, output]).toEqual(['recorded', `${reason} original\n`.repeat(2)])
  })

  it.each<readonly [string, Files, string]>([
    ['an installed package', { 'node_modules/x': { link: '../packages/dates' } }, 'node_modules/x'],
    ['another name', { 'node_modules/other': { link: '../packages/dates' } }, 'node_modules/other'],
    ['a folder elsewhere', { 'node_modules/dates': { link: '/' } }, 'node_modules/dates'],
    [
      'an installed program',
      { 'node_modules/.bin/x': { link: '../../packages/dates/main.js' } },
      'node_modules/.bin/x',
    ],
    [
      'a program of the user',
      { 'node_modules/.bin/node': { link: '../../packages/dates/main.js' } },
      'node_modules/.bin/node',
    ],
  ])('of the project itself do not take the place of %s', async (__, links, path) => {
    const project = createProject(workspace)
    const proof = await createProof(project, open)
    for (const at of Object.keys(links)) rmSync(join(project, at), { recursive: true, force: true })
    put(project, { ...dates, ...links })
    const plan = await proof.dependencies(await proof.claim(), { timeoutMs: 9000 })
    expect(plan).toMatchObject({
      kind: 'dependencies-changed',
      changed: expect.arrayContaining([{ path, change: expect.any(String) }]),
    })
  })

  it('that bring a program which was there already are a question', async () => {
    const project = createProject(packages)
    const proof = await createProof(project, open)
    put(project, { 'package-lock.json': '{"lockfileVersion":3,"packages":{}}' })
    const install = 'mkdir -p node_modules/.bin node_modules/evil && ln -s ../evil/cli.js node_modules/.bin/node'
    const plan = await proof.dependencies(await proof.claim(), { install, timeoutMs: 9000 })
    expect(plan).toMatchObject({ reason: 'new packages bring programs that are there already: evil: node' })
  })

  it('can be a link to another place', async () => {
    const shared = createTestFolder()
    put(shared, { 'x/index.js': "module.exports = 'shared'" })
    const project = createProject({
      'package.json': '{}',
      '.gitignore': 'node_modules\n',
      node_modules: { link: shared },
    })
    const proof = await createProof(project, open)
    expect((await judge(proof, use)).output).toBe('shared\nshared\n')
    put(shared, { 'x/index.js': 'evil' })
    expect((await judge(proof, use)).plan.kind).toBe('dependencies-changed')
  })
})

function swapFolder(project: string): void {
  const other = createTestFolder()
  put(other, { 'x/index.js': 'evil' })
  rmSync(join(project, 'node_modules'), { recursive: true })
  put(project, { node_modules: { link: other } })
}

it('a sprint that is resumed measures against its first baseline', async () => {
  const [, open] = enclosures[0] ?? ['', () => Promise.reject(new Error('none'))]
  const project = createProject(red)
  const first = await createProof(project, open)
  put(project, { 'test/add.test.js': '', 'node_modules/x/index.js': 'evil' })
  const again = await openProof({ ...first.options, baselineTree: first.baseline.tree })
  const { oldOnNew, frozenChanges } = await again.claim()

  expect([oldOnNew, again.baseline.paths]).toEqual([first.baseline.tree, first.baseline.paths])
  expect(frozenChanges.map(({ path }) => path)).toEqual(['test/add.test.js'])
  const plan = await again.dependencies(await again.claim(), { timeoutMs: 1000 })
  expect(plan.kind).toBe('dependencies-changed')
  rmSync(join(first.state, 'dependencies.json'))
  const gone = openProof({ ...first.options, baselineTree: first.baseline.tree })
  await expect(gone).rejects.toMatchObject({ code: 'BASELINE_DAMAGED' })
})
