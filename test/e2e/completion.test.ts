import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

/** Presses Tab in bash after these words of a command line. */
const complete = (script: string, cwd: string, words: readonly string[]): string[] =>
  execFileSync(
    'bash',
    [
      '--norc',
      '-c',
      'eval "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ralph; echo "${COMPREPLY[*]}"',
      'bash',
      ...words,
    ],
    { cwd, env: { ...process.env, SCRIPT: script }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  )
    .trim()
    .split(/\s+/)

it.each([
  [['ralph', 'fini'], ['finish']],
  [['ralph', 'logs', 'gr'], ['gruesse-an-alle']],
  [
    ['ralph', 'run', '--work'],
    ['--worktree', '--workflows'],
  ],
  [['ralph', 'run', '--agent', 'clau'], ['claude']],
  [['ralph', 'machine', 'dr'], ['drain']],
  [['ralph', 'backup', 'check', 'fleet'], ['fleet.backup']],
  [
    ['ralph', 'completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
])('completes %j in bash', async (words, expected) => {
  const sprint = await createTestSprint({
    files: { '.claude/sprints/2026-11-15_gruesse-an-alle/SPRINT.yaml': 'goal: g\n', 'fleet.backup': '' },
  })
  const { stdout } = await sprint.ralph('completion', 'bash')

  expect(complete(stdout, sprint.at(), words)).toEqual(expected)
})
