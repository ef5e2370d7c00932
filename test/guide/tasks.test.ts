import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { findFreePort } from '../support/free-port.ts'
import { fakeClaude, ralphProgram, root } from '../support/paths.ts'
import { testPostgres } from '../support/postgres.ts'
import { waitUntil } from '../support/sprint.ts'

/** Readers' tasks: the blocks of a page that are marked, run as they are written. */
const base = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-tasks-')))
const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started)
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}, 60_000)

const hasGit = existsSync(join(root, '.git'))
const hasOpenssl = spawnSync('openssl', ['version']).status === 0

it.runIf(hasGit)(
  'from install to a merged branch, with the pages alone',
  async () => {
    const home = createHome('first')
    const project = join(home, 'project')
    writeProgram('first', 'npm', npmProgram)
    writeProgram('first', 'claude', claudeProgram(home))
    const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'all tests pass' }
    const run = 'sed -i.bak "s/a - b/a + b/" sum.js && rm sum.js.bak'
    write(home, 'script.json', JSON.stringify({ answers: { '*': { run, report: claim } } }))
    write(project, 'package.json', '{ "type": "module", "scripts": { "test": "node --test" } }')
    write(project, 'sum.js', 'export const sum = (a, b) => a - b\n')
    write(project, 'sum.test.js', sumTest)
    const git = 'git init -q -b main && git add -A && git commit -q -m start'
    await shell('first', { cwd: project, text: git, env: {} })

    const env = { npm_config_prefix: join(home, 'prefix'), npm_config_offline: 'true' }
    const installed = await shell('first', { cwd: home, text: blocks('docs/start/install.md', 'task').join(''), env })
    expect(installed).toMatch(/^\d+\.\d+\.\d+$/m)
    const [dryRun, finish] = [/Make all tests pass/, /✓ goal reached/]
    const printed = await shell('first', {
      cwd: project,
      text: blocks('docs/start/first-sprint.md', 'task').join(''),
      env,
    })
    expect(printed).toMatch(dryRun)
    expect(printed).toMatch(finish)
    expect(readFileSync(join(project, 'sum.js'), 'utf8')).toContain('a + b')
    const log = await shell('first', {
      cwd: project,
      text: 'git log --format=%H main && git status --porcelain -- "*.js"',
      env,
    })
    expect(log.trim().split('\n')).toHaveLength(2)
  },
  300_000,
)

it('an overnight run, a hidden check and sprints of m42, with the guides alone', async () => {
  const home = createHome('guides')
  const project = join(home, 'project')
  writeProgram('guides', 'ralph', `exec '${process.execPath}' '${ralphProgram}' "$@"\n`)
  writeProgram('guides', 'claude', claudeProgram(home))
  const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'all tests pass' }
  const run = 'sed -i.bak "s/a - b/a + b/" sum.js && rm sum.js.bak'
  write(home, 'script.json', JSON.stringify({ answers: { '*': { run, report: claim } } }))
  write(project, 'package.json', '{ "type": "module", "scripts": { "test": "node --test" } }')
  write(project, 'sum.js', 'export const sum = (a, b) => a - b\n')
  write(project, 'sum.test.js', sumTest)
  write(join(project, 'test/acceptance'), 'more.test.js', sumTest.replace('./sum', '../../sum'))
  const sprint = 'workflow: ralph\ngoal: The sum is right\n'
  write(join(project, '.claude/sprints/2026-01-20_api'), 'SPRINT.yaml', sprint)
  const old = join(project, '.claude/sprints/2026-01-18_auth-feature')
  write(old, 'SPRINT.yaml', sprint)
  write(old, 'PROGRESS.yaml', readFileSync(join(root, 'test/fixtures/seeds/001-progress.yaml'), 'utf8'))
  const inProject = (text: string) => shell('guides', { cwd: project, text, env: {} })
  const all = async (page: string) => inProject(blocks(page, 'task').join(''))
  await inProject('git init -q -b main && git add -A && git commit -q -m start')

  const overnight = await all('docs/guides/overnight.md')
  expect(overnight).toMatch(/✓ goal reached[\s\S]*api +completed[\s\S]*a \+ b/)
  const migrated = await all('docs/guides/migrate.md')
  expect(migrated).toMatch(/auth-feature/)
  expect(existsSync(join(old, 'PROGRESS.yaml.imported'))).toBe(true)
  expect(await all('docs/guides/goals-and-checks.md')).toMatch(/held-out: project[\s\S]*test\/acceptance\/more/)
  expect(existsSync(join(project, 'test/acceptance'))).toBe(false)
}, 300_000)

it.runIf(hasOpenssl)(
  'two machines with Postgres and TLS from a private authority, with the page alone',
  async () => {
    const database = await (await testPostgres()).makeDatabase()
    for (const name of ['backend', 'build-1', 'build-2']) {
      mkdirSync(join(createHome(name), 'projects'))
      writeProgram(name, 'ralph', `exec '${process.execPath}' '${ralphProgram}' "$@"\n`)
    }
    write(base, 'hosts.cjs', hostsProgram)
    // The name of the page is this computer.
    const secret = 'a secret of the operator'.replaceAll(' ', '-')
    const env = {
      DATABASE_URL: database,
      RALPH_ADMIN_TOKEN: secret,
      NODE_OPTIONS: `--require=${join(base, 'hosts.cjs')}`,
    }
    const page = 'docs/guides/fleet.md'
    // The ports of the page may be in use on this computer.
    const [port, machinesPort] = [await findFreePort(), await findFreePort()]
    const withPorts = (text: string) =>
      text
        .replace('ralph serve ', `ralph serve --port ${port} `)
        .replaceAll('7257', `${port}`)
        .replaceAll('7258', `${machinesPort}`)
    const at = (name: string, text: string) => shell(name, { cwd: join(base, name), text: withPorts(text), env })
    const [certificates = '', tokens = '', check = '', people = ''] = blocks(page, 'on=backend')
    const [serve = ''] = blocks(page, 'on=backend background')

    await at('backend', certificates)
    const backend = startShell('backend', { cwd: join(base, 'backend'), text: withPorts(serve), env })
    await waitUntil('the backend', () => /ralph machine token/.test(backend.printed()))
    const printed = await at('backend', tokens)
    const joinTokens = [...new Set([...printed.matchAll(/ralph1\.[\w.-]+/g)].map(([token]) => token))]
    expect(joinTokens).toHaveLength(2)
    for (const [index, name] of ['build-1', 'build-2'].entries()) {
      const [join1 = ''] = blocks(page, `on=${name} background`)
      const text = withPorts(join1).replace('ralph1.…', joinTokens[index] ?? '')
      const machine = startShell(name, { cwd: join(base, name), text, env: { NODE_OPTIONS: env.NODE_OPTIONS } })
      await waitUntil(name, () => /connected/.test(machine.printed()))
    }
    const checked = await at('backend', check)
    expect(checked).toMatch(/build-1 .*active[\s\S]*build-2 .*active/)
    expect(checked).toMatch(/✓ TLS +trusted[\s\S]*✓ machines +2 connected/)
    const invitations = (await at('backend', people)).matchAll(/https:\/\/ralph\.example\.com:(\d+)\/\S+/g)
    expect([...invitations].map(([, shown]) => Number(shown))).toEqual([port, port])
  },
  300_000,
)

const sumTest = `import assert from 'node:assert'
import { test } from 'node:test'
import { sum } from './sum.js'
test('adds', () => assert.equal(sum(1, 2), 3))
`

/** `npm ci` and the build were done for this test run, with the same lockfile and the same command: what they made is put in place. */
const npmProgram = `case "$*" in
  ci) ln -s '${root}/node_modules' node_modules ;;
  'run build') cp -R '${root}/dist' dist && cp -R '${root}/bin' bin ;;
  *) exec '${join(dirname(process.execPath), 'npm')}' "$@" ;;
esac
`

/** Answers a call that is not a prompt, and plays the script otherwise. */
const claudeProgram = (folder: string) =>
  `test "$1" = -p || exec echo '2.1.0 (Claude Code)'\nexec '${process.execPath}' '${fakeClaude}' '${folder}' "$@"\n`

const hostsProgram = `const dns = require('node:dns')
const { lookup } = dns
dns.lookup = (host, ...rest) => lookup(host === 'ralph.example.com' ? '127.0.0.1' : host, ...rest)
`

/** The code of the blocks with exactly this mark behind their language. */
function blocks(page: string, mark: string): string[] {
  const fenced = [...readFileSync(join(root, page), 'utf8').matchAll(/^```sh (.+)\n([\s\S]*?)^```$/gm)]
  const found = fenced.filter(([, marked]) => marked === mark).map(([, , code = '']) => code)
  expect(found.length).toBeGreaterThan(0)
  return found
}

function createHome(name: string): string {
  mkdirSync(join(base, name, 'bin'), { recursive: true })
  write(join(base, name), '.gitconfig', gitSettings)
  return join(base, name)
}

const gitSettings = `[url "${root}"]\n  insteadOf = https://github.com/ralph-mode/ralph-mode.git\n[user]\n  name = A\n  email = a@example.com\n[safe]\n  directory = *\n`

function write(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), text)
}

function writeProgram(name: string, program: string, text: string): void {
  writeFileSync(join(base, name, 'bin', program), `#!/bin/sh\n${text}`, { mode: 0o755 })
}

type Script = { readonly cwd: string; readonly text: string; readonly env: Readonly<Record<string, string>> }

/** Runs a block as a user would paste it: each line, until one fails. */
async function shell(name: string, script: Script): Promise<string> {
  const running = startShell(name, script)
  const [code] = await once(running.child, 'close')
  if (code !== 0) throw new Error(`exit code ${String(code)}:\n${script.text}\n${running.printed()}`)
  return running.printed()
}

function startShell(name: string, { cwd, text, env }: Script): { child: ChildProcess; printed: () => string } {
  const home = join(base, name)
  const path = [join(home, 'bin'), join(home, 'prefix/bin'), dirname(process.execPath), process.env['PATH']].join(':')
  const child = spawn('/bin/sh', ['-e', '-c', text], {
    cwd,
    env: { PATH: path, HOME: home, LANG: 'C.UTF-8', NO_COLOR: '1', IS_SANDBOX: '1', TMPDIR: tmpdir(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  started.push(child)
  let printed = ''
  child.stdout.on('data', (part: Buffer) => (printed += part.toString()))
  child.stderr.on('data', (part: Buffer) => (printed += part.toString()))
  return { child, printed: () => printed }
}
