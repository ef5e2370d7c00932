import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { fakeClaude, root } from '../support/paths.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-clone-')))
const at = (...names: readonly string[]) => join(base, ...names)
afterAll(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }))

/** What a newcomer types, in order: three commands in the clone, two in the project, and no path in any of them. */
const typed = [
  ['clone', 'npm ci'],
  ['clone', 'npm run build'],
  ['clone', 'npm link'],
  ['project', 'ralph run "Make all tests pass"'],
  ['project', 'ralph finish --commit'],
] as const

it('goes from a fresh clone to a committed sprint on the own project in five commands', { timeout: 900_000 }, () => {
  for (const name of ['home', 'bin', 'fake', 'prefix', 'project']) mkdirSync(at(name))
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, at('clone')])
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: at('project'), encoding: 'utf8' }).trim()
  writeFileSync(at('project', 'Makefile'), 'test:\n\ttest -f done\n')
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.invalid')
  git('add', '.')
  git('commit', '--quiet', '--message=start')
  const claim = { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'all done' }
  writeFileSync(
    at('fake', 'script.json'),
    JSON.stringify({ answers: { '*': { run: 'touch done', report: claim } }, progress: '' }),
  )
  const words = [process.execPath, fakeClaude, at('fake')].map((word) => `'${word}'`)
  writeFileSync(at('bin', 'claude'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 })

  for (const [folder, command] of typed) {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
      cwd: at(folder),
      env: env(),
      encoding: 'utf8',
    })
    expect({ command, status, said: status === 0 ? '' : `${stdout}${stderr}`.slice(-2000) }).toEqual({
      command,
      status: 0,
      said: '',
    })
  }
  expect(git('log', '--format=%an %s')).toBe('Ada Make all tests pass\nAda start')
  expect(git('status', '--porcelain')).toBe('')
})

const env = () => ({
  PATH: [at('bin'), at('prefix', 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
  HOME: at('home'),
  LANG: 'C.UTF-8',
  IS_SANDBOX: '1',
  npm_config_prefix: at('prefix'),
  npm_config_cache: process.env['npm_config_cache'] ?? join(process.env['HOME'] ?? '', '.npm'),
  npm_config_userconfig: process.env['npm_config_userconfig'] ?? join(process.env['HOME'] ?? '', '.npmrc'),
})
