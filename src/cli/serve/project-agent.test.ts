import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestIo } from '../../../test/support/test-io.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { isProject, describeProject } from './project-agent.ts'

const createIoIn = (cwd: string, env = {}) => createTestIo({ cwd, env }).io

it.each([
  ['a repository', '.git', true],
  ['a folder with sprints', '.claude/sprints', true],
  ['any other folder', 'src', false],
])('accepts %s as a project: %#', (_, name, expected) => {
  const folder = createTestFolder()
  mkdirSync(join(folder, name), { recursive: true })

  expect(isProject(createIoIn(folder))).toBe(expected)
})

it('accepts neither a home folder nor the root of the disk as a project', () => {
  const home = createTestFolder()
  mkdirSync(join(home, '.git'))

  expect([isProject(createIoIn(home, { HOME: home })), isProject(createIoIn('/'))]).toEqual([false, false])
})

it('chooses the first installed agent program, and says so if there is none', () => {
  const folder = createTestFolder()
  const named = { folder, name: basename(folder) }
  expect(describeProject(createIoIn(folder, { PATH: folder }))).toEqual({
    ...named,
    program: 'claude',
    problem: expect.stringMatching(/^install one of claude, codex/),
  })

  writeFileSync(join(folder, 'codex'), '#!/bin/sh\n')
  chmodSync(join(folder, 'codex'), 0o755)
  expect(describeProject(createIoIn(folder, { PATH: folder }))).toEqual({ ...named, program: 'codex' })
})
