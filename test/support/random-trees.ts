import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../simulation/random.ts'

/** Files by path: mode and content. Paths and contents have one character per byte. */
export type DiskState = ReadonlyMap<string, string>

export const runGit = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=U', '-c', 'user.email=u@x', ...args], {
    cwd,
    encoding: 'latin1',
    stdio: 'pipe',
    maxBuffer: 64 * 1024 * 1024,
  })

const bytes = (folder: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')])

const isFolder = (path: string | Buffer): boolean => lstatIfExists(path)?.isDirectory() ?? false

/** Undefined also for a path through a file. */
function lstatIfExists(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/** Everything below a folder except git's and Ralph's own files. */
export function readDisk(folder: string, below = ''): DiskState {
  const found = new Map<string, string>()
  for (const entry of readdirSync(bytes(folder, below), { withFileTypes: true, encoding: 'buffer' })) {
    const name = entry.name.toString('latin1')
    const path = below === '' ? name : `${below}/${name}`
    if (name === '.git' || path === '.claude') continue
    if (entry.isDirectory()) for (const [inner, file] of readDisk(folder, path)) found.set(inner, file)
    else if (entry.isSymbolicLink())
      found.set(path, `120000 ${readlinkSync(bytes(folder, path), { encoding: 'latin1' })}`)
    else if (entry.isFile()) found.set(path, describeFile(bytes(folder, path)))
  }
  return found
}

const describeFile = (path: Buffer): string =>
  `${(lstatSync(path).mode & 0o100) === 0 ? '100644' : '100755'} ${readFileSync(path, 'latin1')}`

/** What a ref of a git folder holds: the same form as `readDisk`. */
export function readRef(gitDir: string, ref: string): DiskState {
  const lines = runGit(gitDir, '--git-dir=.', 'ls-tree', '-r', '-z', '--full-tree', ref).split('\0')
  const entries = lines.flatMap((line) => {
    const [, mode = '', id = '', path = ''] = /^(\d+) \w+ (\w+)\t([^]+)$/.exec(line) ?? []
    return path === '' ? [] : [{ mode, id, path }]
  })
  const blobs = readBlobs(gitDir, [...new Set(entries.map(({ id }) => id))])
  return new Map(entries.map(({ mode, id, path }) => [path, `${mode} ${blobs.get(id) ?? 'missing'}`]))
}

/** `<id> blob <size>`, newline, content, newline: for each id. */
function readBlobs(gitDir: string, ids: readonly string[]): ReadonlyMap<string, string> {
  if (ids.length === 0) return new Map()
  const input = ids.map((id) => `${id}\n`).join('')
  const options = { cwd: gitDir, input, encoding: 'latin1', stdio: 'pipe', maxBuffer: 64 * 1024 * 1024 } as const
  const output = execFileSync('git', ['--git-dir=.', 'cat-file', '--batch'], options)
  const found = new Map<string, string>()
  for (let at = 0; at < output.length;) {
    const end = output.indexOf('\n', at)
    const [id = '', , size = '0'] = output.slice(at, end).split(' ')
    found.set(id, output.slice(end + 1, end + 1 + Number(size)))
    at = end + 2 + Number(size)
  }
  return found
}

const names = [
  'a.txt',
  'b.bin',
  'c',
  'c/d.txt',
  'c/e/f',
  'sp ace',
  'quo"te\'s',
  'new\nline',
  'uml\xc3\xa4ut',
  'not-utf-8-\xff',
  '-dash',
  ':(top)x',
  '*.star',
  'back\\slash',
  'git~1',
  'Case',
  'case',
  'ignored/x',
  'ignored/y/z',
  'x.log',
  'c/x.log',
  'sub/s.txt',
  'sub/deep/t.txt',
  'lib/two/u.txt',
  'lib/v.txt',
] as const
const contents = [
  '',
  'a\nb\n',
  'a\r\nb\r\n',
  'a\r\nb\n',
  '\0\xff\xfe',
  '$Id$\n',
  'no newline',
  'x'.repeat(5000),
] as const
const attributes = ['', '* text=auto\n', '*.txt text eol=crlf\n', '* filter=evil\n', '* ident\n'] as const

/** A repository with a random configuration, and sometimes other repositories and worktrees in it. */
export function createRandomProject(project: string, random: Random): void {
  mkdirSync(join(project, '.claude', 'sprints', 's'), { recursive: true })
  if (random.chance(0.9)) runGit(project, 'init', '--quiet')
  for (const nested of nestedFolders) {
    if (random.chance(existsSync(join(project, '.git')) ? 0.25 : 0.9)) initNested(project, nested, random)
  }
  for (let count = random.below(8); count > 0; count--) changeFile(project, random)
  if (makeRoom(project, 'c/d.txt')) writeFileSync(join(project, 'c/d.txt'), 'd')
  if (!existsSync(join(project, '.git'))) return
  for (const name of ['core.autocrlf', 'core.safecrlf', 'core.protectNTFS']) {
    if (random.chance(0.3)) runGit(project, 'config', name, 'true')
  }
  runGit(project, 'config', 'filter.evil.clean', 'tr a-z A-Z')
  runGit(project, 'config', 'filter.evil.smudge', 'tr A-Z a-z')
  if (random.chance(0.7)) commitEverything(project)
  if (random.chance(0.2) && hasCommit(project)) {
    runGit(project, 'worktree', 'add', '--quiet', '-b', 'other', 'trees/inner')
  }
}

function initNested(project: string, path: string, random: Random): void {
  if (existsSync(join(project, path)) && !isFolder(join(project, path))) return
  if (isFolder(join(project, dirname(path))) || !existsSync(join(project, dirname(path)))) {
    mkdirSync(join(project, path), { recursive: true })
    runGit(join(project, path), 'init', '--quiet')
    if (random.chance(0.5)) commitEverything(join(project, path))
  }
}

/** What users and agents do to a project between two checkpoints. */
export function changeProject(project: string, random: Random): string {
  const choice = random.next()
  if (choice < 0.06) return changeShape(project, random, random.below(shapeCount))
  if (choice < 0.86) return changeFile(project, random)
  if (choice < 0.89 && existsSync(join(project, '.git'))) return commitEverything(project)
  if (choice < 0.91 && existsSync(join(project, '.git'))) {
    runGit(project, 'gc', '--quiet', '--prune=now')
    return 'gc'
  }
  if (choice < 0.92 && existsSync(join(project, '.git'))) return loseCheckpoints(project, random)
  if (choice < 0.95) {
    const nested = random.pick(nestedFolders)
    initNested(project, nested, random)
    return `init ${nested}`
  }
  const name = random.pick(['.gitignore', '.gitattributes'])
  if (!isFolder(join(project, name))) {
    const text = name === '.gitignore' ? random.pick(['ignored/\n*.log\n', '', 'c\n']) : random.pick(attributes)
    writeFileSync(join(project, name), text)
  }
  return name
}

/** Changes of what a path is, of the repositories and of what git looks at. The name is for the history of a failure. */
const shapes: readonly (readonly [string, (project: string, random: Random) => void])[] = [
  ['file in place of a folder', (project, random) => replaceFolder(project, random, 'file')],
  ['link in place of a folder', (project, random) => replaceFolder(project, random, 'link')],
  ['repository without a commit', (project) => createUnborn(project, 'sub')],
  ['file in place of a repository', (project, random) => replaceRepository(project, random, 'file')],
  ['link in place of a repository', (project, random) => replaceRepository(project, random, 'link')],
  ['rm -rf a repository', (project, random) => replaceRepository(project, random)],
  [
    'rm -rf the .git of a repository',
    (project, random) => {
      const path = `${random.pick(nestedFolders)}/.git`
      if (isReachable(project, path)) rmSync(join(project, path), { recursive: true, force: true })
    },
  ],
  ['submodule', addSubmodule],
  ['worktree', addWorktree],
  ['sparse checkout', (project) => void tryGit(project, 'sparse-checkout', 'set', '--no-cone', '/lib/')],
  ['skip-worktree', (project) => void tryGit(project, 'update-index', '--skip-worktree', 'c/d.txt')],
  [
    'info/exclude',
    (project, random) => {
      if (isFolder(join(project, '.git', 'info')))
        writeFileSync(join(project, '.git', 'info', 'exclude'), random.pick(['sub\n', '*.txt\n', '']))
    },
  ],
]

const shapeCount = shapes.length

/** `which` is a number below `shapeCount`. */
export function changeShape(project: string, random: Random, which: number): string {
  const [name, change] = shapes[which % shapeCount] ?? ['nothing', () => undefined]
  change(project, random)
  return name
}

export const nestedFolders = ['sub', 'lib/two'] as const

function replaceFolder(project: string, random: Random, by: 'file' | 'link'): void {
  const all = ['c', 'c/e', 'ignored', 'ignored/y', 'sub', 'sub/deep', 'lib', 'lib/two']
  const folders = all.filter(
    (path) => isReachable(project, path) && isFolder(join(project, path)) && !holdsRepository(project, path),
  )
  const [path, ...more] = folders
  if (path !== undefined) putInPlace(project, random.pick([path, ...more]), by)
}

/** The files of the repository and its history are gone; checkpoints have the files. */
function replaceRepository(project: string, random: Random, by?: 'file' | 'link'): void {
  const folders = nestedFolders.filter((path) => isReachable(project, path) && isFolder(join(project, path, '.git')))
  const [path, ...more] = folders
  if (path !== undefined) putInPlace(project, random.pick([path, ...more]), by)
}

function putInPlace(project: string, path: string, by?: 'file' | 'link'): void {
  rmSync(join(project, path), { recursive: true })
  if (by === 'file') writeFileSync(join(project, path), 'a file now')
  if (by === 'link') symlinkSync('..', join(project, path))
}

function createUnborn(project: string, path: string): void {
  if (!isReachable(project, `${path}/x`) && existsItself(join(project, path))) return
  rmSync(join(project, path, '.git'), { recursive: true, force: true })
  mkdirSync(join(project, path), { recursive: true })
  runGit(join(project, path), 'init', '--quiet')
}

/** Its git folder is in that of the project. */
function addSubmodule(project: string): void {
  if (!isReachable(project, 'sub/x') || !isFolder(join(project, 'sub', '.git')) || !isFolder(join(project, '.git')))
    return
  commitEverything(join(project, 'sub'))
  tryGit(project, 'submodule', '--quiet', 'add', '--force', './sub', 'sub')
  tryGit(project, 'submodule', '--quiet', 'absorbgitdirs', 'sub')
}

function addWorktree(project: string): void {
  if (existsItself(join(project, 'trees')) || !isFolder(join(project, '.git')) || !hasCommit(project)) return
  runGit(project, 'worktree', 'add', '--quiet', '--detach', 'trees/inner')
}

const existsItself = (path: string): boolean => lstatIfExists(path) !== undefined

function tryGit(project: string, ...args: readonly string[]): boolean {
  try {
    if (isFolder(join(project, '.git'))) runGit(project, ...args)
    return isFolder(join(project, '.git'))
  } catch {
    return false
  }
}

/** Deletes what the repository has of the checkpoints, or the repository. */
function loseCheckpoints(project: string, random: Random): string {
  if (random.chance(0.3)) {
    rmSync(join(project, '.git'), { recursive: true })
    if (random.chance(0.5)) return 'rm -rf .git'
    runGit(project, 'init', '--quiet')
    return 'rm -rf .git; git init'
  }
  const refs = runGit(project, 'for-each-ref', '--format=delete %(refname)', 'refs/ralph')
  execFileSync('git', ['update-ref', '--stdin'], { cwd: project, input: refs, stdio: 'pipe' })
  runGit(project, 'gc', '--quiet', '--prune=now')
  return 'delete refs, gc'
}

function changeFile(project: string, random: Random): string {
  const path = random.pick(names)
  const target = bytes(project, path)
  if (random.chance(0.2)) {
    if (isReachable(project, path) && !holdsRepository(project, path)) rmSync(target, { recursive: true, force: true })
    return `delete ${path}`
  }
  if (!makeRoom(project, path)) return `nothing at ${path}`
  if (random.chance(0.15)) symlinkSync(random.pick(['a.txt', 'nowhere', '..', path.split('/').at(-1) ?? '']), target)
  else {
    writeFileSync(
      target,
      Buffer.from(`${random.pick(contents)}${random.chance(0.5) ? random.below(1000) : ''}`, 'latin1'),
    )
    if (random.chance(0.2)) chmodSync(target, 0o755)
  }
  return `write ${path}`
}

/** False if a file or a link is where the path needs a folder. */
export const isReachable = (project: string, path: string): boolean => {
  const parts = path.split('/')
  return parts.slice(1).every((_, number) => isFolder(bytes(project, parts.slice(0, number + 1).join('/'))))
}

/** Removes what is at the path, and files where folders are needed. False if that would remove a repository. */
function makeRoom(project: string, path: string): boolean {
  if (holdsRepository(project, path)) return false
  const parts = path.split('/')
  for (const [number] of parts.entries()) {
    const prefix = parts.slice(0, number + 1).join('/')
    if (number < parts.length - 1 && isFolder(bytes(project, prefix))) continue
    if (lstatSync(bytes(project, prefix), { throwIfNoEntry: false })) {
      rmSync(bytes(project, prefix), { recursive: true, force: true })
    }
    if (number < parts.length - 1) mkdirSync(bytes(project, prefix))
  }
  return true
}

const holdsRepository = (project: string, path: string): boolean =>
  nestedFolders.some(
    (nested) => existsSync(join(project, nested, '.git')) && (nested === path || nested.startsWith(`${path}/`)),
  )

function commitEverything(root: string): string {
  try {
    // Not the state of the sprint, which is in the project only here: a sparse checkout would delete parts of it.
    runGit(root, 'add', '--all', '--ignore-errors', '--', '.', ':(exclude).claude')
  } catch {
    // Some names, and repositories without a commit, cannot be added.
  }
  runGit(root, 'commit', '--quiet', '--allow-empty', '--message=c')
  return 'commit'
}

const hasCommit = (root: string): boolean => tryGit(root, 'rev-parse', '--verify', 'HEAD')

/** Paths that git ignores at this moment and the user does not track. */
export function listIgnored(root: string, paths: readonly string[], gitDir = join(root, '.git')): ReadonlySet<string> {
  if (paths.length === 0) return new Set()
  const place = ['--git-dir', gitDir, '--work-tree', root]
  const input = Buffer.from(paths.join('\0'), 'latin1')
  try {
    const args = [...place, 'check-ignore', '--no-index', '-z', '--stdin']
    const listed = execFileSync('git', args, { cwd: root, input, stdio: 'pipe' }).toString('latin1')
    const tracked = new Set(existsSync(join(root, '.git')) ? runGit(root, 'ls-files', '-z').split('\0') : [])
    return new Set(listed.split('\0').filter((path) => !tracked.has(path)))
  } catch {
    return new Set()
  }
}
