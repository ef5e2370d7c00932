import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'
import { inTerminal } from '../support/terminal.ts'

const goes = { status: 'continue', summary: 'On it.', pendingSteps: [{ id: null, prompt: 'Peel the potatoes.' }] }
const shows = '\u001b[?25h'
const hides = '\u001b[?25l'

it('shows a run on a terminal and handles its keys: help, message, pause; restores the terminal', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [] },
    answers: { '1': { report: goes }, '2': { waits: 'go', report: { status: 'continue', summary: 'More.' } } },
  })
  const terminal = inTerminal(sprint, ['run', 's', '--workflows', 'wf'])
  await sprint.called(2)
  await terminal.sees('● Peel the potatoes.')
  terminal.type('?')
  await terminal.sees('p pause after this iteration')
  terminal.type('t')
  await terminal.sees('message to the agent')
  terminal.type('with a knife\r')
  await terminal.sees('sent with the next prompt')
  terminal.type('p')
  await terminal.sees('pausing after this iteration')
  await sprint.release('go')

  expect(await terminal.ended).toBe(4)
  expect(terminal.shown()).toMatch(/■ paused[\s\S]*resume with: ralph run s/)
  expect(await sprint.progress()).toMatchObject({ status: 'paused', messages: [{ text: 'with a knife' }] })
  expect(terminal.raw().lastIndexOf(shows)).toBeGreaterThan(terminal.raw().lastIndexOf(hides))
})

it('stops immediately on s and n, and leaves no process behind', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [] },
    answers: { '1': { waits: 'never', report: goes } },
  })
  const terminal = inTerminal(sprint, ['run', 's', '--workflows', 'wf'])
  await sprint.called(1)
  await terminal.sees('planning')
  terminal.type('s')
  await terminal.sees('stop: i after the iteration')
  terminal.type('n')

  expect(await terminal.ended).toBe(130)
  expect(await sprint.progress()).toMatchObject({ status: 'interrupted' })
  expect(sprint.processes()).toEqual([])
})

it('opens what the cursor is on: iteration, transcript, changes, checks, prompt; searches; withdraws a pause', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [{ run: 'echo the check speaks; false', 'each-iteration': true }] },
    answers: { '1': { report: goes }, '2': { waits: 'go', report: { status: 'continue', summary: 'More.' } } },
  })
  const terminal = inTerminal(sprint, ['run', 's', '--workflows', 'wf'])
  await sprint.called(2)
  await terminal.sees('Enter open')
  terminal.type('\r')
  await terminal.sees('› ● iteration 2')
  terminal.type('\u001b[B')
  await terminal.sees('iteration 1')
  terminal.type('\r')
  await terminal.sees('transcript: what the agent said and did')
  terminal.type('\u001b[B\u001b[B\r')
  await terminal.sees('checks of iteration 1')
  await terminal.sees('the check speaks')
  terminal.type('\u001b')
  await terminal.sees('› check output')
  terminal.type('\u001b[B\r')
  await terminal.sees('prompt of iteration 1')
  terminal.type('/')
  await terminal.sees('search (Enter finds')
  terminal.type('goal\r')
  await terminal.sees('"goal"')
  terminal.type('q')
  await terminal.sees('Enter open')
  terminal.type('p')
  await terminal.sees('p again withdraws it')
  terminal.type('p')
  await terminal.sees('the pause is withdrawn')
  terminal.type('s')
  await terminal.sees('stop: i after the iteration')
  terminal.type('n')

  expect(await terminal.ended).toBe(130)
})

it('shows the changes by file, coloured, with the branch and the counted lines in the head', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [] },
    files: { 'a.txt': 'one\n' },
    answers: {
      '1': { run: 'echo two > a.txt; echo new > b.txt', report: goes },
      '2': { waits: 'go', report: { status: 'continue', summary: 'More.' } },
    },
  })
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], { cwd: sprint.at() })
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message=start')
  const terminal = inTerminal(sprint, ['run', 's', '--workflows', 'wf'], { columns: 120, rows: 35 })
  await sprint.called(2)
  await terminal.sees('branch main   +2 −1 in 2 files')
  terminal.type('d')
  await terminal.sees('› 2 files  +2 −1')
  await terminal.sees('│ diff --git a/a.txt b/a.txt')
  terminal.type('\u001b[B\u001b[B')
  await terminal.sees('› b.txt  +1 −0')
  terminal.type('\r')
  await terminal.sees('b.txt  +1 −0  (1 of')
  await terminal.sees('+new')
  expect(terminal.raw()).toContain('\u001b[32m+new\u001b[0m')
  terminal.type('qsn')

  expect(await terminal.ended).toBe(130)
})

it('shows every key of the help on a narrow terminal', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [] },
    answers: { '1': { waits: 'go', report: goes } },
  })
  const terminal = inTerminal(sprint, ['run', 's', '--workflows', 'wf'], { columns: 40, rows: 30 })
  await sprint.called(1)
  await terminal.sees('? help')
  terminal.type('?')
  await terminal.sees('s stop: i after the iteration, t after')
  await terminal.sees('the turn, n now')
  await terminal.sees('q leave')
  terminal.type('sn')

  expect(await terminal.ended).toBe(130)
})

const humanNeeded = { reason: 'Keep them?', details: '', options: ['keep', 'drop'] }
const asks = {
  '1': { status: 'needs-human', summary: 's', humanNeeded },
  '2': { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' },
}

it('asks the question in place until the answer is an option or a text, and continues with it', async () => {
  const sprint = await createTestSprint({ sprint: { 'done-when': [] }, answers: asks })
  const terminal = inTerminal(sprint, ['run', 's', '--workflows', 'wf'])
  await terminal.sees('your answer (1 to 2, or text; Enter to answer later)')
  terminal.type('7\r')
  await terminal.sees('there is no option 7; choose 1 to 2')
  terminal.type('ralph status\r')
  await terminal.sees('"ralph status" looks like a command or a key. Send it as the answer? [y/N]')
  terminal.type('\r')
  await terminal.sees('not sent')
  terminal.type('2\r')

  expect(await terminal.ended).toBe(0)
  expect((await sprint.calls())[1]?.prompt).toContain('Answer: drop')
})

it('asks the question in ralph watch too, by text, and resumes the sprint in the background', async () => {
  const sprint = await createTestSprint({ files: { 's/SPRINT.yaml': null, 'wf/ralph.yaml': null }, answers: asks })
  expect(await sprint.ralph('run', 'Tidy the names')).toMatchObject({ exitCode: 2 })
  const terminal = inTerminal(sprint, ['watch'])
  await terminal.sees('your answer (1 to 2, or text; Enter to answer later)')
  terminal.type('only the old ones\r')
  await terminal.sees('Resume the sprint in the background? [Y/n]')
  terminal.type('\r')

  expect(await terminal.ended).toBe(0)
  expect((await sprint.calls())[1]?.prompt).toContain('Answer: only the old ones')
  expect((await sprint.ralph('status')).stdout).toContain('completed')
})
