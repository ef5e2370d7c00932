import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findKnots } from '../scripts/house/knots.mjs'
import { findExcess, limits } from '../scripts/house/limits.mjs'
import { findOddProse, findViolations } from '../scripts/house/voice.mjs'
import { parseWalk, verifyWalk } from '../scripts/house/walks.mjs'
import { root } from './support/paths.ts'

describe('the voice check', () => {
  const rulesFor = (text: string) =>
    findViolations({ path: 'src/x.ts', text }).map(({ rule }) => rule.replace(/ \(.*/, ''))

  it.each([
    ['// Somebody else may hold the lock.', 'odd word'],
    ['/** Whoever waits is told at once. */', 'odd word'],
    ["it('goes on after a crash', () => {})", 'odd word'],
    ['/**\n * Retried so many times.\n */', 'odd word'],
    ['export const stateOf = (x: X) => x.state', 'name ends in Of'],
    ['async function keysOf() {}', 'name ends in Of'],
    ['export type Wanted = { readonly name: string }', 'type is a bare participle'],
    ['type Compiled = { readonly path: string }', 'type is a bare participle'],
    ['export interface GivenUp {}', 'type is a bare participle'],
    ['// Waits for ever where none can be had.', 'odd word'],
    ['const told = readEvents()', 'odd name'],
    ['listeners.forEach((hear) => hear(key))', 'odd name'],
    ['const { sprint, told } = await createLaptop()', 'odd name'],
    ['function told(defect) {}', 'odd name'],
    ['const send = (heard: Message) => heard.text', 'odd name'],
    ['  const aViewer = () => open()', 'name begins with an article'],
    ['async function anAgent() {}', 'name begins with an article'],
    ['  const wanted = readOptions()', 'name is a bare participle'],
    ['const mostTries = 5', 'odd name of a limit'],
    ['const patienceMs = 2000', 'odd name of a limit'],
    ['const open = (given: Options) => given.path', 'name is a bare participle'],
    ['  const rowsOf = (name: string) => []', 'name ends in Of'],
    ['type Request = { readonly id: string }', 'name shadows a global'],
    ["  const [search, setWanted] = useState('')", 'setter is not named after its state'],
  ])('refuses %j', (text, rule) => {
    expect(rulesFor(text)).toContain(rule)
  })

  it.each(['src/x.test.ts', 'test/x.ts', 'bench/x.mjs', 'conformance/x.mjs', 'scripts/x.mjs'])(
    'refuses an odd name in %s too',
    (path) => {
      const [found] = findViolations({ path, text: 'const told = readEvents()' })
      expect(found).toMatchObject({ path, line: 1, text: 'const told' })
    },
  )

  it('allows plain English, and the same words in code and in strings', () => {
    const text = [
      '// The caller retries at most five times.',
      'export function readState() {}',
      "const text = 'somebody'",
      'const [isOpen, setIsOpen] = useState(false)',
      "const fact = { type: 'told', at }",
      'const run = ({ asked }: PromptRequest) => asked.kind',
      "expect(reply).toEqual({ told: 'hurry', now: false })",
      'export type LockOwner = { readonly pid: number }',
      'export type Feed = { readonly events: readonly string[] }',
      'type CompiledFile = { readonly path: string }',
    ].join('\n')
    expect(rulesFor(text)).toEqual([])
  })

  it.each([
    'docs/guides/x.md',
    'docs/examples/x/SPRINT.yaml',
    'assets/templates/x.yaml',
    'assets/migrations/0009-x.sql',
  ])('refuses an odd word on any line of %s', (path) => {
    expect(findOddProse({ path, text: 'goal: |\n  The importer goes on with the next file.\n' })).toMatchObject([
      { path, line: 2, rule: expect.stringContaining('odd word') },
    ])
    expect(findOddProse({ path, text: 'goal: The importer continues with the next file.\n' })).toEqual([])
  })

  it('finds nothing in this repository', () => {
    expect(() =>
      execFileSync(process.execPath, ['scripts/house.mjs', '--check'], { cwd: root, stdio: 'pipe' }),
    ).not.toThrow()
  })
})

describe('the folders of one layer', () => {
  it('would be caught importing each other, also through a third one', () => {
    const source = (path: string, ...imports: string[]) => ({
      path,
      text: imports.map((name) => `import { x } from '${name}'`).join('\n'),
    })
    expect(
      findKnots([
        source('src/cli/live/a.ts', '../report/b.ts'),
        source('src/cli/report/b.ts', '../main.ts'),
        source('src/cli/main.ts', './live/a.ts'),
        source('src/cli/io/c.ts', '../../contract/errors.ts'),
      ]),
    ).toEqual(['cli <-> cli/live', 'cli <-> cli/report', 'cli/live <-> cli/report'])
  })

  it('do not import each other', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.|\.d\.ts$/.test(name))
      .map((name) => ({ path: `src/${name}`, text: readFileSync(join(root, 'src', name), 'utf8') }))
    expect(findKnots(sources)).toEqual([])
  })
})

describe('the limits of the house', () => {
  const files = (count: number, text: string) =>
    Array.from({ length: count }, (_, n) => ({ path: `src/cli/live/f${n}.ts`, text }))
  const pages = ['README.md', 'CHANGELOG.md', 'CONTEXT.md', 'SECURITY.md']
  const assetFolders = ['templates', 'demo', 'workflows', 'migrations'].map((name) => `assets/${name}`)
  const lines = (count: number, line: string) => [{ path: 'src/x.ts', text: `${line}\n`.repeat(count) }]

  it.each([
    ['a folder with too many files', files(limits.filesPerFolder, ''), files(limits.filesPerFolder + 1, '')],
    ['too many module-level lets', lines(limits.moduleLets, 'let x = 1'), lines(limits.moduleLets + 1, 'let x = 1')],
    [
      'too many branches on mode and protocol',
      lines(limits.modeBranches, "if (mode === 'ralph') x()"),
      [...lines(limits.modeBranches, "if (mode !== 'standard') x()"), ...lines(1, "protocol === 'classic'")],
    ],
  ])('refuse %s, and allow one less', (_, allowed, refused) => {
    expect(findExcess(allowed)).toEqual([])
    expect(findExcess(refused)).toEqual([expect.stringContaining('at most')])
  })

  it('allow what has a scope', () => {
    expect(findExcess(lines(100, '  let count = 0'))).toEqual([])
  })

  it('make the command fail', async () => {
    const copy = mkdtempSync(join(tmpdir(), 'ralph-house-'))
    onTestFinished(() => rmSync(copy, { recursive: true }))
    cpSync(join(root, 'scripts'), join(copy, 'scripts'), { recursive: true })
    for (const folder of ['src/cli/live', 'test', 'bench', 'conformance', 'docs', 'plugin', ...assetFolders])
      mkdirSync(join(copy, folder), { recursive: true })
    for (const page of pages) writeFileSync(join(copy, page), 'Plain words.\n')
    const check = () => spawnSync(process.execPath, ['scripts/house.mjs', '--check'], { cwd: copy, encoding: 'utf8' })
    expect(check()).toMatchObject({ status: 0, stderr: '' })

    for (const { path } of files(limits.filesPerFolder + 1, '')) writeFileSync(join(copy, path), '')
    expect(check()).toMatchObject({ status: 1, stderr: expect.stringMatching(/^src\/cli\/live has 25 files/) })

    rmSync(join(copy, 'src/cli/live'), { recursive: true })
    const texts = [...pages, 'docs/x.md', 'plugin/x.md', ...assetFolders.map((folder) => `${folder}/x.yaml`)]
    for (const text of texts) writeFileSync(join(copy, text), 'Ralph asks; meanwhile the agent waits.\n')
    const { status, stderr } = check()
    expect(status).toBe(1)
    for (const text of texts) expect(stderr).toContain(`${text}:1 odd word`)
  })
})

describe('a walk', () => {
  const verify = (walk: string, sources: Readonly<Record<string, string>>) =>
    verifyWalk(parseWalk(walk), (path: string) => sources[path])

  it.each(['run', 'click'])('names functions that call each other: %s', (name) => {
    const walk = parseWalk(readFileSync(join(root, 'scripts/house/walks', `${name}.txt`), 'utf8'))
    expect(walk.length).toBeGreaterThan(30)
    expect(verifyWalk(walk, (path: string) => readFileSync(join(root, path), 'utf8'))).toEqual([])
  })

  it('cannot leave out a function in between, or name one that is gone', () => {
    const sources = {
      'a.ts': 'export function first() {\n  return second()\n}\n\nfunction second() {\n  return third()\n}\n',
      'b.ts': 'export const third = () => 3\n',
    }
    expect(verify('a.ts first\n  a.ts second\n    b.ts third', sources)).toEqual([])
    expect(verify('a.ts first\n  b.ts third', sources)).toEqual(['first (a.ts) does not contain "third("'])
    expect(verify('a.ts first\n  b.ts third via second(', sources)).toEqual(['third leaves out second (a.ts)'])
    expect(verify('a.ts first\n  a.ts fourth', sources)).toEqual(['a.ts has no function fourth'])
  })
})

describe('the programs outside src', () => {
  it('may not use an undefined name', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ralph-programs-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'x.mjs'), 'export const size = () => process.argv.length + oldName()\n')
    const lint = ['node_modules/.bin/oxlint', '-c', 'scripts/house/programs.oxlintrc.json', folder]
    const { status, stdout } = spawnSync(process.execPath, lint, { cwd: root, encoding: 'utf8' })
    expect({ status, stdout }).toMatchObject({ status: 1, stdout: expect.stringContaining("'oldName' is not defined") })
  })
})

describe('the npm scripts', () => {
  it('are at most 20; the others are arguments of bench, check and test:more', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    expect(Object.keys(scripts).length).toBeLessThanOrEqual(20)
  })
})

describe('AGENTS.md and the decision about the house', () => {
  it.each(['AGENTS.md', 'docs/decisions/0022-the-house.md'])('name only paths that exist: %s', (page) => {
    const text = readFileSync(join(root, page), 'utf8')
    const paths = [...text.matchAll(/`((?:src|assets|test|scripts|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path)
    expect(paths.length).toBeGreaterThan(10)
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('names each command once', () => {
    const [table = ''] = /## Commands\n[\s\S]*?\n## /.exec(readFileSync(join(root, 'AGENTS.md'), 'utf8')) ?? []
    const commands = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, command]) => command)
    expect(commands.length).toBeGreaterThan(10)
    expect(new Set(commands).size).toBe(commands.length)
  })
})
