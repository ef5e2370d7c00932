import { expect, it } from 'vitest'
import { createTestSprint, type TestSprint } from '../support/sprint.ts'

const printPrompt = async (sprint: TestSprint, ...args: readonly string[]) => {
  const { exitCode, stdout, stderr } = await sprint.ralph('prompt', 's', ...args)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout
}

it('is the prompt that the agent then receives on stdin', async () => {
  const sprint = await createTestSprint({
    answers: { 1: { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' } },
  })
  await sprint.compile()
  const shown = await printPrompt(sprint)

  await sprint.run()

  expect((await sprint.calls()).map(({ prompt }) => prompt.trimEnd())).toEqual([shown.trimEnd()])
})

it('includes the goal-prompt of the workflow when planning, and its reflection-prompt when reflecting (rows 7, 8, 208)', async () => {
  const sprint = await createTestSprint({
    workflow: { 'goal-prompt': 'Think of the users first.', 'reflection-prompt': 'Would you sign this?' },
    sprint: { goal: 'Ship it', ralph: { 'idle-threshold': 2 } },
    answers: { '*': { status: 'continue', summary: 'thinking' } },
  })
  await sprint.run('--max-iterations', '2')

  const [planning, reflecting] = (await sprint.calls()).map(({ prompt }) => prompt)
  expect(planning).toContain('Think of the users first.')
  expect(planning).not.toContain('Would you sign this?')
  expect(reflecting).toContain('Would you sign this?')
  expect(reflecting).not.toContain('Think of the users first.')
  expect(await printPrompt(sprint, '--mode', 'planning')).toContain('Think of the users first.')
  expect(await printPrompt(sprint, '--mode', 'reflecting')).toContain('Would you sign this?')
})

it('accepts another mode and another iteration number, and changes nothing', async () => {
  const sprint = await createTestSprint({ sprint: { goal: 'Ship it', steps: ['alpha', 'beta'] } })
  await sprint.compile()
  const before = await sprint.contents()

  expect(await printPrompt(sprint)).toMatch(/executing[\s\S]*iteration 1\b[\s\S]*Ship it[\s\S]*alpha[\s\S]*beta/)
  expect(await printPrompt(sprint, '--mode', 'planning', '--iteration', '7')).toMatch(/planning[\s\S]*iteration 7\b/)
  expect(await sprint.contents()).toEqual(before)
})

it('never contains text that parses as a report, in any mode', async () => {
  const sprint = await createTestSprint({ sprint: { steps: ['alpha'] } })
  await sprint.compile()

  for (const mode of ['planning', 'executing', 'reflecting']) {
    const prompt = await printPrompt(sprint, '--mode', mode)
    expect(prompt).not.toContain('RALPH_COMPLETE:')
    const statuses = [...prompt.matchAll(/```json\n([\s\S]*?)```/g)].map(([, block = '']) => JSON.parse(block).status)
    expect(statuses).toEqual([expect.stringMatching(/^<.*>$/)])
  }
})

it.each([
  ['the folder is missing', ['prompt', 'nowhere'], /^nowhere  error SPRINT_NOT_FOUND /],
  ['PROGRESS.yaml is missing', ['prompt', 's'], /^s\/PROGRESS\.yaml  error PROGRESS_NOT_FOUND .*ralph compile s/],
  ['the mode is unknown', ['prompt', 's', '--mode', 'dreaming'], /^error USAGE .*planning, executing, reflecting/],
  ['the iteration is no number', ['prompt', 's', '--iteration', 'one'], /^error USAGE .*--iteration/],
])('is refused with exit 1 when %s', async (_, args, line) => {
  const sprint = await createTestSprint()
  if (args.length > 2) await sprint.compile()

  const { exitCode, stdout, stderr } = await sprint.ralph(...args)

  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr.trimEnd()).toMatch(line)
  expect(stderr.trimEnd()).not.toContain('\n')
})
