import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { anIo } from '../../../test/support/an-io.ts'
import { aFolder } from '../../../test/support/folder.ts'
import { isProject, projectIn } from './project-agent.ts'

const inFolder = (cwd: string, env = {}) => anIo({ cwd, env }).io

it.each([
  ['a repository', '.git', true],
  ['a folder with sprints', '.claude/sprints', true],
  ['any other folder', 'src', false],
])('accepts %s as a project: %#', (_, name, expected) => {
  const folder = aFolder()
  mkdirSync(join(folder, name), { recursive: true })

  expect(isProject(inFolder(folder))).toBe(expected)
})

it('accepts neither a home folder nor the root of the disk as a project', () => {
  const home = aFolder()
  mkdirSync(join(home, '.git'))

  expect([isProject(inFolder(home, { HOME: home })), isProject(inFolder('/'))]).toEqual([false, false])
})

it('chooses the first installed agent program, and says so if there is none', () => {
  const folder = aFolder()
  const named = { folder, name: basename(folder) }
  expect(projectIn(inFolder(folder, { PATH: folder }))).toEqual({
    ...named,
    program: 'claude',
    problem: expect.stringMatching(/^install one of claude, codex/),
  })

  writeFileSync(join(folder, 'codex'), '#!/bin/sh\n')
  chmodSync(join(folder, 'codex'), 0o755)
  expect(projectIn(inFolder(folder, { PATH: folder }))).toEqual({ ...named, program: 'codex' })
})
