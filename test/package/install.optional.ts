import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { fakeClaude, root } from '../support/paths.ts'

const Packed = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })])

const base = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-package-')))
const prefix = join(base, 'prefix')
const at = (...names: readonly string[]) => join(base, ...names)
let tarball: string
let shipped: readonly string[]

beforeAll(() => {
  for (const name of ['prefix', 'home', 'bin', 'fake', 'project']) mkdirSync(at(name))
  // With its scripts, as publishing does: they build the page and write the bill of materials, which count for the size.
  const printed = npm(root, 'pack', '--json', '--foreground-scripts=false', '--pack-destination', base)
  const [{ filename, files }] = Packed.parse(JSON.parse(printed))
  tarball = at(filename)
  shipped = files.map(({ path }) => path)
  npm(
    base,
    'install',
    '--global',
    '--prefix',
    prefix,
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    tarball,
  )
})
afterAll(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }))

it('is smaller than 3 MB', () => {
  expect(statSync(tarball).size).toBeLessThan(3 * 1024 * 1024)
})

it('ships what it needs and no tests', () => {
  const { exports, bin } = manifest()
  const needed = [bin.ralph, exports['.'].types, exports['.'].default].map((path) => path.replace(/^\.\//, ''))
  const folders = new Set(shipped.filter((path) => path.includes('/')).map((path) => path.split('/')[0]))

  expect(shipped).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'schemas/sprint.schema.json', ...needed]))
  expect(shipped).toEqual(expect.arrayContaining(['sbom.cdx.json', 'dist/web/index.html', 'bin/database.br']))
  expect(folders).toEqual(new Set(['.claude-plugin', 'assets', 'bin', 'dist', 'plugin', 'schemas']))
  expect(shipped.filter((path) => /\.test\.|\.tsbuildinfo$|\.map$|^test\//.test(path))).toEqual([])
})

it('ships every module that the library and the client import, and its types', () => {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    const text = shipped.includes(path) ? readFileSync(join(root, path), 'utf8') : ''
    for (const [, name = ''] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
      const target = join(dirname(path), name)
      visit(path.endsWith('.d.ts') ? target.replace(/(\.d)?\.[jt]s$/, '.d.ts') : target)
    }
  }
  for (const { types, default: code } of [manifest().exports['.'], manifest().exports['./client']]) {
    for (const path of [types, code]) visit(path.replace(/^\.\//, ''))
  }

  expect(reached.size).toBeGreaterThan(100)
  expect([...reached].filter((path) => !shipped.includes(path))).toEqual([])
})

it('can be imported as a library', () => {
  const file = at('library.mjs')
  const folder = join(prefix, 'lib/node_modules/ralph-mode', manifest().exports['.'].default)
  writeFileSync(file, `import { compile } from ${JSON.stringify(folder)}\nconsole.log(typeof compile)\n`)

  expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toBe('function\n')
})

it('prints its version', () => {
  expect(ralph(base, '--version')).toEqual({ exitCode: 0, stdout: `${manifest().version}\n`, stderr: '' })
})

it('runs by npx from the packed file, without an installation', () => {
  const npx = ['--yes', '--prefer-offline', '--package', tarball, '--', 'ralph', '--version']
  const { status, stdout } = spawnSync('npx', npx, {
    cwd: at('project'),
    env: env(),
    encoding: 'utf8',
    timeout: 110_000,
  })

  expect({ status, stdout }).toEqual({ status: 0, stdout: `${manifest().version}\n` })
})

it('runs the demo, although no install script has run', () => {
  const { exitCode, stdout } = ralph(base, 'demo', 'pancakes', '--fast')

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('goal reached') })
  const statusFile = at('pancakes', '.claude/sprints/pancakes/PROGRESS.yaml')
  expect(parse(readFileSync(statusFile, 'utf8'))).toMatchObject({ status: 'completed' })
})

it('runs a sprint with the claude that PATH finds, and refuses its claim until the check passes', () => {
  const claim = { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'all done' }
  fakeAgent({ 1: claim, 2: { run: 'touch done', report: claim } })
  writeFileSync(at('project', 'Makefile'), 'test:\n\ttest -f done\n')
  execFileSync('git', ['init', '--quiet'], { cwd: at('project') })

  const { exitCode, stdout } = ralph(at('project'), 'run', '--goal', 'Make it done', '--agent', 'claude', '--plain')

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/refused by .*accepted by /s) })
  expect(existsSync(at('project', 'done'))).toBe(true)
})

it('serves the page, from the database in the package', async () => {
  const serve = spawn(join(prefix, 'bin', 'ralph'), ['serve', '--port', '0', '--json'], { cwd: base, env: env() })
  const ended = once(serve, 'exit')
  const [line] = await once(serve.stdout, 'data')
  const { origin } = z.object({ origin: z.string() }).parse(JSON.parse(String(line)))

  expect(await (await fetch(origin)).text()).toContain('<title>Ralph')
  expect((await fetch(`${origin}/readyz`)).status).toBe(200)
  serve.kill()
  expect(await ended).toEqual([0, null])
})

function fakeAgent(answers: Readonly<Record<string, unknown>>): void {
  writeFileSync(at('fake', 'script.json'), JSON.stringify({ answers, progress: '' }))
  const words = [process.execPath, fakeClaude, at('fake')].map((word) => `'${word}'`)
  writeFileSync(at('bin', 'claude'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 })
}

function env() {
  const path = [at('bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':')
  return { PATH: path, HOME: at('home'), LANG: 'C.UTF-8', IS_SANDBOX: '1' }
}

/** The installed program. */
function ralph(cwd: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(join(prefix, 'bin', 'ralph'), args, {
    cwd,
    env: env(),
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { exitCode: status, stdout, stderr }
}

const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1024 ** 3 })

function manifest() {
  const Entry = z.object({ types: z.string(), default: z.string() })
  const Manifest = z.object({
    version: z.string(),
    bin: z.object({ ralph: z.string() }),
    exports: z.object({ '.': Entry, './client': Entry }),
  })
  return Manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
}
