import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { compile } from '../src/compiler/compile.ts'
import { ralphProgram, root } from './support/paths.ts'
import { createTestSprint } from './support/sprint.ts'

const read = (...names: readonly string[]): string => readFileSync(join(root, 'plugin', ...names), 'utf8')

/** The manifest fields that we use, as Claude Code 2.1 documents them; an unknown one is a mistake. */
const Manifest = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  description: z.string().min(50).max(200),
  author: z.strictObject({ name: z.string(), email: z.string().optional(), url: z.url().optional() }),
  homepage: z.url().optional(),
  repository: z.string().optional(),
  license: z.literal('MIT'),
  keywords: z.array(z.string()),
})

const Frontmatter = z.strictObject({
  description: z.string().min(1).max(60),
  'argument-hint': z.string(),
  'allowed-tools': z.string().regex(/^Bash\(ralph [a-z]+:\*\)(, Bash\(ralph [a-z]+:\*\))*$/),
})

/** What each command must call. */
const expected = {
  'run-sprint': 'run',
  'init-sprint': 'init',
  'sprint-status': 'status',
  'pause-sprint': 'pause',
  'resume-sprint': 'resume',
  'stop-sprint': 'stop',
  'add-step': 'tell',
  'start-sprint': 'run',
  'import-steps': 'init',
  'sprint-watch': 'watch',
  'cleanup-sprint': 'doctor',
  help: 'status',
  'ralph-mode': 'run',
}
const names = readdirSync(join(root, 'plugin', 'commands')).map((file) => file.replace(/\.md$/, ''))

it('has a manifest of the current format, with the version of the package', () => {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))

  expect(Manifest.parse(JSON.parse(read('.claude-plugin', 'plugin.json')))).toMatchObject({
    name: 'ralph-mode',
    version,
  })
})

it('is in the marketplace of this repository', () => {
  const text = readFileSync(join(root, '.claude-plugin', 'marketplace.json'), 'utf8')
  const { plugins } = z
    .object({ plugins: z.array(z.object({ name: z.string(), source: z.string() })) })
    .parse(JSON.parse(text))

  expect(plugins).toEqual([{ name: 'ralph-mode', source: './plugin' }])
})

it('has a skill whose example compiles', () => {
  const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(read('skills', 'write-sprint', 'SKILL.md')) ?? []
  expect(parse(head)).toEqual({ name: 'write-sprint', description: expect.stringMatching(/^.{100,1000}$/) })

  const [, sprint = ''] = /^```yaml\n(.*?)^```$/ms.exec(body) ?? []
  const { diagnostics, progress } = compile({
    sprint: { file: 'SPRINT.yaml', text: sprint },
    readWorkflow: () => ({
      file: 'ralph.yaml',
      text: readFileSync(join(root, 'assets/workflows/ralph.yaml'), 'utf8'),
    }),
    defaultSprintId: 'example',
    at: 0,
  })
  expect({ diagnostics, status: progress?.status }).toEqual({ diagnostics: [], status: 'not-started' })
})

it('has the commands, and its page names them', () => {
  expect(new Set(names)).toEqual(new Set(Object.keys(expected)))
  expect(names.filter((name) => !read('README.md').includes(`/ralph-mode:${name}`))).toEqual([])
})

describe('ralph plugin', () => {
  it('writes nothing without a yes, and removes everything that it wrote', async () => {
    const sprint = await createTestSprint()
    const before = await sprint.contents()

    expect(await sprint.ralph('plugin', 'install')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('plugin install asks before it changes 13 files'),
    })
    expect(await sprint.contents()).toEqual(before)
    expect(await sprint.ralph('plugin', 'install', '--yes')).toMatchObject({ exitCode: 0 })
    expect(sprint.has('.claude/commands/run-sprint.md')).toBe(true)
    expect((await sprint.ralph('plugin', 'install', '--yes')).stdout).toBe('nothing to do\n')
    expect(await sprint.ralph('plugin', 'remove', '--yes')).toMatchObject({ exitCode: 0 })
    expect(Object.keys(await sprint.contents())).toEqual([...Object.keys(before), '.claude'].toSorted())
  })

  it('keeps what the user wrote or edited, and says so', async () => {
    const sprint = await createTestSprint({ files: { '.claude/commands/add-step.md': 'my own\n' } })
    const install = await sprint.ralph('plugin', 'install', '--yes')
    const edited = `${await sprint.read('.claude/commands/run-sprint.md')}Be brief.\n`
    await sprint.write('.claude/commands/run-sprint.md', edited)

    expect(install.exitCode).toBe(1)
    expect(install.stdout).toContain('.claude/commands/add-step.md kept: Ralph did not write it')
    expect((await sprint.ralph('plugin', 'remove', '--yes')).stdout).toContain('run-sprint.md kept: you edited it')
    expect(await sprint.read('.claude/commands/run-sprint.md')).toBe(edited)
    expect(await sprint.read('.claude/commands/add-step.md')).toBe('my own\n')
  })
})

describe.each(Object.entries(expected))('/%s', (name, command) => {
  const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(read('commands', `${name}.md`)) ?? []
  const { 'allowed-tools': allowed } = Frontmatter.parse(parse(head))
  const called = [...body.matchAll(/`ralph ([a-z]+)([^`]*)`/g)].map(([, to = '', rest = '']) => ({ to, rest }))

  it(`calls ralph ${command} with the given arguments`, () => {
    expect(called.map(({ to }) => to)).toContain(command)
    expect(body).toContain('$ARGUMENTS')
  })

  it('may use what it calls, and nothing else', () => {
    const tools = [...allowed.matchAll(/ralph ([a-z]+)/g)].map(([, to]) => to)
    // Only the user may answer.
    expect(new Set(tools)).toEqual(new Set(called.map(({ to }) => to).filter((to) => to !== 'answer')))
  })

  it('passes only options that the program has', async () => {
    for (const { to, rest } of called) {
      const { stdout } = await promisify(execFile)(process.execPath, [ralphProgram, to, '--help'])
      expect((rest.match(/--[a-z-]+/g) ?? []).filter((flag) => !stdout.includes(` ${flag}`))).toEqual([])
    }
  })
})
