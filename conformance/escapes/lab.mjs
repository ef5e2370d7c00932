// A machine in small, in a temporary folder: a home with secrets, a project with two sprints, something outside of both, services.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
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
  'home/other-project/secret.txt': 'secret',
  'outside/secret.txt': 'secret',
  'project/.claude/sprints/s1/SPRINT.yaml': 'goal: a\n',
  'project/.claude/sprints/s1/journal/0001': 'journal',
  'project/.claude/sprints/s1/protected/x': '',
  'project/.claude/sprints/s2/SPRINT.yaml': 'goal: b\n',
  'project/.claude/sprints/s2/journal/0001': 'journal of another',
  'project/.claude/sprints/s2/attempts/1-1/transcript.jsonl': 'of another',
  'project/package.json': '{"name":"p"}',
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

/** The repository of the first machine, for all others. */
let template

async function createMachine() {
  const base = mkdtempSync(join(tmpdir(), 'ralph-escapes-'))
  for (const [name, text] of Object.entries(secretFiles)) {
    mkdirSync(dirname(join(base, name)), { recursive: true })
    writeFileSync(join(base, name), text)
  }
  const git = (...args) =>
    spawnSync('git', ['-C', join(base, 'project'), '-c', 'user.name=u', '-c', 'user.email=u@example.invalid', ...args])
  if (template === undefined) {
    git('init', '-q')
    git('add', '-f', 'package.json', '.claude/sprints/s2/SPRINT.yaml')
    git('commit', '-qm', 'first')
    template = mkdtempSync(join(tmpdir(), 'ralph-escapes-git-'))
    cpSync(join(base, 'project/.git'), template, { recursive: true })
    process.on('exit', () => rmSync(template, { recursive: true, force: true }))
  } else {
    cpSync(template, join(base, 'project/.git'), { recursive: true })
  }
  const abstract = `ralph-escapes-${base.slice(-6)}`
  const sockets = [join(base, 'outside/host.sock'), join(base, 'project/dev.sock'), `\0${abstract}`].map((path) => {
    const server = createServer((socket) => socket.end('socket'))
    return new Promise((done) => server.listen(path, () => done(server)))
  })
  const servers = await Promise.all(sockets)
  return {
    base,
    abstract,
    close: () => (servers.forEach((server) => server.close()), rmSync(base, { recursive: true, force: true })),
  }
}

/**
 * Runs one case in a cell of its own. `ralph` is the code under test: openSandbox and superviseProcess; `cell` a member of the
 * registry with the tools of its probe.
 */
export async function tryEscape({ ralph, cell, tools, services }, { sh, outside }) {
  const { base, abstract, close } = await createMachine()
  try {
    const cwd = join(base, 'project')
    const left = `7311.${Math.trunc(Math.random() * 1e9)}1`
    const sprintDir = join(cwd, '.claude/sprints/s1')
    const folder = join(sprintDir, 'attempts/1-1')
    const env = {
      PATH: process.env.PATH,
      HOME: join(base, 'home'),
      LC_ALL: 'C',
      OUTSIDE: join(base, 'outside'),
      HOST_TMP: join(base, 'outside'),
      PROJECT: cwd,
      SPRINT: sprintDir,
      ATTEMPT: folder,
      PACKAGE: packageFolder,
      OUTER_PID: `${process.pid}`,
      ORIGIN_PORT: `${services.originPort}`,
      TLS_PORT: `${services.tlsPort}`,
      ABSTRACT: abstract,
      LEFT: left,
    }
    const network = {
      allow: ['registry.npmjs.org', 'public.test', `inside.test:${services.originPort}`],
      private: [`allowed.test:${services.originPort}`, `allowed.test:${services.tlsPort}`],
    }
    const names = { 'allowed.test': ['127.0.0.1'], 'inside.test': ['127.0.0.1'], 'public.test': ['127.0.0.1'] }
    const resolve = async (host) => names[host] ?? Promise.reject(new Error(`${host} has no address`))
    const driver = {
      name: 'claude',
      state: () => ['.claude'],
      settings: () => ['.claude/settings.json', '.claude/commands'],
    }
    const spec = { network, limits: {}, read: [], write: [], keys: 'real' }
    const sandbox = ralph.openSandbox({ cell, tools, spec, ralphHomes: [join(base, 'home/.ralph')], resolve })
    const command = { file: '/bin/sh', args: ['-c', `echo BEGIN\n${sh}`], env }
    const place = { driver, folder, sprintDir, cwd }
    const wrapped = cell.kind === 'none' ? command : await sandbox.around(command, place)
    const job = { folder, ...wrapped, cwd, stdin: '', files: { 'mcp-token': 'x\n' }, mark: folder, graceMs: 500 }
    const until = AbortSignal.timeout(20_000)
    const end = await ralph.superviseProcess({ ...job, onOutput: () => {}, overdue: () => undefined, signal: until })
    if (cell.kind !== 'none') await sandbox.clear(place)
    const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '')
    const look = {
      home: (name) => read(join(base, 'home', name)),
      has: (name) => existsSync(join(base, name)),
      hostHas: existsSync,
      groupKilled: end.lost,
      setUserIds: setUserIdFiles(base),
      hostname: hostname(),
      left: await isLeft(`sleep\0${left}`),
      tls: services.seen.tls,
    }
    const isCut = !read(join(folder, 'transcript.jsonl')).startsWith('BEGIN')
    const errors = read(join(folder, 'stderr.log')).trim().split('\n').at(-1) ?? ''
    return { escaped: end.code === 0 || isCut || outside?.(look) === true, code: end.code, errors }
  } finally {
    close()
  }
}

const setUserIdFiles = (folder) =>
  readdirSync(folder, { recursive: true }).filter((name) => {
    const found = lstatSync(join(folder, name), { throwIfNoEntry: false })
    return found?.isFile() && (found.mode & 0o4000) !== 0
  })

/** Looks again for a moment: what is being killed may still be there. */
async function isLeft(text) {
  for (let tries = 0; tries < 20; tries++) {
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
