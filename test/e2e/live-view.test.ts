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
