import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../test/support/folder.ts'
import { git } from './git.ts'

it('returns a diff that git applies, whatever the configuration says about diffs', async () => {
  const cwd = createTestFolder()
  const run = (...args: readonly string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' })
  run('init', '-q')
  const settings = { 'diff.noprefix': 'true', 'diff.suppressBlankEmpty': 'true', 'color.diff': 'always' }
  for (const [name, value] of Object.entries(settings)) run('config', name, value)
  const file = join(cwd, 'a.txt')
  writeFileSync(file, 'old\n\n')
  run('add', '.')
  writeFileSync(file, 'new\n\n')

  const patch = await git({ cwd }, 'diff')
  expect(patch.split('\n').slice(2)).toEqual(['--- a/a.txt', '+++ b/a.txt', '@@ -1,2 +1,2 @@', '-old', '+new', ' '])
  run('checkout', '--', 'a.txt')
  execFileSync('git', ['apply'], { cwd, input: `${patch}\n` })
  expect(readFileSync(file, 'utf8')).toBe('new\n\n')
})
