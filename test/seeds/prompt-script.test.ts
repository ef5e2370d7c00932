import { execFile, execFileSync } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Mode } from '../../src/contract/progress.ts'
import { ralphProgram, root } from '../support/paths.ts'
import { createTestSprint, type TestSprint } from '../support/sprint.ts'

const script = join(root, 'plugin/scripts/build-ralph-prompt.sh')

/** Runs the script as a loop in bash does: build-ralph-prompt.sh SPRINT_DIR MODE ITERATION. */
async function runScript(sprint: TestSprint, ...args: readonly string[]) {
  await sprint.write('../path/ralph', `#!/bin/sh\nexec '${process.execPath}' '${ralphProgram}' "$@"\n`)
  await chmod(sprint.at('../path/ralph'), 0o755)
  const env = { HOME: sprint.at('../home'), PATH: `${sprint.at('../path')}:/usr/bin:/bin` }
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) =>
    execFile(script, args, { cwd: sprint.at(), env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    ),
  )
}

describe('003:217-227, the eight scenarios', () => {
  it('1 to 3: the script exists, is executable, and passes bash -n (rows 49, 215-217)', () => {
    expect(() => accessSync(script, constants.X_OK)).not.toThrow()
    expect(execFileSync('bash', ['-n', script], { encoding: 'utf8' })).toBe('')
  })

  it('4 to 7: the workflow exists, is YAML, has mode: ralph and an array of hooks (rows 218-221)', async () => {
    const sprint = await createTestSprint()
    expect(await sprint.ralph('init', 'x', '--goal', 'g', '--yes', '--write-workflow')).toMatchObject({ exitCode: 0 })
    const text = await sprint.read('.claude/workflows/ralph.yaml')
    expect(text).toBe(readFileSync(join(root, 'assets/workflows/ralph.yaml'), 'utf8'))
    expect(parse(text)).toMatchObject({ mode: 'ralph', 'per-iteration-hooks': expect.any(Array) })
  })

  it.each(Mode.options)(
    '8: the script handles %s, with the arguments of 003:193-198 (rows 204, 214, 222)',
    async (mode) => {
      const sprint = await createTestSprint({ sprint: { goal: 'Ship it', steps: ['write it'] } })
      await sprint.compile()
      const { code, stdout } = await runScript(sprint, 's', mode, '7')
      expect(code).toBe(0)
      for (const text of [mode, 'iteration 7', 'Ship it']) expect(stdout).toContain(text)
    },
  )

  it('prints the prompts of 000 when the workflow says protocol: classic', async () => {
    const sprint = await createTestSprint({ workflow: { protocol: 'classic' }, sprint: { goal: 'Ship it' } })
    await sprint.compile()
    const { stdout } = await runScript(sprint, 's', 'planning', '2')
    expect(stdout).toMatch(/^# Ralph Mode: Goal Analysis\n/)
    expect(stdout).toContain('"added-in-iteration": 2}]')
    expect(stdout).toContain('RALPH_COMPLETE: [summary]')
  })

  it('reads the PROGRESS.yaml of 000:119-173 as it is', async () => {
    const progress = readFileSync(join(root, 'test/fixtures/seeds/000-progress.yaml'), 'utf8')
    const sprint = await createTestSprint({ files: { 's/PROGRESS.yaml': progress } })
    const { code, stdout } = await runScript(sprint, 's', 'executing', '3')
    expect(code).toBe(0)
    expect(stdout).toContain('Implement JWT token generation')
    expect(await sprint.read('s/PROGRESS.yaml')).toBe(progress)
  })
})

it.each([
  ['no folder', [], 'Error: Valid sprint directory required\n'],
  ['a folder that is not there', ['nowhere', 'planning', '1'], 'Error: Valid sprint directory required\n'],
  ['no PROGRESS.yaml', ['s', 'planning', '1'], 'Error: PROGRESS.yaml not found\n'],
])('003:8-36: with %s the script says so on stderr and exits with 1 (row 201)', async (_, args, stderr) => {
  const sprint = await createTestSprint()
  expect(await runScript(sprint, ...args)).toEqual({ code: 1, stdout: '', stderr })
})

it('refuses an unknown mode and an iteration that is no number', async () => {
  const sprint = await createTestSprint()
  await sprint.compile()
  expect(await runScript(sprint, 's', 'dreaming', '1')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Error: mode/),
  })
  expect(await runScript(sprint, 's', 'planning', 'one')).toMatchObject({ code: 1, stdout: '' })
})
