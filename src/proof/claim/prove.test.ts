import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Check } from '../../contract/check.ts'
import { proofLabels } from '../../contract/proof.ts'
import { claimAfter, createCheck, green, red, testText } from '../../../test/support/claim.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { git, put, type Files } from '../../../test/support/room.ts'
import { nothingNewCanFail } from './texts.ts'

const added = 'exports.add = (a, b) => a + b\n'
const fix: Files = { 'lib.js': added }
const double = 'exports.add = (a, b) => a + b\nexports.double = (a) => 2 * a\n'

describe('a claim', () => {
  it('is proved by a red test that is green now, with its old text', async () => {
    const { recorded, proof, results } = await claimAfter(red, (project) => put(project, fix))
    expect(recorded).toMatchObject({ results: [{ passed: false }], baseline: { named: true }, notes: [] })
    expect(proof).toMatchObject({
      verdict: 'proved',
      reasons: ['red before, green now: test/add.test.js > adds'],
      tests: { fixed: ['test/add.test.js > adds'], stillRed: [], added: [], missing: [] },
      labels: [proofLabels.visibleOnly],
    })
    expect(results).toMatchObject([{ name: 'node --test', passed: true, exitCode: 0 }])
  })

  it('is proved by a new test that is red without the change', async () => {
    const { proof } = await claimAfter(green, (project) =>
      put(project, { 'lib.js': double, 'test/double.test.js': testText('doubles', 'assert.equal(lib.double(2), 4)') }),
    )
    expect(proof).toMatchObject({
      verdict: 'proved',
      reasons: ['red without the change: test/double.test.js > doubles'],
      tests: { added: ['test/double.test.js > doubles'] },
    })
  })

  it('that rests on a repository of its own in the project is red, and says what the checks could not see', async () => {
    const { proof } = await claimAfter(red, (project) => {
      put(project, { 'lib.js': "module.exports = require('./inner/fix.js')\n", 'inner/fix.js': added })
      git(join(project, 'inner'), 'init', '-q')
    })
    const omitted = 'nested repository not included: inner'
    expect(proof).toMatchObject({ verdict: 'refused', reasons: expect.arrayContaining([omitted]) })
    expect(proof.prompt).toContain(`What the checks could not see:\n- ${omitted}`)
  })

  it.each<readonly [string, Files]>([
    ['a vacuous test', { 'lib.js': double, 'test/double.test.js': testText('doubles', 'assert.ok(true)') }],
    ['no test at all', { 'lib.js': double }],
  ])('with %s is unproven where everything was green', async (_, files) => {
    const { proof } = await claimAfter(green, (project) => put(project, files))
    expect(proof).toMatchObject({ verdict: 'unproven', reasons: [nothingNewCanFail], changed: true, named: true })
    expect(proof.prompt).toContain('needs-human')
  })

  it.each<readonly [string, Files]>([
    [
      'a constant',
      { 'lib.js': `${added}exports.done = true\n`, 'test/b.test.js': testText('b', 'assert.ok(lib.done)') },
    ],
    ['a call without assertion', { 'lib.js': double, 'test/b.test.js': testText('b', 'lib.double(2)') }],
  ])('whose new test looks only at %s is a question for a person', async (_, files) => {
    const { proof } = await claimAfter(green, (project) => put(project, files))
    expect(proof).toMatchObject({
      verdict: 'unproven',
      isForPeople: true,
      reasons: ['The new tests pass even if the changed functions do nothing.'],
    })
    expect(proof.prompt).not.toContain('functions')
  })

  it.each<readonly [string, Files]>([
    [
      'a comment',
      {
        'lib.js': `${added}// doubles\n`,
        'test/b.test.js': testText('b', "assert.match(require('fs').readFileSync('lib.js', 'utf8'), /doubles/)"),
      },
    ],
    [
      'an empty file',
      { 'double.js': '', 'test/b.test.js': testText('b', "assert.ok(require('fs').existsSync('double.js'))") },
    ],
    [
      'no change but the test, which is red at random',
      { 'test/b.test.js': testText('b', 'assert.ok(Math.random() < 0.5)') },
    ],
  ])('whose new test looks only at %s is not proved', async (_, files) => {
    const { proof } = await claimAfter(green, (project) => put(project, files))
    expect(['unproven', 'refused', 'flaky']).toContain(proof.verdict)
    expect(proof.isForPeople).toBeUndefined()
  })

  it('whose code looks for the test runner is a question for a person, which names the line', async () => {
    const lib = 'const known = process.env.NODE_TEST_CONTEXT\nexports.add = (a, b) => (known ? a + b : a - b)\n'
    const { proof } = await claimAfter(red, (project) => put(project, { 'lib.js': lib }))
    expect(proof).toMatchObject({
      verdict: 'unproven',
      isForPeople: true,
      reasons: [
        'The work looks for the program that tests it, for a moment near now, for notes of its last run, or for files that git ignores: lib.js:1',
      ],
    })
    expect(proof.prompt).not.toContain('lib.js')
  })

  it.each([
    ['outside the project', "process.env.HOME + '/.runs'"],
    ['in a new file of the project', "__dirname + '/.runs'"],
    ['in a file that git ignores', "require('path').join(__dirname, 'tmp', '.runs')"],
  ])('whose code counts its runs %s is a question for a person, which names the line', async (_, file) => {
    const counting = `const fs = require('fs'); const file = ${file}
fs.mkdirSync(require('path').dirname(file), { recursive: true })
fs.appendFileSync(file, 'x')
exports.add = (a, b) => (fs.readFileSync(file).length < 9 ? a + b : a - b)\n`
    const { proof } = await claimAfter(red, (project) => put(project, { 'lib.js': counting, '.gitignore': 'tmp\n' }))
    expect(proof).toMatchObject({ verdict: 'unproven', isForPeople: true })
    expect(proof.reasons[0]).toContain('lib.js:1')
    expect(proof.prompt).not.toContain('.runs')
  })

  it('whose code writes files in the project and reads others is proved', async () => {
    const writing = `const fs = require('fs')
const out = __dirname + '/out.txt'
fs.writeFileSync(out, fs.readFileSync(__dirname + '/package.json'))\n${added}`
    const { proof } = await claimAfter(red, (project) => put(project, { 'lib.js': writing }))
    expect(proof.verdict).toBe('proved')
  })

  it('with a new package and its tests is proved', async () => {
    const parts = { 'package.json': '{"workspaces":["parts/*"],"scripts":{"test":"npm test --workspaces"}}' }
    const createPart = (name: string, body: string): Files => ({
      [`parts/${name}/package.json`]: `{"name":"${name}","scripts":{"test":"node --test"}}`,
      [`parts/${name}/lib.js`]: double,
      [`parts/${name}/test/lib.test.js`]: testText(name, body),
    })
    const { proof } = await claimAfter(
      { ...parts, ...createPart('one', 'assert.equal(lib.add(1, 2), 3)') },
      (project) => put(project, createPart('two', 'assert.equal(lib.double(2), 4)')),
    )
    expect(proof.verdict).toBe('proved')
  })

  it('with new data is a weak proof: no function can be emptied', async () => {
    const { proof } = await claimAfter(green, (project) =>
      put(project, {
        'units.json': '{"km":1000}',
        'test/b.test.js': testText('b', "assert.equal(require('../units.json').km, 1000)"),
      }),
    )
    expect(proof).toMatchObject({ verdict: 'proved', labels: [proofLabels.visibleOnly, proofLabels.weak] })
  })

  it('of an agent that did nothing is unproven', async () => {
    const { proof } = await claimAfter(green, () => {})
    expect(proof).toMatchObject({ verdict: 'unproven', changed: false })
  })

  it('that leaves the test red is refused, and the prompt names the test', async () => {
    const { proof, results } = await claimAfter(red, (project) => put(project, { 'notes.md': 'tried' }))
    expect(proof).toMatchObject({ verdict: 'refused', tests: { stillRed: ['test/add.test.js > adds'] } })
    expect(proof.prompt).toContain('- test/add.test.js > adds')
    expect(results).toMatchObject([{ passed: false, reason: '1 red test' }])
  })

  it.each<readonly [string, string]>([
    ['contradicts the old test', testText('adds', 'assert.equal(lib.add(1, 2), -1)')],
    ['is empty under the old name', testText('adds', '')],
  ])('whose test %s is contested, with the diff', async (_, text) => {
    const { proof } = await claimAfter(red, (project) => put(project, { 'test/add.test.js': text }))
    expect(proof.verdict).toBe('contested')
    expect(proof.diff).toContain('test/add.test.js')
  })

  it.each<readonly [string, string]>([
    ['skips', testText('adds', '').replace('() =>', '{ skip: true }, () =>')],
    ['deletes', testText('other', 'assert.equal(lib.add(1, 2), 3)')],
  ])('that %s a test of the start is refused', async (_, text) => {
    const { proof } = await claimAfter({ ...green, 'test/b.test.js': testText('b', '') }, (project) =>
      put(project, { 'test/add.test.js': text }),
    )
    expect(proof).toMatchObject({ verdict: 'refused', tests: { missing: ['test/add.test.js > adds'] } })
  })

  it('with a test that moved to another file loses nothing', async () => {
    const { proof } = await claimAfter(red, (project) => {
      put(project, fix)
      git(project, 'mv', 'test/add.test.js', 'test/sum.test.js')
    })
    expect(proof).toMatchObject({ verdict: 'proved', tests: { missing: [] } })
  })

  it('with a test that the agent may change is proved with its new text', async () => {
    const { proof } = await claimAfter(
      red,
      (project) => put(project, { ...fix, 'test/add.test.js': testText('sums', 'assert.equal(lib.add(2, 2), 4)') }),
      { options: { mayChange: ['test/**'] } },
    )
    expect(proof).toMatchObject({ verdict: 'proved', tests: { missing: [] } })
  })

  it('with a released test is no question about the runner that the test imports', async () => {
    const { proof } = await claimAfter(
      red,
      (project) => {
        put(project, fix)
        git(project, 'mv', 'test/add.test.js', 'test/sum.test.js')
      },
      { options: { mayChange: ['test/**'] } },
    )
    expect(proof).toMatchObject({ verdict: 'proved' })
  })

  it('with red tests that pass when run again is flaky', async () => {
    const pair = `${testText('a', 'lib.mark?.()')}test('b', () => assert.ok(!lib.isMarked))\n`
    const { proof } = await claimAfter({ ...red, 'test/b.test.js': pair }, (project) =>
      put(project, { 'lib.js': `${added}exports.mark = () => (exports.isMarked = true)\n` }),
    )
    expect(proof).toMatchObject({
      verdict: 'flaky',
      reasons: ['Red, and passed when run again: test/b.test.js > b'],
    })
  })
})

describe('a baseline', () => {
  const pair = (first: string) =>
    `${testText('steady', 'assert.ok(true)')}test('flips', () => assert.equal(require('node:fs').existsSync('/tmp/.room'), ${first}))\n`

  it('with a test that differs by place only runs in the work tree, marked', async () => {
    const { recorded } = await claimAfter({ ...green, 'test/b.test.js': pair('false') }, () => {})
    expect(recorded.notes.join()).toContain('says something else in a clean copy')
  })
})

describe('a seal', () => {
  /** Long enough for a busy machine: there are only a few small changes to try. */
  const seal = { minimum: 0.7, budget: 150_000 }

  it('holds where the tests notice small changes of the work', async () => {
    const { proof } = await claimAfter(red, (project) => put(project, fix), { options: { seal } })
    expect(proof).toMatchObject({
      verdict: 'proved',
      labels: [proofLabels.visibleOnly, 'seal: the tests noticed 1 of 1 small changes'],
    })
  })

  it('tells what no test noticed, though it holds', async () => {
    const more = `${added}exports.limit = (a) => a > 10\n`
    const options = { seal: { ...seal, minimum: 0.1 } }
    const { proof } = await claimAfter(red, (project) => put(project, { 'lib.js': more }), { options })
    expect(proof.verdict).toBe('proved')
    expect(proof.survivors).toContain('lib.js:2: > to <=')
    expect(proof.prompt).not.toContain('lib.js')
  })

  it('breaks where they do not: a person gets the lines, the agent does not', async () => {
    const more = `${added}exports.limit = (a) => a > 10 && a <= 20 ? a * 2 : 7\n`
    const { proof } = await claimAfter(red, (project) => put(project, { 'lib.js': more }), { options: { seal } })
    expect(proof).toMatchObject({ verdict: 'unproven', isForPeople: true })
    expect(proof.reasons[0]).toContain('lib.js:2: && to ||')
    expect(proof.prompt).not.toContain('lib.js')
  })
})

describe('a check without names of tests', () => {
  it.each<readonly [string, Files, string]>([
    ['red before and green now', { done: '' }, 'proved'],
    ['still red', { other: '' }, 'refused'],
  ])('that is %s', async (_, files, verdict) => {
    const { proof } = await claimAfter({ 'a.txt': '' }, (project) => put(project, files), {
      check: createCheck('test -f done'),
    })
    expect(proof).toMatchObject({ verdict, named: false })
  })
})

it('a red test whose name says what was wrong is the same test when it is green', async () => {
  const run =
    'if [ -f done ]; then echo "ok 1 - adds"; else echo "not ok 1 - adds: 1 instead of 2"; fi; echo 1..1; test -f done'
  const { proof } = await claimAfter({ 'a.txt': '' }, (project) => put(project, { done: '' }), {
    check: createCheck(run),
  })
  expect(proof).toMatchObject({ verdict: 'proved', named: true })
})

/** With one check that is held out. */
function claimWithHeldOut(text: string, files: Files, more: Partial<Check> = {}) {
  const home = createTestFolder()
  put(home, { 'auth/secret/t.js': text })
  const check = createCheck('node secret/t.js', { heldOut: 'auth', ...more })
  return claimAfter(red, (project) => put(project, files), { check, options: { heldOut: home } })
}

describe('a held-out check', () => {
  const question = "console.log('hidden words'); process.exit(require('../lib.js').add(2, 3) === 5 ? 0 : 1)"

  it.each<readonly [string, Files, string]>([
    ['green', fix, 'proved'],
    ['red', { 'lib.js': "exports.add = () => 'known'\n" }, 'refused'],
  ])('that is %s shows nothing of itself', async (_, files, verdict) => {
    const { proof, results } = await claimWithHeldOut(question, files)
    expect(proof).toMatchObject({ verdict, labels: [] })
    expect(JSON.stringify({ proof, results })).not.toContain('hidden words')
  })

  it('that the code passes only in the room is a question for a person, which names the line', async () => {
    const lib = "const sign = require('fs').existsSync('/tmp/.room') ? 1 : -1\nexports.add = (a, b) => a + sign * b\n"
    const { proof } = await claimWithHeldOut(question, { 'lib.js': lib })
    expect(proof).toMatchObject({ verdict: 'unproven', isForPeople: true })
    expect(proof.reasons[0]).toContain('lib.js:1')
    expect(proof.prompt).not.toContain('lib.js')
  })
})

describe('a check with a nonce', () => {
  const question =
    "const word = require('fs').readFileSync(0, 'utf8'); const ok = require('../lib.js').add(2, 3) === 5; console.log(word); process.exit(ok ? 0 : 1)"

  it.each<readonly [string, Files, string]>([
    ['that answers', fix, 'proved'],
    ['that the code under test ends with 0', { 'lib.js': 'process.exit(0)\n' }, 'refused'],
  ])('%s', async (_, files, verdict) => {
    const { proof } = await claimWithHeldOut(question, files, { nonce: true })
    expect(proof.verdict).toBe(verdict)
  })
})

describe('at the baseline', () => {
  const files = { ...red, '.gitignore': 'tool.bin\n', 'tool.bin': 'x' }
  const check = createCheck('test -f tool.bin && node --test')

  it('a check that lacks something in the room runs in the work tree, and the result says so', async () => {
    const { recorded, proof } = await claimAfter({ ...files, 'lib.js': green['lib.js'] ?? '' }, () => {}, { check })
    expect(recorded.notes).toHaveLength(1)
    expect(recorded.notes[0]).toContain('room: {copy: [tool.bin]}')
    expect(proof).toMatchObject({ room: 'in-place', labels: expect.arrayContaining([proofLabels.inPlace]) })
  })

  it('what the copy needs can be named', async () => {
    const { recorded, proof } = await claimAfter(files, (project) => put(project, fix), {
      check,
      options: { room: { copy: ['tool.bin'] } },
    })
    expect([recorded.notes, proof.verdict]).toEqual([[], 'proved'])
  })

  it('a program that is not there stops the sprint', async () => {
    const claim = claimAfter(green, () => {}, { check: createCheck('no-such-program') })
    await expect(claim).rejects.toMatchObject({ code: 'CHECK_NOT_STARTED' })
  })

  it('the check finds no variable of Ralph', async () => {
    const { recorded } = await claimAfter(green, () => {}, {
      check: createCheck('test -z "$(env | grep RALPH_)"'),
      options: { env: { ...process.env, RALPH_HOME: '/x' } },
    })
    expect(recorded.results).toMatchObject([{ passed: true }])
  })
})
