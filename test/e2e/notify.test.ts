import { expect, it } from 'vitest'
import { putProgram } from '../support/programs.ts'
import { createTestSprint } from '../support/sprint.ts'

const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'all "done"; $(id)' }
const question = {
  status: 'needs-human',
  summary: 's',
  humanNeeded: { reason: 'Which database?', details: 'It decides the schema.', options: ['staging', 'production'] },
}
const notifyCommand = `printf '%s|%s|%s|%s\\n' "$RALPH_STATUS" "$RALPH_TEXT" "$RALPH_DETAILS" "$RALPH_OPTIONS" >> notified`

it("passes the result to a command each time, and the shell never interprets the agent's text", async () => {
  const sprint = await createTestSprint({
    sprint: { 'sprint-id': 'db', notify: [{ run: notifyCommand }] },
    answers: { 1: question, 2: goalComplete },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 2 })
  await sprint.ralph('answer', 's', 'staging')
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  expect(await sprint.read('notified')).toBe(
    [
      'needs-human|db: needs-human: Which database?|It decides the schema.|staging\nproduction',
      'completed|db: completed: all "done"; $(id)||',
      '',
    ].join('\n'),
  )
  expect((await sprint.progress()).notifications).toMatchObject([
    { to: notifyCommand, about: 'needs-human', sent: true },
    { to: notifyCommand, about: 'completed', sent: true },
  ])
})

it('notifies the desktop if it has a program for that', async () => {
  const sprint = await createTestSprint({
    sprint: { 'sprint-id': 'db', notify: ['desktop'] },
    answers: { 1: question },
  })
  await putProgram(sprint, 'notify-send', 'printf "%s|" "$@" > sent')

  expect(await sprint.run()).toMatchObject({ exitCode: 2 })

  expect(await sprint.read('sent')).toBe('Ralph|db: needs-human: Which database?|')
})

it.each([
  ['a command that fails', { run: 'echo no line >&2; exit 3' }, /^exit code 3: no line$/],
  ['a command that is not there', { run: 'no-such-program' }, /^exit code 127: .*not found$/],
  [
    'an internal address',
    { webhook: 'https://127.0.0.1:1/hook' },
    /^127\.0\.0\.1 is an internal address \(127\.0\.0\.1\)$/,
  ],
  ['a name that leads to one', { webhook: 'https://localhost/hook' }, /^localhost is an internal address/],
  ['the metadata of a cloud', { webhook: 'https://169.254.169.254/latest' }, /is an internal address/],
  ['no https', { webhook: 'http://example.com/hook' }, /^only https URLs are allowed, not http:$/],
])('records and prints that %s failed, without affecting the result', async (_, target, error) => {
  const sprint = await createTestSprint({ sprint: { notify: [target] }, answers: { 1: goalComplete } })

  const { exitCode, stdout } = await sprint.run()

  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^! could not notify .*: /m)
  expect((await sprint.progress()).notifications).toMatchObject([
    { about: 'completed', sent: false, error: expect.stringMatching(error) },
  ])
})

it('does not let a hanging command block the others, nor the sprint for long', async () => {
  const sprint = await createTestSprint({
    sprint: { notify: [{ run: 'sleep 5' }, { run: 'touch notified' }] },
    answers: { 1: goalComplete },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  expect(sprint.has('notified')).toBe(true)
  expect(sprint.processes()).toEqual([])
})

it("does not notify about the user's own pause", async () => {
  const sprint = await createTestSprint({
    sprint: { notify: [{ run: 'touch notified' }] },
    answers: { '*': { status: 'continue', summary: 's', pendingSteps: [{ id: null, prompt: 'more' }] } },
  })
  const run = sprint.startRun()
  await sprint.called(2)
  run.signal('SIGINT')

  expect(await run.ended).toMatchObject({ exitCode: 4 })
  expect(sprint.has('notified')).toBe(false)
})
