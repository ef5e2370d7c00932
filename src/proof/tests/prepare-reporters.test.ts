import { fileURLToPath } from 'node:url'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { keepReporters, prepareReporters, writeReporters } from './prepare-reporters.ts'

const assets = fileURLToPath(new URL('../../../assets/reporters', import.meta.url))
const prepare = (env: Readonly<Record<string, string>>, outputFolder = '/out', runners?: readonly string[]) =>
  prepareReporters({ outputFolder, assets, env, ...(runners && { runners }) })

const folder = mkdtempSync(join(tmpdir(), 'ralph-reporters-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the environment that switches reporters on', () => {
  it('keeps what the variables hold already', async () => {
    const before = {
      PATH: '/usr/bin',
      NODE_OPTIONS: '--max-old-space-size=100',
      PYTHONPATH: '/own',
      GOFLAGS: '-mod=readonly',
      RUBYLIB: '/lib',
      PHP_INI_SCAN_DIR: '/php',
      BUN_OPTIONS: '--bail',
      SPEC_OPTS: '--fail-fast',
    }
    const { env } = await prepare(before)
    expect(Object.fromEntries(Object.keys(before).map((name) => [name, env[name]]))).toEqual({
      PATH: '/out/reporters/path:/usr/bin',
      NODE_OPTIONS: '--require "/out/reporters/node/hook.cjs" --max-old-space-size=100',
      PYTHONPATH: '/out/reporters/python:/own',
      GOFLAGS: '-mod=readonly -exec=/out/reporters/shell/go.sh -count=1',
      RUBYLIB: '/out/reporters/ruby:/lib',
      PHP_INI_SCAN_DIR: '/php:/out/reporters/php',
      BUN_OPTIONS: '--bail --reporter=junit --reporter-outfile=/out/reports/bun-0.xml',
      SPEC_OPTS: `--fail-fast --require '/out/reporters/ruby/check_report_rspec.rb' --format progress`,
    })
  })

  it('leaves alone what it would replace', async () => {
    const runner = 'CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER'
    const { env } = await prepare({ GOFLAGS: '-exec=/own', [runner]: 'qemu' })
    expect([env['GOFLAGS'], env[runner]]).toEqual([undefined, undefined])
  })

  it('quotes a folder with a space, or does without the variables that know no quotes', async () => {
    const { env } = await prepare({}, '/my out')
    expect([env['NODE_OPTIONS'], env['GOFLAGS'], env['BUN_OPTIONS']]).toEqual([
      '--require "/my out/reporters/node/hook.cjs"',
      undefined,
      undefined,
    ])
  })

  it('holds only what the chosen runners need', async () => {
    expect(Object.keys((await prepare({}, '/out', ['pytest'])).env)).toEqual(['PYTHONPATH'])
  })

  it('stays where a command sets a PYTHONPATH of its own', () => {
    const kept = (command: string) => keepReporters(command, '/out')
    expect(kept('PYTHONPATH=src pytest -q && PYTHONPATH="a:b" pytest')).toBe(
      'PYTHONPATH=/out/reporters/python:src pytest -q && PYTHONPATH="/out/reporters/python:a:b" pytest',
    )
    expect(kept('PYTHONPATH= MY_PYTHONPATH=src pytest')).toBe('PYTHONPATH= MY_PYTHONPATH=src pytest')
  })

  it.each([
    'PYTHONPATH=src show',
    'PYTHONPATH="src" show',
    "PYTHONPATH='src' show",
    'export PYTHONPATH=src; show',
    `sh -c 'cd . && PYTHONPATH=src show'`,
    `sh -c 'cd . && PYTHONPATH="src" show'`,
    `sh -c "cd . && PYTHONPATH=src show"`,
    `sh -c "echo 'a b' >&2; PYTHONPATH='src' show"`,
    `sh -c "cd . && PYTHONPATH=\\"src\\" show"`,
    `# it's\nPYTHONPATH=src show`,
  ])('stays whatever the path of the state contains: %s', (command) => {
    for (const path of ['/out', '/John Doe/out', `/it's/$HOME/"a"\\b`]) {
      const kept = keepReporters(command.replace('show', 'printenv PYTHONPATH'), path)
      const { stdout } = spawnSync('/bin/sh', ['-c', kept], { encoding: 'utf8' })
      expect(stdout).toBe(`${path}/reporters/python:src\n`)
    }
  })

  it('names nothing of Ralph', async () => {
    const { env } = await prepare({})
    expect(Object.entries(env).filter(([name, value]) => /ralph/i.test(name + value))).toEqual([])
  })

  it('is taken back by the script that the wrappers read, whatever the variables held', async () => {
    const before = { PATH: process.env['PATH'] ?? '', PYTHONPATH: "/it's own", GOFLAGS: '' }
    const prepared = await prepare(before, folder)
    await writeReporters(prepared, folder)
    const script = `. ${folder}/reporters/clear-environment.sh; printf '%s|%s|%s' "$PATH" "$PYTHONPATH" "\${GOFLAGS-unset}"`
    const { stdout } = spawnSync('/bin/sh', ['-c', script], { env: { ...before, ...prepared.env }, encoding: 'utf8' })
    expect(stdout).toBe(`${before.PATH}|${before.PYTHONPATH}|unset`)
  })

  it('comes with programs that can be started', async () => {
    await writeReporters(await prepare({}, folder), folder)
    const modes = ['shell/go.sh', 'shell/cargo.sh', 'path/deno', 'path/ctest', 'node/hook.cjs'].map(
      (name) => statSync(join(folder, 'reporters', name)).mode & 0o111,
    )
    expect(modes).toEqual([0o111, 0o111, 0o111, 0o111, 0])
  })
})

describe('chosen tests of node:test', () => {
  it('start no file without one of them', async () => {
    const project = join(folder, 'project')
    mkdirSync(project)
    const load = (name: string) =>
      `require('fs').writeFileSync('loaded-${name}', ''); require('node:test')('${name}', () => {})`
    for (const name of ['a', 'b']) writeFileSync(join(project, `${name}.test.js`), load(name))
    const out = join(folder, 'chosen')
    const only = [{ file: 'a.test.js', name: 'a', status: 'failed' as const }]
    const prepared = await prepareReporters({
      outputFolder: out,
      assets,
      env: { PATH: process.env['PATH'] ?? '' },
      only,
    })
    await writeReporters(prepared, out)
    const { env } = prepared
    const { status } = spawnSync(process.execPath, ['--test'], { cwd: project, env })
    expect([status, ...readdirSync(project).filter((name) => name.startsWith('loaded'))]).toEqual([0, 'loaded-a'])
  })
})
