// A machine in small, in a temporary folder: a home with secrets, a project with two sprints, something outside of both, services.
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const packageFolder = fileURLToPath(new URL('../..', import.meta.url))

const secretFiles = {
  'home/.ssh/id_rsa': 'secret',
  'home/.netrc': 'secret',
  'home/.aws/credentials': 'secret',
  'home/.ralph/backend/serve.json': 'secret',
  'home/.ralph/notes/other/README.md': 'secret',
  'home/.ralph/config.yaml': '',
  'home/.config/gh/hosts.yml': 'secret',
  'home/.mozilla/cookies': 'secret',
  'home/.docker/config.json': 'secret',
  'home/.npmrc': '//registry.npmjs.org/:_authToken=secret\nregistry=https://registry.npmjs.org/\n',
  'home/.gitconfig':
    '[user]\n\tname = u\n\temail = u@example.invalid\n[url "https://x:secret@example.invalid/"]\n\tinsteadOf = g:\n',
  'home/.git-credentials': 'https://u:secret@example.invalid',
  'home/.bash_history': 'secret',
  'home/.bashrc': '',
  'home/.npm/x': '',
  'home/.cache/x': '',
  'home/.claude/settings.json': '{}',
  'home/.claude/history.jsonl': 'secret',
  'home/.claude/ide/1.lock': 'secret',
  'home/.claude/paste-cache/1.txt': 'secret',
  'home/.claude/projects/-other/1.jsonl': 'secret',
  'home/.claude/shell-snapshots/snapshot-bash-1.sh': '',
  'home/other-project/secret.txt': 'secret',
  'home/other-project/.env': 'secret',
  'home/other-project/bin/tool': '',
  'home/other-project/modules/m/secret': 'secret',
  'home/dotfiles/CLAUDE.md': '',
  'outside/secret.txt': 'secret',
  'project/.claude/sprints/s1/SPRINT.yaml': 'goal: a\n',
  'project/.claude/sprints/s1/journal/0001': 'journal',
  'project/.claude/sprints/s1/protected/x': '',
  'project/.claude/sprints/s2/SPRINT.yaml': 'goal: b\n',
  'project/.claude/sprints/s2/journal/0001': 'journal of another',
  'project/.claude/sprints/s2/attempts/1-1/transcript.jsonl': 'of another',
  'home/.codex/work.config.toml': '',
  'project/.mcp.json': '{"mcpServers":{"mine":{"command":"a"}}}',
  'project/.codex/config.toml': '',
  'project/package.json': '{"name":"p"}',
  // As husky has it, and a project that shares its settings of git.
  'project/.husky/_/pre-commit': '#!/bin/sh\n. ./.husky/pre-commit\n',
  'project/.husky/pre-commit': ':\n',
  'project/.gitconfig': '[core]\n\thooksPath = .husky/_\n[include]\n\tpath = .gitconfig.local\n',
}

/** Two HTTP services on the loopback of this machine that no cell may reach by itself. */
export async function openServices() {
  const seen = { tls: '' }
  const origin = createHttp((request, response) => {
    if (request.url === '/to-loopback') {
      response.writeHead(302, { location: `http://127.0.0.1:${origin.address().port}/secret` }).end()
      return
    }
    response.end(`origin${request.url === '/secret' ? '-secret' : ''} host=${request.headers.host}\n`)
  })
  const tls = createServer((socket) =>
    socket.on('data', (bytes) => (seen.tls += bytes.toString('latin1'))).on('error', () => {}),
  )
  for (const server of [origin, tls]) await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return {
    seen,
    originPort: origin.address().port,
    tlsPort: tls.address().port,
    close: () => [origin, tls].forEach((server) => server.close().closeAllConnections?.()),
  }
}

const otherWorktree = { commondir: '../..\n', gitdir: '/nowhere/.git\n', HEAD: 'ref: refs/heads/other\n' }

function writeInto(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** The repository of the first machine, for all others. */
let template

async function createMachine() {
  const base = mkdtempSync(join(tmpdir(), 'ralph-escapes-'))
  for (const [name, text] of Object.entries(secretFiles)) writeInto(join(base, name), text)
  chmodSync(join(base, 'project/.husky/_/pre-commit'), 0o755)
  // As a user has it whose settings lie in a repository.
  symlinkSync('../dotfiles/CLAUDE.md', join(base, 'home/.claude/CLAUDE.md'))
  const git = (...args) =>
    spawnSync('git', ['-C', join(base, 'project'), '-c', 'user.name=u', '-c', 'user.email=u@example.invalid', ...args])
  if (template === undefined) {
    git('init', '-q')
    git('add', '-f', 'package.json', '.claude/sprints/s2/SPRINT.yaml')
    git('commit', '-qm', 'first')
    git(
      'update-index',
      '--add',
      '--cacheinfo',
      `160000,${git('rev-parse', 'HEAD').stdout.toString().trim()},third/party/lib`,
    )
    git('commit', '-qm', 'submodule')
    for (const [name, text] of Object.entries(otherWorktree))
      writeInto(join(base, 'project/.git/worktrees/other', name), text)
    template = mkdtempSync(join(tmpdir(), 'ralph-escapes-git-'))
    cpSync(join(base, 'project/.git'), template, { recursive: true })
    process.on('exit', () => rmSync(template, { recursive: true, force: true }))
  } else {
    cpSync(template, join(base, 'project/.git'), { recursive: true })
  }
  git('config', 'include.path', '../.gitconfig')
  for (const name of ['packages/a', 'third/party/own', 'lib/a/b/c/own']) {
    cpSync(template, join(base, 'project', name, '.git'), { recursive: true })
  }
  linkHooks(join(base, 'project'))
  mkdirSync(join(base, 'project/third/party/lib'), { recursive: true })
  const abstract = `ralph-escapes-${base.slice(-6)}`
  mkdirSync(join(base, 'home/.gnupg'))
  const names = ['outside/host.sock', 'project/dev.sock', 'home/.gnupg/S.gpg-agent']
  const sockets = [...names.map((name) => join(base, name)), `\0${abstract}`].map((path) => {
    const server = createServer((socket) => socket.end('socket'))
    return new Promise((done) => server.listen(path, () => done(server)))
  })
  const servers = await Promise.all(sockets)
  return {
    base,
    abstract,
    close: () => (servers.forEach((server) => server.close()), spawnSync('rm', ['-rf', base])),
  }
}

/** As users have it who keep their hooks and settings of git in the project. One link is absolute, one leads to nothing. */
function linkHooks(project) {
  const at = (name) => join(project, name)
  writeInto(at('scripts/linked.sh'), '#!/bin/sh\n')
  chmodSync(at('scripts/linked.sh'), 0o755)
  mkdirSync(at('packages/a/.git/hooks'), { recursive: true })
  symlinkSync('../../../../scripts/linked.sh', at('packages/a/.git/hooks/pre-commit'))
  symlinkSync('../../../../scripts/missing.sh', at('packages/a/.git/hooks/post-index-change'))
  mkdirSync(at('githooks'))
  symlinkSync('../scripts/linked.sh', at('githooks/post-commit'))
  rmSync(at('third/party/own/.git/hooks'), { recursive: true, force: true })
  symlinkSync(at('githooks'), at('third/party/own/.git/hooks'))
  cpSync(at('lib/a/b/c/own/.git/config'), at('own.config'))
  rmSync(at('lib/a/b/c/own/.git/config'))
  symlinkSync('../../../../../../own.config', at('lib/a/b/c/own/.git/config'))
}

/** A start can fail on a busy machine, which says nothing about walls. */
const maxTries = 3

/**
 * Runs one case in a cell of its own. `ralph` is the code under test: openSandbox and superviseProcess; `cell` a member of the
 * registry with the tools of its probe. A case counts only if its script was seen to begin: otherwise it is tried again.
 */
export async function tryEscape(lab, given) {
  let result
  for (let tries = 0; tries < maxTries && !result?.ran; tries++) result = await tryOnce(lab, given)
  return result
}

async function tryOnce(lab, { sh, first, outside, ofImage, driver = 'claude' }) {
  const machine = await createMachine()
  try {
    const left = `7311.${Math.trunc(Math.random() * 1e9)}1`
    const place = { ...machine, left, asked: [], driver, sprintDir: join(machine.base, 'project/.claude/sprints/s1') }
    const before = first && (await runAttempt(lab, place, { script: first, number: 1 }))
    const { folder, ...end } = await runAttempt(lab, place, { script: sh, number: 2 })
    const printed = read(join(folder, 'transcript.jsonl'))
    const isCut = end.began && !printed.startsWith('BEGIN')
    const stderr = read(join(folder, 'stderr.log')).trim()
    const missing = /([\w.-]+): (?:command )?not found/.exec(stderr)?.[1]
    // A container has such files of its own; those of the machine would look the same from outside.
    const isOwn = ofImage && lab.cell.kind === 'container' && printed !== `BEGIN\n${outsideOutput(sh)}`
    const got =
      (end.code === 0 && !isOwn) || isCut || (await outside?.(await lookFromOutside(lab, place, end))) === true
    return {
      ran: end.began && before?.began !== false,
      escaped: got,
      code: end.code,
      missing,
      errors: isOwn && end.code === 0 ? 'only what the image brings' : (stderr.split('\n').at(-1) ?? ''),
    }
  } finally {
    machine.close()
  }
}

const addresses = { 'allowed.test': ['127.0.0.1'], 'inside.test': ['127.0.0.1'], 'public.test': ['127.0.0.1'] }

/** Names that the allow-list has as public ones. The last one leads elsewhere with every second question. */
const leadingInside = {
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'unspecified.test': ['0.0.0.0'],
  'metadata.test': ['169.254.169.254'],
  'shared.test': ['100.64.0.1'],
  'unique.test': ['fd00::1'],
  'mixed.test': ['203.0.113.1', '127.0.0.1'],
}
const changing = (asked) => [
  asked.filter((host) => host === 'changing.test').length % 2 === 0 ? '127.0.0.1' : '203.0.113.1',
]

/** A later run of Ralph opens its own sandbox, so each attempt has one. */
async function runAttempt(
  { ralph, cell, tools, services },
  { base, asked, driver, sprintDir, ...more },
  { script, number },
) {
  const cwd = join(base, 'project')
  const folder = join(sprintDir, `attempts/${number}-1`)
  const network = {
    allow: [
      'registry.npmjs.org',
      'public.test',
      ...['inside.test', 'changing.test', ...Object.keys(leadingInside)].map(
        (host) => `${host}:${services.originPort}`,
      ),
    ],
    private: [`allowed.test:${services.originPort}`, `allowed.test:${services.tlsPort}`],
  }
  const resolve = async (host) => {
    asked.push(host)
    if (host === 'changing.test') return changing(asked)
    return addresses[host] ?? leadingInside[host] ?? Promise.reject(new Error(`${host} has no address`))
  }
  const spec = { network, limits: {}, read: [join(cwd, 'data')], write: [], keys: 'real' }
  const sandbox = ralph.openSandbox({ cell, tools, spec, ralphHomes: [join(base, 'home/.ralph')], resolve })
  const env = { ...describeMachine({ base, services, ...more }), SPRINT: sprintDir, ATTEMPT: folder }
  const command = { file: '/bin/sh', args: ['-c', `echo BEGIN\n${script}`], env }
  const place = { driver: ralph[driver], folder, sprintDir, cwd }
  const wrapped = cell.kind === 'none' ? command : await sandbox.around(command, place)
  const job = { folder, ...wrapped, cwd, stdin: '', files: { 'mcp-token': 'x\n' }, mark: folder, graceMs: 500 }
  const until = AbortSignal.timeout(240_000)
  let seen = ''
  const onOutput = (bytes) => (seen += seen.length < 6 ? bytes.toString('latin1') : '')
  const end = await ralph.superviseProcess({ ...job, onOutput, overdue: () => undefined, signal: until })
  if (cell.kind !== 'none') await sandbox.clear(place)
  return { folder, began: seen.startsWith('BEGIN'), ...end }
}

/** Variables by which a case finds what it attacks. */
const describeMachine = ({ base, abstract, left, services }) => ({
  // The user works with programs of this project and of another one.
  PATH: [join(base, 'project/node_modules/.bin'), join(base, 'home/other-project/bin'), process.env.PATH].join(':'),
  VIRTUAL_ENV: join(base, 'project/.venv'),
  SSL_CERT_FILE: join(base, 'project/ca.pem'),
  HOME: join(base, 'home'),
  LC_ALL: 'C',
  OUTSIDE: join(base, 'outside'),
  HOST_TMP: join(base, 'outside'),
  PROJECT: join(base, 'project'),
  PACKAGE: packageFolder,
  OUTER_PID: `${process.pid}`,
  ORIGIN_PORT: `${services.originPort}`,
  TLS_PORT: `${services.tlsPort}`,
  ABSTRACT: abstract,
  LEFT: left,
})

const lookFromOutside = async ({ ralph, services }, { base, left, asked }, end) => ({
  home: (name) => read(join(base, 'home', name)),
  has: (name) => existsSync(join(base, name)),
  hostHas: existsSync,
  groupKilled: end.lost,
  setUserIds: setUserIdFiles(base),
  hostname: hostname(),
  left: await isLeft(`sleep\0${left}`),
  tls: services.seen.tls,
  asked,
  ralphCommits: () => commitAndRestore(base),
  userWorks: () => userWorks(base),
  ralphReads: (name) => ralph.readPlainText(join(base, name)),
  ralphWrites: (name, text) => ralph.writeFileAtomic(join(base, name), text),
  ralphLogs: (name, text) => runDetached(ralph, join(base, name), text),
})

/** In a folder of the project and with its programs on PATH, as a script of package.json runs Ralph. Prints what failed. */
function commitAndRestore(base) {
  const project = join(base, 'project')
  const env = { ...process.env, PATH: `${join(project, 'node_modules/.bin')}:${process.env.PATH}` }
  const script = join(packageFolder, 'conformance/escapes/commit.mjs')
  const child = spawn(process.execPath, [script, project], { cwd: project, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (bytes) => (errors += bytes))
  return new Promise((done) => child.on('close', (code) => (code === 0 || console.error(errors.trim()), done(code))))
}

/** What the user does with git after a sprint, in the project and in a repository of his own below it. */
function userWorks(base) {
  const env = { ...process.env, HOME: join(base, 'home'), GIT_TERMINAL_PROMPT: '0' }
  const commands = [
    'status',
    'add -A',
    'status',
    'diff',
    'log -p -2',
    'submodule status',
    'stash list',
    'worktree list',
    'worktree prune',
    'gc -q',
    'fetch -q origin',
    'push -q origin HEAD',
    'commit -aqm work',
    'checkout -q -b other',
    'switch -q -',
  ]
  for (const name of ['', 'src', 'packages/a', 'third/party/own', 'lib/a/b/c/own']) {
    if (!existsSync(join(base, 'project', name))) continue
    for (const words of commands)
      spawnSync('git', words.split(' '), { cwd: join(base, 'project', name), env, timeout: 30_000 })
  }
}

async function runDetached(ralph, log, text) {
  const job = { file: '/bin/echo', args: [text], cwd: '/', env: {}, log }
  const started = await ralph.startDetached(job).catch(() => undefined)
  if (started) while (started.exitCode() === undefined) await sleep(20)
}

const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '')

const outsideOutput = (sh) => spawnSync('/bin/sh', ['-c', sh], { encoding: 'utf8' }).stdout

const setUserIdFiles = (folder) =>
  readdirSync(folder, { recursive: true }).filter((name) => {
    const found = lstatSync(join(folder, name), { throwIfNoEntry: false })
    return found?.isFile() && (found.mode & (process.getuid?.() === 0 ? 0o6000 : 0o4000)) !== 0
  })

/** Looks again for a while: on a busy machine what is being killed may still be there. */
async function isLeft(text) {
  for (let tries = 0; tries < 400; tries++) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    const found = pids.filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text)
      } catch {
        return false
      }
    })
    if (found.length === 0) return false
    await sleep(50)
  }
  return true
}
