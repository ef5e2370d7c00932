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

it('asks the question in place, and continues with the answer', async () => {
  const humanNeeded = { reason: 'Keep them?', details: '', options: ['keep', 'drop'] }
  const sprint = await createTestSprint({
    sprint: { 'done-when': [] },
    answers: {
      '1': { status: 'needs-human', summary: 's', humanNeeded },
      '2': { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' },
    },
  })
  const terminal = inTerminal(sprint, ['run', 's', '--workflows', 'wf'])
  await terminal.sees('your answer (1 to 2, or text; Enter to answer later)')
  terminal.type('2\r')

  expect(await terminal.ended).toBe(0)
  expect((await sprint.calls())[1]?.prompt).toContain('Answer: drop')
})
