import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const question = {
  status: 'needs-human',
  summary: 's',
  humanNeeded: { reason: 'Which database?', details: 'staging or production' },
}
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

it('resumes with the answer in the next prompt, once there is one', async () => {
  const sprint = await createTestSprint({
    answers: { 1: question, 2: { status: 'continue', summary: 'on' }, 3: goalComplete },
  })
  expect(await sprint.run()).toMatchObject({
    exitCode: 2,
    stdout: expect.stringMatching(/Which database\?[\s\S]*ralph answer s /),
  })

  expect(await sprint.ralph('answer', 's', 'Use "staging"; never $HOME')).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await sprint.calls()).toHaveLength(1)
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const [before, after, later] = (await sprint.calls()).map(({ prompt }) => prompt)
  expect(before).not.toContain('Which database?')
  expect(after).toContain('Which database?')
  expect(after).toContain('Use "staging"; never $HOME')
  expect(later).not.toContain('Use "staging"')
  const progress = await sprint.progress()
  expect(progress).not.toHaveProperty('human-needed')
  expect(progress.iterations?.map(({ verdict }) => verdict)).toEqual(['needs-human', 'continue', 'accepted'])
})

it('keeps the steps that came with the question', async () => {
  const sprint = await createTestSprint({
    answers: { 1: { ...question, pendingSteps: [{ id: null, prompt: 'alpha' }] }, 2: goalComplete },
  })
  expect(await sprint.run()).toMatchObject({ exitCode: 2 })
  await sprint.ralph('answer', 's', 'staging')

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  expect((await sprint.calls())[1]?.prompt).toMatch(/## Current step: \S+\s+alpha/)
})

it.each([
  ['there is no question', 'NO_QUESTION', ['answer', 's', 'yes']],
  ['the answer is empty', 'USAGE', ['answer', 's', ' ']],
  ['the answer is missing', 'USAGE', ['answer', 's']],
  ['there is no such folder', 'SPRINT_NOT_FOUND', ['answer', 'nowhere', 'yes']],
])('refuses an answer if %s (%s), and changes nothing', async (_, code, args) => {
  const sprint = await createTestSprint({ answers: { 1: code === 'USAGE' ? question : goalComplete } })
  await sprint.run()
  const before = await sprint.contents()

  const { exitCode, stdout, stderr } = await sprint.ralph(...args)

  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toContain(`error ${code} `)
  expect(await sprint.contents()).toEqual(before)
})
