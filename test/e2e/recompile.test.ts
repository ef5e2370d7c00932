import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const proceeding = { status: 'continue', summary: 'planned', pendingSteps: [{ id: null, prompt: 'alpha' }] }

/** A sprint that has run one iteration, whose SPRINT.yaml is then changed. */
async function createChangedSprint(sprintYaml: string) {
  const sprint = await createTestSprint({ answers: { '*': proceeding } })
  expect((await sprint.ralph('run', 's', '-w', 'wf', '--max-iterations', '1')).exitCode).toBe(3)
  await writeFile(sprint.at('s/SPRINT.yaml'), sprintYaml)
  return sprint
}

it('keeps the history when recompiling a sprint that has run, and shows the changes', async () => {
  const sprint = await createChangedSprint(
    'workflow: ralph\ngoal: another goal\nagent: claude\nsteps: [beta]\nlimits: {iterations: 7}\n',
  )

  const { exitCode, stdout } = await sprint.ralph('compile', 's', '-w', 'wf')

  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/keeps its history[\s\S]*goal[\s\S]*step-1 added/),
  })
  expect(await sprint.progress()).toMatchObject({
    goal: 'another goal',
    status: 'limit-reached',
    limits: { iterations: 7 },
    iterations: [{ number: 1 }],
    'dynamic-steps': [
      { id: 'step-0', prompt: 'alpha' },
      { id: 'step-1', prompt: 'beta' },
    ],
  })
})

it('refuses a SPRINT.yaml that changed after the start until the user accepts it', async () => {
  const sprint = await createChangedSprint('workflow: ralph\ngoal: another goal\nagent: claude\n')
  const run = ['run', 's', '-w', 'wf', '--max-iterations', '2'] as const

  expect(await sprint.ralph(...run)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/PLAN_CHANGED .*goal: "g" -> "another goal"[\s\S]*--accept-changes/),
  })
  expect(await sprint.calls()).toHaveLength(1)
  const { stdout } = await sprint.ralph(...run, '--accept-changes')

  expect(stdout).toContain('the plan has changed since the start: goal')
  expect((await sprint.calls()).at(-1)?.prompt).toContain('another goal')
  expect((await sprint.progress()).iterations?.map(({ number }) => number)).toEqual([1, 2])
})

it('refuses checks that a planted workflow or user configuration switches off', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': null },
    workflow: { 'done-when': [{ run: 'false' }] },
    answers: { '*': proceeding },
  })
  expect((await sprint.run('--max-iterations', '1')).exitCode).toBe(3)
  await sprint.write('wf/ralph.yaml', 'name: R\nmode: ralph\ndone-when: []\n')

  expect(await sprint.run()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('doneWhen') })
  expect(await sprint.calls()).toHaveLength(1)
})

it('starts over in a new folder with --fresh, and leaves the old one unchanged', async () => {
  const sprint = await createChangedSprint('workflow: ralph\ngoal: another goal\n')

  expect((await sprint.ralph('compile', 's', '-w', 'wf', '--fresh')).exitCode).toBe(0)

  expect(existsSync(sprint.at('s-2/PROGRESS.yaml'))).toBe(true)
  expect(await sprint.progress()).toMatchObject({ status: 'limit-reached', iterations: [{ number: 1 }] })
})

it("imports goal and steps from another tool's plan with init --from", async () => {
  const sprint = await createTestSprint({ files: { 'plan.md': '# Parser\n\n- [x] lexer\n- [ ] grammar\n' } })

  const { exitCode, stdout } = await sprint.ralph('init', '--from', 'plan.md', '--json')

  const { folder }: { folder: string } = JSON.parse(stdout)
  expect(exitCode).toBe(0)
  expect(await sprint.ralph('compile', folder, '--dry-run', '--json')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/"prompt":"grammar"/),
  })
})
