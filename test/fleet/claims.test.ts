import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../support/folder.ts'
import { timeoutOptions } from './real-machines.ts'
import { createServedFleet, type ServedFleet } from './served-fleet.ts'

type Place = { readonly folder: string; readonly fleet: ServedFleet; readonly machineId: string }

const head = `const test = require('node:test'); const assert = require('node:assert'); const lib = require('../lib.js')`
const redTest = `${head}\ntest('adds', () => assert.equal(lib.add(1, 2), 3))\n`
const wrong = 'exports.add = (a, b) => a - b\n'
const right = 'exports.add = (a, b) => a + b\n'
const write = (path: string, text: string): string => `printf '%s' "${text.replaceAll(/["$]/g, '\\$&')}" > ${path}`

/** A repository whose agent runs one shell script per prompt, the last one again and again, and claims the goal each time. */
async function startClaims(
  { folder, fleet, machineId }: Place,
  name: string,
  files: Readonly<Record<string, string>>,
  turns: readonly [string, ...string[]],
) {
  const project = join(folder, name)
  const report = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'done' }
  const agent = [
    'echo turn >>turns',
    'case $(wc -l <turns | tr -d " ") in',
    ...turns.slice(0, -1).map((turn, n) => `${n + 1}) ${turn} ;;`),
    `*) ${turns.at(-1)} ;;`,
    'esac',
    `printf '%s\\n' '\`\`\`json' '${JSON.stringify(report)}' '\`\`\`'`,
  ]
  const all = { '.gitignore': 'turns\nagent.sh\n', 'agent.sh': agent.join('\n'), ...files }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=U', '-c', 'user.email=u@x', ...args], { cwd: project })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message=start')
  const api = fleet.api()
  const workspace = { kind: 'folder' as const, path: project }
  const program = 'command:/bin/sh agent.sh'
  const { id: agentId } = await api.createAgent({ name, machineId, workspace, program })
  const sprintYaml = `workflow: ralph\ngoal: add\ndone-when: [{run: node --test}]\n`
  const { id: sprintId } = await api.startSprint({ agentId, sprintYaml })
  const progress = async () => (await api.getSprint({ sprintId })).progress
  const question = async () =>
    (await api.listQuestions({ status: 'open' })).items.find((one) => one.sprintId === sprintId)
  return {
    project,
    progress,
    question,
    answer: (answer: string) => api.answerSprint({ sprintId, answer }),
    until: async (status: string) => {
      await expect.poll(async () => (await progress()).status, timeoutOptions).toBe(status)
    },
    agent: async () => (await api.getAgent({ agentId })).agent,
    notes: async () => {
      const { items } = await api.listEvents({ sprintId, limit: 200 })
      return items.flatMap(({ event }) => (event.type === 'note' ? [event.text] : []))
    },
  }
}

/** An agent that deletes the red test is refused by the name of the test; honest work is accepted with its proof. */
async function refuseCheat(place: Place): Promise<void> {
  const fine = write('test/fine.test.js', `require('node:test')('fine', () => {})\n`)
  const sprint = await startClaims(place, 'cheat', { 'lib.js': wrong, 'test/add.test.js': redTest }, [
    `rm test/add.test.js; ${fine}`,
    `git checkout -q -- test; ${write('lib.js', right)}`,
  ])
  await sprint.until('completed')

  const { iterations, ralphExit, proofBaseline } = await sprint.progress()
  expect(proofBaseline).toMatchObject({ named: true })
  expect(iterations).toMatchObject([
    { verdict: 'refused', proof: { verdict: 'refused', tests: { missing: ['test/add.test.js > adds'] } } },
    { verdict: 'accepted', proof: { verdict: 'proved', tests: { fixed: ['test/add.test.js > adds'], missing: [] } } },
  ])
  expect(ralphExit).toMatchObject({ iteration: 2, proof: { verdict: 'proved' } })
  expect(['clean', 'plain']).toContain(ralphExit.proof?.room)
  expect(ralphExit.unproven).toBeUndefined()
}

/** An agent does nothing on a green project: Ralph says at the start what done needs, refuses, and asks the second time. */
async function refuseIdle(place: Place): Promise<void> {
  const sprint = await startClaims(place, 'idle', { 'lib.js': right, 'test/add.test.js': redTest }, ['true'])
  await sprint.until('needs-human')

  expect(await sprint.notes()).toContainEqual(expect.stringContaining('done will need a test that fails'))
  expect((await sprint.progress()).iterations).toMatchObject([
    { verdict: 'refused', proof: { verdict: 'unproven' } },
    { verdict: 'refused', proof: { verdict: 'unproven' } },
  ])
  expect(await sprint.question()).toMatchObject({ options: ['accept as unproven', 'refuse'] })
}

/** An agent changes a test: the question with the diff is in the inbox, and the answer counts. */
async function askAboutTests(place: Place): Promise<void> {
  const weak = redTest.replace('3)', '-1)')
  const sprint = await startClaims(place, 'contested', { 'lib.js': right, 'test/add.test.js': redTest }, [
    `${write('test/add.test.js', weak)}; ${write('lib.js', wrong)}`,
    `git checkout -q -- .; ${write('test/more.test.js', `${head}\ntest('more', () => assert.equal(lib.sub(3, 1), 2))\n`)}; ${write('lib.js', `${right}exports.sub = (a, b) => a - b\n`)}`,
  ])
  await sprint.until('needs-human')

  expect(await sprint.question()).toMatchObject({
    reason: 'The claim holds only with what the agent changed in the tests',
    details: expect.stringContaining('lib.add(1, 2), -1'),
    options: ['accept the change', 'refuse'],
    default: 'refuse',
  })
  await sprint.answer('refuse')
  await sprint.until('completed')
  const { iterations, ralphExit } = await sprint.progress()
  expect(iterations).toMatchObject([
    { verdict: 'refused', proof: { verdict: 'contested' } },
    { verdict: 'accepted', proof: { verdict: 'proved', tests: { added: ['test/more.test.js > more'] } } },
  ])
  expect(ralphExit).toMatchObject({ proof: { verdict: 'proved' } })
  expect(readFileSync(join(sprint.project, 'lib.js'), 'utf8')).toContain('sub')
}

/** A flaky test costs no iteration, becomes a question at the third flip, and a person may accept. */
async function askAboutFlakes(place: Place): Promise<void> {
  const marks = 'exports.add = (a, b) => a + b; exports.mark = () => (exports.isMarked = true)\n'
  const flips = `${head}\ntest('a', () => lib.mark?.())\ntest('b', () => assert.ok(!lib.isMarked))\n`
  const files = { 'lib.js': wrong, 'test/add.test.js': redTest, 'test/b.test.js': flips }
  const sprint = await startClaims(place, 'flaky', files, [write('lib.js', marks)])
  await sprint.until('needs-human')

  const named = await sprint.notes()
  expect(
    named.filter((text) => text.includes('flaky: red, and green when run again: test/b.test.js > b')),
  ).toHaveLength(2)
  expect(readFileSync(join(sprint.project, 'turns'), 'utf8')).toBe('turn\n')
  expect((await sprint.question())?.details).toContain('test/b.test.js > b')
  await sprint.answer('accept as unproven')
  await sprint.until('completed')
  expect((await sprint.progress()).ralphExit).toMatchObject({
    unproven: true,
    proof: { verdict: 'flaky', labels: expect.arrayContaining(['accepted by a person']) },
  })
  expect(await sprint.agent()).toMatchObject({ state: 'idle' })
}

it('proves claims on a machine of a fleet as `ralph run` does, and its questions reach the inbox', async () => {
  const folder = createTestFolder()
  const fleet = await createServedFleet(folder, 'embedded')
  const { id: machineId } = await fleet.machine('builder')
  const place = { folder, fleet, machineId }
  const scenarios = [refuseCheat, refuseIdle, askAboutTests, askAboutFlakes]
  const ends = await Promise.allSettled(scenarios.map((scenario) => scenario(place)))
  expect(ends.map((end) => (end.status === 'rejected' ? end.reason : 'held'))).toEqual(scenarios.map(() => 'held'))
}, 300_000)
