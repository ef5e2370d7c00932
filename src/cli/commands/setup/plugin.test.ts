import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../../test/support/folder.ts'
import { createTestIo } from '../../../../test/support/test-io.ts'
import { exists } from '../../../platform/files/files.ts'
import { plugin } from './plugin.ts'

function createProject() {
  const cwd = createTestFolder()
  const home = createTestFolder()
  return {
    at: (...names: readonly string[]) => join(cwd, '.claude', ...names),
    atHome: (...names: readonly string[]) => join(home, '.claude', ...names),
    ralphPlugin: async (...args: readonly string[]) => {
      const { io, text } = createTestIo({ cwd, env: { HOME: home } })
      return { exitCode: await plugin.run(args, io), text: text() }
    },
  }
}

it('writes the short commands and the skill, and removes them again', async () => {
  const { at, ralphPlugin } = createProject()
  const installed = await ralphPlugin('install', '--yes')

  expect(installed.exitCode).toBe(0)
  expect(installed.text).toContain('type in Claude Code: ')
  expect(readFileSync(at('commands/run-sprint.md'), 'utf8')).toMatch(/^---\ndescription: Run a sprint/)
  expect(readFileSync(at('skills/write-sprint/SKILL.md'), 'utf8')).toMatch(/^---\nname: write-sprint/)
  // Claude Code has its own.
  expect(exists(at('commands/help.md'))).toBe(false)
  expect((await ralphPlugin('list')).text).toMatch(/^(current {3}\S+\n?){13}$/)
  expect(await ralphPlugin('install', '--yes')).toEqual({ exitCode: 0, text: 'nothing to do' })

  expect(await ralphPlugin('remove', '--yes')).toMatchObject({ exitCode: 0 })
  expect((await ralphPlugin('list')).text).toMatch(/^(missing {3}\S+\n?){13}$/)
})

it('keeps files that Ralph did not write, that the user edited, and links', async () => {
  const { at, ralphPlugin } = createProject()
  mkdirSync(at('commands'), { recursive: true })
  writeFileSync(at('commands/run-sprint.md'), 'of m42')
  writeFileSync(at('target.md'), 'elsewhere')
  symlinkSync(at('target.md'), at('commands/add-step.md'))

  expect(await ralphPlugin('install', '--yes')).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining('.claude/commands/run-sprint.md kept: Ralph did not write it'),
  })
  const edited = readFileSync(at('commands/stop-sprint.md'), 'utf8').replace('Run `ralph stop', 'Ask, then `ralph stop')
  writeFileSync(at('commands/stop-sprint.md'), edited)

  expect(await ralphPlugin('remove', '--yes')).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining('.claude/commands/stop-sprint.md kept: you edited it'),
  })
  expect(
    ['run-sprint', 'add-step', 'stop-sprint'].map((name) => readFileSync(at(`commands/${name}.md`), 'utf8')),
  ).toEqual(['of m42', 'elsewhere', edited])
})

it('writes to the home folder with --user', async () => {
  const { at, atHome, ralphPlugin } = createProject()
  const { text } = await ralphPlugin('install', '--user', '--yes', '--json')

  expect(JSON.parse(text)).toMatchObject({
    kept: [],
    changed: expect.arrayContaining([atHome('commands/run-sprint.md')]),
  })
  expect([exists(at()), exists(atHome('commands/run-sprint.md'))]).toEqual([false, true])
})

it('changes nothing without a confirmation, and refuses unknown calls', async () => {
  const { at, ralphPlugin } = createProject()

  await expect(ralphPlugin('install')).rejects.toMatchObject({ code: 'USAGE', hint: expect.stringContaining('--yes') })
  await expect(ralphPlugin('instal', '--yes')).rejects.toMatchObject({ code: 'USAGE' })
  await expect(ralphPlugin('install', '--user', '--project')).rejects.toMatchObject({ code: 'USAGE' })
  expect(exists(at())).toBe(false)
})
