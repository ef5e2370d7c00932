import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { createProjectFiles } from './project-files.ts'

it.each([
  ['outside of it', '../outside'],
  ['into its git folder', '.git'],
  ['into its git folder', '.git/modules/ci'],
])('refuses to write a kept file through a link that leads %s', async (where, target) => {
  const { project, files, hash } = await keepFile()
  const victim = join(project, target, 'config')
  mkdirSync(join(victim, '..'), { recursive: true })
  writeFileSync(victim, 'of the user')
  rmSync(join(project, 'ci'), { recursive: true })
  symlinkSync(target, join(project, 'ci'))

  await expect(files.restore('ci/config', hash)).rejects.toMatchObject({
    code: 'FILE_UNWRITABLE',
    message: `a symbolic link in the project leads ${where}`,
  })
  expect(readFileSync(victim, 'utf8')).toBe('of the user')
})

it('writes a kept file back, also through a link within the project', async () => {
  const { project, files, hash } = await keepFile()
  rmSync(join(project, 'ci'), { recursive: true })
  mkdirSync(join(project, 'tools'))
  symlinkSync('tools', join(project, 'ci'))
  await files.restore('ci/config', hash)

  expect(readFileSync(join(project, 'tools/config'), 'utf8')).toBe('kept')
})

async function keepFile() {
  const project = join(createTestFolder(), 'project')
  mkdirSync(join(project, 'ci'), { recursive: true })
  writeFileSync(join(project, 'ci/config'), 'kept')
  const files = createProjectFiles(project, join(project, 'sprint'))
  return { project, files, hash: await files.store('ci/config') }
}
