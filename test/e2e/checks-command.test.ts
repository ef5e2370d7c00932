import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }
const files = {
  'package.json': '{"type":"module","scripts":{"test":"node --test test"}}',
  'sum.js': 'export const sum = (a, b) => a - b\n',
  'test/sum.test.js':
    "import test from 'node:test'\nimport assert from 'node:assert'\nimport { sum } from '../sum.js'\ntest('adds', () => assert.equal(sum(1, 2), 3))\n",
  'secret/more.test.js':
    "import test from 'node:test'\nimport assert from 'node:assert'\nimport { sum } from '../sum.js'\ntest('adds more', () => assert.equal(sum(20, 22), 42))\n",
}

it('moves a test out of the project, and the held-out check refuses an answer that fits the visible tests only', async () => {
  const sprint = await createTestSprint({
    files,
    answers: {
      1: { run: "echo 'export const sum = () => 3' > sum.js", report: goalComplete },
      2: { run: "echo 'export const sum = (a, b) => a + b' > sum.js", report: goalComplete },
    },
  })

  const moved = await sprint.ralph('checks', 'hold-out', 'secret/more.test.js', '--name', 'sums')
  expect(moved).toMatchObject({ exitCode: 0, stderr: '' })
  expect(moved.stdout).toContain('- { run: node --test secret/more.test.js, held-out: sums }')
  expect(Object.keys(await sprint.contents())).not.toContain('secret/more.test.js')
  expect((await sprint.ralph('checks', 'list')).stdout).toBe('sums  secret/more.test.js\n')

  await sprint.write(
    's/SPRINT.yaml',
    'workflow: ralph\ngoal: g\ndone-when:\n  - run: npm test\n  - { run: node --test secret/more.test.js, held-out: sums }\n',
  )
  const { exitCode, stdout } = await sprint.run('--max-iterations', '3')

  expect(exitCode).toBe(0)
  expect(stdout).toContain('a held-out check is red')
  expect(stdout).not.toContain('visible tests only')
  const [, second] = await sprint.calls()
  expect(second?.prompt).toContain('held-out check is red')
  expect(second?.prompt).not.toContain('42')
})

it.each([
  ['a path outside the project', ['hold-out', '../x'], 'FILE_NOT_FOUND'],
  ['the project itself', ['hold-out', '.'], 'USAGE'],
  ['no path', ['hold-out'], 'USAGE'],
  ['another verb', ['hide', 'a'], 'USAGE'],
])('refuses %s and moves nothing', async (_, args, code) => {
  const sprint = await createTestSprint({ files })
  const before = await sprint.contents()

  const { exitCode, stderr } = await sprint.ralph('checks', ...args)

  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(new RegExp(`${code}[^\n]*\n$`)),
  })
  expect(await sprint.contents()).toEqual(before)
  expect(await readFile(sprint.at('secret/more.test.js'), 'utf8')).toContain('42')
})
