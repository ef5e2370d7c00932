import { readFileSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createTestSprint, type RawProgress, type TestSprint } from '../support/sprint.ts'
import { root } from '../support/paths.ts'

const fixture = (name: string): string => readFileSync(join(root, 'test/fixtures/seeds', name), 'utf8')

const done = { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'All of it works' }
const next = { status: 'continue', summary: 'did it', completedStepIds: ['step-1'] }

type StatusJson = {
  readonly progress: { readonly status: string; readonly stats: { readonly 'current-iteration': number } }
}

const listPrompts = async (sprint: TestSprint): Promise<string[]> => (await sprint.calls()).map(({ prompt }) => prompt)

/** What commands that write nothing say of a sprint; in a folder of its own, because `doctor` also calls the agent program. */
async function whatCommandsSay(files: Readonly<Record<string, string | null>>) {
  const sprint = await createTestSprint({ files })
  const status = await sprint.ralph('status', 's', '--json')
  const doctor = await sprint.ralph('doctor', 's', '--json')
  const { progress }: StatusJson = JSON.parse(status.stdout)
  expect(await sprint.read('s/PROGRESS.yaml')).toBe(files['s/PROGRESS.yaml'])
  return {
    status: { exit: status.exitCode, is: progress.status, iteration: progress.stats['current-iteration'] },
    doctor: doctor.exitCode,
  }
}

describe.each([
  ['000:119-173', '000-progress.yaml'],
  ['001:329-379', '001-progress.yaml'],
])('a PROGRESS.yaml as in %s (rows 29, 145)', (_, name) => {
  it('continues: status, doctor, compile and run agree, and the original stays', async () => {
    const files = {
      's/PROGRESS.yaml': fixture(name),
      's/SPRINT.yaml': 'workflow: ralph\ngoal: Build it\ndone-when: []\n',
    }
    const sprint = await createTestSprint({ files, answers: { 1: next, '*': done } })

    expect(await whatCommandsSay(files)).toEqual({ status: { exit: 0, is: 'in-progress', iteration: 2 }, doctor: 0 })

    const compiled = await sprint.compile()
    expect(compiled).toMatchObject({ exitCode: 0 })
    expect(compiled.stdout).toContain('imported the PROGRESS.yaml of another program')
    expect(await sprint.read('s/PROGRESS.yaml.imported')).toBe(fixture(name))

    const { exitCode } = await sprint.run()
    expect((await listPrompts(sprint))[0]).toContain('Implement JWT token generation')
    const progress = await sprint.progress()
    expect({ exitCode, numbers: progress.iterations?.map(({ number }) => number) }).toEqual({
      exitCode: 0,
      numbers: [3, 4],
    })
    expect(progress['dynamic-steps'].map(({ id, status }) => `${id} ${status}`)).toEqual([
      'step-0 completed',
      'step-1 completed',
    ])
    expect(progress['hook-tasks'].filter(({ iteration }) => iteration < 3).length).toBeGreaterThan(0)
  })
})

it('takes an imported "completed" as a claim: the checks decide, and the agent is shown it (DESIGN 5.1)', async () => {
  const files = {
    's/PROGRESS.yaml': fixture('001-progress.yaml')
      .replace('status: in-progress', 'status: completed')
      .replace('final-summary: null', 'final-summary: Everything works'),
    's/SPRINT.yaml': 'workflow: ralph\ngoal: Build it\nproof: optional\ndone-when: [{ run: test -f built }]\n',
  }
  const sprint = await createTestSprint({
    files,
    answers: { 1: done, 2: { run: 'touch built', report: done } },
  })

  expect((await whatCommandsSay(files)).status.is).toBe('in-progress')
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const prompts = await listPrompts(sprint)
  expect(prompts[0]).toContain('Everything works')
  expect((await sprint.iterations()).map(({ verdict }) => verdict)).toEqual(['refused', 'accepted'])
})

describe('a standard sprint of m42', () => {
  const workflow = `name: Release
phases:
  - { id: prepare, prompt: Prepare the branch }
  - { id: work, for-each: step, workflow: item }
  - id: publish
    prompt: Publish it
    gate: { script: "true", on-fail: { prompt: Repair it } }
`
  const files = {
    's/PROGRESS.yaml': fixture('m42-standard-progress.yaml'),
    's/SPRINT.yaml':
      'workflow: release\ncollections:\n  step:\n    - { id: step-a, prompt: Write A }\n    - { id: step-b, prompt: Write B }\n',
    'wf/release.yaml': workflow,
    'wf/item.yaml': 'name: Item\nphases:\n  - { id: implement, prompt: "Implement: {{item.prompt}}" }\n',
  }
  const report = { status: 'completed', summary: 'done' }

  it('continues with the work that failed, not from the start', async () => {
    const sprint = await createTestSprint({ files, answers: { '*': report } })
    expect(await whatCommandsSay(files)).toEqual({ status: { exit: 0, is: 'blocked', iteration: 3 }, doctor: 0 })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const prompts = await listPrompts(sprint)
    expect(prompts).toHaveLength(2)
    expect(prompts[0]).toContain('Implement: Write B')
    expect(prompts[1]).toContain('Publish it')
    expect((await sprint.progress()).status).toBe('completed')
  })

  it('that says "completed" is a claim to be checked: red blocks it, green completes it, and no agent is called', async () => {
    const completed = files['s/PROGRESS.yaml']
      .replaceAll(/status: (blocked|in-progress|failed|pending)/g, 'status: completed')
      .replaceAll(/^(error|failed-phase|blocked-at): .*\n/gm, '')
    const claimed = {
      ...files,
      's/PROGRESS.yaml': completed,
      's/SPRINT.yaml': `${files['s/SPRINT.yaml']}proof: optional\ndone-when: [{ run: test -f built }]\n`,
    }
    const sprint = await createTestSprint({ files: claimed, answers: { '*': report } })
    expect((await whatCommandsSay(claimed)).status).toEqual({ exit: 0, is: 'in-progress', iteration: 3 })

    expect(await sprint.run()).toMatchObject({ exitCode: 1 })
    expect(await sprint.progress()).toMatchObject({
      status: 'blocked',
      reason: expect.stringContaining('not accepted'),
    })
    await sprint.write('built', '')
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect((await sprint.progress()).status).toBe('completed')
    expect(await sprint.calls()).toEqual([])
  })

  it('also runs without its SPRINT.yaml', async () => {
    const sprint = await createTestSprint({ files: { ...files, 's/SPRINT.yaml': null }, answers: { '*': report } })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await sprint.calls()).toHaveLength(2)
  })

  it('also runs without its workflows, and says which plan it uses', async () => {
    const gone = { 'wf/release.yaml': null, 'wf/item.yaml': null }
    const sprint = await createTestSprint({ files: { ...files, ...gone }, answers: { '*': report } })
    const { exitCode, stderr } = await sprint.run()
    expect({ exitCode, calls: (await sprint.calls()).length }).toEqual({ exitCode: 0, calls: 2 })
    expect(stderr).toMatch(/SPRINT\.yaml:1:11 +warning MAIN_WORKFLOW_NOT_FOUND .*keeps its compiled plan/)
  })
})

it('keeps the plan of a compiled sprint whose workflow is gone, and refuses one that never had a plan', async () => {
  const files = { 'wf/mine.yaml': 'name: Mine\nmode: ralph\ngoal-prompt: Think first\nreflection-prompt: Look back\n' }
  const options = { files, sprint: { workflow: 'mine', 'done-when': [] }, answers: { '*': done } }
  const [compiled, fresh] = [await createTestSprint(options), await createTestSprint(options)]
  await compiled.compile()
  for (const sprint of [compiled, fresh]) await unlink(sprint.at('wf', 'mine.yaml'))

  expect(await compiled.run()).toMatchObject({ exitCode: 0 })
  expect((await listPrompts(compiled))[0]).toContain('Think first')
  expect(await fresh.run()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('error MAIN_WORKFLOW_NOT_FOUND'),
  })
})

it('makes a new sprint from such a file, with its history (ralph init --from)', async () => {
  const sprint = await createTestSprint({ files: { 'old.yaml': fixture('001-progress.yaml') } })
  const { exitCode, stdout } = await sprint.ralph('init', 'auth', '--from', 'old.yaml', '--yes', '--json')
  const { folder }: { readonly folder: string } = JSON.parse(stdout)

  expect(exitCode).toBe(0)
  expect(await sprint.read(`${folder}/SPRINT.yaml`)).toContain('Build authentication system with JWT tokens.')
  const shown: StatusJson = JSON.parse((await sprint.ralph('status', folder, '--json')).stdout)
  expect(shown.progress.stats['current-iteration']).toBe(2)

  await sprint.ralph('compile', folder)
  const compiled: RawProgress = parse(await sprint.read(`${folder}/PROGRESS.yaml`))
  expect(compiled.ralph).toMatchObject({ 'idle-threshold': 3, 'min-iterations': 10 })
  expect(compiled['per-iteration-hooks'].filter(({ enabled }) => enabled)).toMatchObject([
    { id: 'learning', prompt: '/m42-signs:extract $ITERATION_TRANSCRIPT\n' },
  ])
})
