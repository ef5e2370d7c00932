import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../test/support/folder.ts'
import { git } from './git.ts'
import { pathOutside } from './safe-path.ts'

async function createProject() {
  const base = createTestFolder()
  const project = join(base, 'project')
  for (const name of ['.git', 'node_modules/.bin', 'packages/a']) await mkdir(join(project, name), { recursive: true })
  await mkdir(join(base, 'tools'))
  await symlink(join(project, 'node_modules/.bin'), join(base, 'linked'))
  return { base, project, own: join(project, 'node_modules/.bin'), tools: join(base, 'tools') }
}

it('leaves out folders of the project, also by a link and for a package in it, and keeps all others', async () => {
  const { base, project, own, tools } = await createProject()
  const path = [own, tools, join(base, 'linked'), 'node_modules/.bin', '', project, '/usr/bin'].join(':')
  expect(pathOutside(path, project)).toBe(`${tools}:/usr/bin`)
  expect(pathOutside(path, join(project, 'packages/a'))).toBe(`${tools}:/usr/bin`)
  expect(pathOutside(`${own}:/usr/bin`, '/')).toBe(`${own}:/usr/bin`)
})

it('keeps a git that an agent put on PATH from being run', async () => {
  const { base, project, own } = await createProject()
  await writeFile(join(own, 'git'), `#!/bin/sh\ntouch '${base}/ran'\n`)
  await chmod(join(own, 'git'), 0o755)
  const path = process.env['PATH']
  process.env['PATH'] = `${own}:${path}`
  try {
    expect(await git({ cwd: project }, '--version')).toMatch(/^git version/)
  } finally {
    process.env['PATH'] = path
  }
})
