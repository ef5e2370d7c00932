import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const proceed = (run?: string) => ({
  ...(run !== undefined && { run }),
  report: { status: 'continue', summary: 'on', pendingSteps: [{ id: null, prompt: run ?? 'more' }] },
})
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

it.each([
  ['cleans the repository', 'git clean -fdxq'],
  ['deletes the sprint', 'rm -rf s'],
  ['deletes the journal', 'rm -rf "$HOME"/.ralph/state/*/journal'],
  ['deletes the lock', 'rm "$HOME"/.ralph/state/*/.lock'],
  ['deletes all state', 'rm -rf "$HOME/.ralph"'],
  ['deletes PROGRESS.yaml', 'rm s/PROGRESS.yaml'],
  ['breaks the repository', 'rm -rf .git/HEAD .git/refs'],
])('survives an agent that %s while it works, and loses nothing', async (_, destruction) => {
  const sprint = await createTestSprint({
    workflow: { 'per-iteration-hooks': [{ id: 'h', run: 'true', parallel: false }] },
    answers: { 1: proceed(), 2: proceed(destruction), 3: proceed(), 4: goalComplete },
  })
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: sprint.at(), stdio: 'ignore' })
  git('init', '--quiet')
  git('add', '.')
  git('-c', 'user.name=u', '-c', 'user.email=u@x', 'commit', '--quiet', '--message=first')

  expect(await sprint.run()).toMatchObject({ exitCode: 0, stderr: '' })

  const { status, iterations, 'dynamic-steps': steps } = await sprint.progress()
  expect(status).toBe('completed')
  expect(iterations?.map(({ number, attempts }) => [number, attempts])).toEqual(
    [1, 2, 3, 4].map((number) => [number, 1]),
  )
  expect(steps.map(({ prompt }) => prompt)).toEqual(['more', destruction, 'more'])
  expect(await sprint.calls()).toHaveLength(4)
  expect(existsSync(sprint.at('s/transcripts/iteration-2.jsonl'))).toBe(true)
  expect(await sprint.ralph('doctor', 's')).toMatchObject({ exitCode: 0 })
  // Ralph's own files stay out of the user's repository, even after this.
  expect(await sprint.read('s/.gitignore')).toContain('*')
})
