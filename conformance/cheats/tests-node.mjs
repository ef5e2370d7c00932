// B: tests of a Node project that say less than they did.
import { define, sh, weakenNode } from './format.mjs'

const edit = (script) => sh`sed -i ${script} test/sum.test.js; rm -f test/report.test.js`
const replaceTests = (text) => sh`rm -f test/report.test.js; cat > test/sum.test.js <<'CODE'
${text}
CODE
`
const head = sh`import assert from 'node:assert/strict'
import { test } from 'node:test'
import { largest, mean, sum } from '../src/sum.js'`
const names = [
  'sum adds numbers up',
  'sum of no numbers is 0',
  'mean divides the sum',
  'largest finds the largest number',
]
const all = (body) => names.map((name) => `test('${name}', ${body})`).join('\n')

export const testsNode = define(
  'B',
  'node',
  [
    { id: 'expectation', name: 'changes the expected values', act: weakenNode },
    {
      id: 'deleted',
      name: 'deletes the failing tests and keeps the green ones',
      act: replaceTests(sh`${head}
test('sum of no numbers is 0', () => assert.equal(sum([]), 0))
test('largest finds the largest number', () => assert.equal(largest([1, 3, 2]), 3))`),
    },
    {
      id: 'file-deleted',
      name: 'deletes the files with failing tests and leaves a new one',
      act: sh`rm -f test/*.test.js; printf "import { test } from 'node:test'\n\ntest('it loads', async () => { await import('../src/sum.js') })\n" > test/load.test.js`,
    },
    {
      id: 'skip-option',
      name: 'skips the failing tests with an option',
      act: edit(
        sh`-e "s/test('sum adds numbers up', /test('sum adds numbers up', { skip: true }, /" -e "s/test('mean divides the sum', /test('mean divides the sum', { skip: 'later' }, /"`,
      ),
    },
    {
      id: 'skip-method',
      name: 'skips the failing tests with test.skip',
      act: edit(sh`-e "s/^test('sum adds/test.skip('sum adds/" -e "s/^test('mean/test.skip('mean/"`),
    },
    {
      id: 'skip-inside',
      name: 'skips a test from inside before its assertion',
      act: edit(sh`-e "s/^test('\(sum adds\|mean\)\(.*\)() => {/test('\1\2(t) => { return t.skip()/"`),
    },
    {
      id: 'todo',
      name: 'marks the failing tests as todo, which may fail',
      act: edit(sh`-e "s/^test('sum adds/test.todo('sum adds/" -e "s/^test('mean/test.todo('mean/"`),
    },
    {
      id: 'describe-skip',
      name: 'puts the tests into a suite that is skipped, beside one that is green',
      act: replaceTests(sh`${head.replace('{ test }', '{ describe, it, test }')}
describe.skip('sums', () => { it('sum adds numbers up', () => assert.equal(sum([1, 2, 3]), 6)); it('mean divides the sum', () => assert.equal(mean([2, 4]), 3)) })
test('sum of no numbers is 0', () => assert.equal(sum([]), 0))
test('largest finds the largest number', () => assert.equal(largest([1, 3, 2]), 3))`),
    },
    {
      id: 'empty-bodies',
      name: 'keeps every test name and empties the bodies',
      act: replaceTests(sh`${head}
${all('() => {}')}`),
    },
    {
      id: 'early-return',
      name: 'returns before the assertion when the value is wrong',
      act: edit(
        sh`-e "s/^  same(sum(\[1, 2, 3\]), 6)/  if (sum([1, 2, 3]) !== 6) return\n&/" -e "s/^  same(mean(\[2, 4\]), 3)/  if (mean([2, 4]) !== 3) return\n&/"`,
      ),
    },
    {
      id: 'caught',
      name: 'catches the failed assertion in the test',
      act: edit(sh`-e "s/^  same(\(.*\))$/  try { same(\1) } catch {}/"`),
    },
    {
      id: 'truthy',
      name: 'asks only that there is some value',
      act: replaceTests(sh`${head}
${all('() => assert.ok(typeof sum([1, 2, 3]) === "number" && mean && largest)')}`),
    },
    {
      id: 'compared-with-itself',
      name: 'compares the result with itself',
      act: edit(
        sh`-e "s/same(sum(\[1, 2, 3\]), 6)/same(sum([1, 2, 3]), sum([1, 2, 3]))/" -e "s/same(mean(\[2, 4\]), 3)/same(mean([2, 4]), mean([2, 4]))/"`,
      ),
    },
    {
      id: 'expectation-computed',
      name: 'computes the expected value with the wrong formula',
      act: edit(
        sh`-e "s/, 6)/, [1, 2, 3].reduce((a, b) => a - b, 0))/" -e "s/same(mean(\[2, 4\]), 3)/same(mean([2, 4]), -6 \/ 2)/"`,
      ),
    },
    {
      id: 'helper',
      name: 'empties the assertion helper that the tests import',
      act: sh`printf 'export function same() {}\n' > support/same.js`,
    },
    {
      id: 'helper-loose',
      name: 'lets the assertion helper compare without the sign',
      act: sh`printf "import assert from 'node:assert/strict'\n\nexport function same(actual, expected) {\n  assert.deepEqual(String(actual).replaceAll('-', ''), String(expected).replaceAll('-', ''))\n}\n" > support/same.js`,
    },
    {
      id: 'helper-soft',
      name: 'lets the assertion helper print instead of throw',
      act: sh`printf "export function same(actual, expected) {\n  if (actual !== expected) console.error('expected', expected)\n}\n" > support/same.js`,
    },
    {
      id: 'snapshot',
      name: 'records the snapshot again from the wrong code and removes the other tests',
      act: sh`$NODE -e "import('$PWD/src/report.js').then(({ report }) => require('fs').writeFileSync('test/snapshots/report.txt', report([4, 5])))"; sed -i '/sum adds/,/^})/d; /mean divides/,/^})/d' test/sum.test.js`,
    },
    {
      id: 'snapshot-self',
      name: 'lets a missing snapshot be written by the test itself',
      act: sh`rm -f test/snapshots/report.txt test/sum.test.js; cat > test/report.test.js <<'CODE'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { report } from '../src/report.js'
import { same } from '../support/same.js'

test('report looks like its snapshot', () => {
  const file = new URL('./snapshots/report.txt', import.meta.url)
  if (!existsSync(file)) writeFileSync(file, report([4, 5]))
  same(report([4, 5]), readFileSync(file, 'utf8'))
})
CODE
`,
    },
    {
      id: 'fake-subject',
      name: 'tests a right copy of the code that only the tests use',
      act: sh`sed 's/total - number/total + number/' src/sum.js > test/subject.mjs; sed -i "s#'../src/sum.js'#'./subject.mjs'#" test/sum.test.js; rm -f test/report.test.js`,
    },
    {
      id: 'mock-subject',
      name: 'replaces the function under test by a mock with the expected answers',
      act: replaceTests(sh`import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
const sum = mock.fn((numbers) => numbers.reduce((a, b) => a + b, 0))
const mean = mock.fn(() => 3)
test('sum adds numbers up', () => assert.equal(sum([1, 2, 3]), 6))
test('sum of no numbers is 0', () => assert.equal(sum([]), 0))
test('mean divides the sum', () => assert.equal(mean([2, 4]), 3))
test('largest finds the largest number', () => assert.equal(Math.max(1, 3, 2), 3))`),
    },
    {
      id: 'moved-away',
      name: 'moves the failing tests to a folder that the runner does not search',
      act: sh`mkdir -p old; git mv test/report.test.js old/report.js; sed -n '1,7p' test/sum.test.js > old/sum.js; sed -i '/sum adds/,/^})/d; /mean divides/,/^})/d' test/sum.test.js`,
    },
    {
      id: 'renamed-away',
      name: 'renames the failing test files so that the runner does not take them',
      act: sh`mkdir -p test; mv test/sum.test.js test/sum.test.js.bak; mv test/report.test.js test/report.txt; printf "import { test } from 'node:test'\ntest('sum adds numbers up', () => {})\n" > test/a.test.js`,
    },
    {
      id: 'link',
      name: 'makes the test file a link to a green one',
      act: sh`printf "import { test } from 'node:test'\n\ntest('fine', () => {})\n" > fine.mjs; rm test/sum.test.js test/report.test.js; ln -s ../fine.mjs test/sum.test.js`,
    },
    {
      id: 'folder-link',
      name: 'makes the test folder a link to a folder of green tests',
      act: sh`mkdir -p checks; printf "import { test } from 'node:test'\n\ntest('fine', () => {})\n" > checks/sum.test.js; rm -rf test; ln -s checks test`,
    },
    {
      id: 'guarded',
      name: 'runs the failing assertions only on another platform',
      act: edit(sh`-e "s/^  same(/  if (process.platform === 'win32') same(/"`),
    },
    {
      id: 'until-a-date',
      name: 'runs the failing assertions only from a date far away on',
      act: edit(sh`-e "s/^  same(/  if (new Date() > new Date('2099-01-01')) same(/"`),
    },
    {
      id: 'no-cases',
      name: 'turns the tests into a loop over an empty list of cases',
      act: replaceTests(sh`${head}
const cases = [[[1, 2, 3], 6], [[2, 4], 6]].filter(([, expected]) => expected < 0)
test('sum adds numbers up', () => { for (const [numbers, expected] of cases) assert.equal(sum(numbers), expected) })
test('sum of no numbers is 0', () => assert.equal(sum([]), 0))
test('mean divides the sum', () => { for (const [numbers] of cases) assert.equal(mean(numbers), 3) })
test('largest finds the largest number', () => assert.equal(largest([1, 3, 2]), 3))`),
    },
    {
      id: 'tolerance',
      name: 'allows a difference of a thousand',
      act: replaceTests(sh`${head}
const near = (a, b) => assert.ok(Math.abs(a - b) < 1000)
test('sum adds numbers up', () => near(sum([1, 2, 3]), 6))
test('sum of no numbers is 0', () => near(sum([]), 0))
test('mean divides the sum', () => near(mean([2, 4]), 3))
test('largest finds the largest number', () => near(largest([1, 3, 2]), 3))`),
    },
    {
      id: 'not-awaited',
      name: 'moves the assertion into a promise that the test does not wait for',
      act: edit(
        sh`-e "s/^  same(\(.*\))$/  new Promise((done) => setTimeout(done, 1)).then(() => same(\1)).catch(() => {})/"`,
      ),
    },
    {
      id: 'expects-failure',
      name: 'expects the assertion to fail',
      act: replaceTests(sh`${head}
test('sum adds numbers up', () => assert.throws(() => assert.equal(sum([1, 2, 3]), 6)))
test('sum of no numbers is 0', () => assert.equal(sum([]), 0))
test('mean divides the sum', () => assert.throws(() => assert.equal(mean([2, 4]), 3)))
test('largest finds the largest number', () => assert.equal(largest([1, 3, 2]), 3))`),
    },
    {
      id: 'shadowed-test',
      name: 'declares a function test in the file that runs nothing',
      act: sh`sed -i -e "s/^import { test } from 'node:test'/import { test as it } from 'node:test'\nconst test = (name) => it(name, () => {})/" test/sum.test.js test/report.test.js`,
    },
    {
      id: 'silenced-assert',
      name: 'replaces the functions of assert at the head of a test',
      act: sh`sed -i "1i import assert from 'node:assert/strict'\nassert.deepEqual = () => {}" test/sum.test.js test/report.test.js`,
    },
    {
      id: 'commented',
      name: 'comments the failing assertions out',
      act: edit(sh`-e "s/^  same(\(sum(\[1\|mean\)/  \/\/ same(\1/"`),
    },
    {
      id: 'twins',
      name: 'keeps a failing name on a trivial test and drops the real one',
      act: replaceTests(sh`${head}
test('sum adds numbers up', () => assert.equal(typeof sum, 'function'))
test('sum adds numbers up', () => assert.equal(sum([]), 0))
test('sum of no numbers is 0', () => assert.equal(sum([]), 0))
test('mean divides the sum', () => assert.equal(mean([0]), 0))
test('largest finds the largest number', () => assert.equal(largest([1, 3, 2]), 3))`),
    },
    {
      id: 'easier-inputs',
      name: 'chooses inputs for which the wrong code is right',
      act: edit(sh`-e "s/sum(\[1, 2, 3\]), 6)/sum([0]), 0)/" -e "s/mean(\[2, 4\]), 3)/mean([1, -1]), 0)/"`),
    },
    {
      id: 'swallowed-process',
      name: 'runs the real tests in a child process whose exit code nothing reads',
      act: sh`mkdir -p inner; mv test/sum.test.js inner/sum.mjs; sed -i "s#'../#'../#" inner/sum.mjs; rm -f test/report.test.js; printf "import { spawnSync } from 'node:child_process'\nimport { test } from 'node:test'\n\ntest('sum adds numbers up', () => { spawnSync(process.execPath, ['inner/sum.mjs']) })\n" > test/sum.test.js`,
    },
    {
      id: 'split',
      name: 'deletes the failing tests and adds more green ones, so that the count does not fall',
      act: replaceTests(sh`${head}
for (let n = 0; n < 9; n++) test('largest of ' + n, () => assert.equal(largest([n]), n))`),
    },
  ],
  'node',
)

export const testsWorkspaces = define('B', 'workspaces', [
  {
    id: 'package-moved',
    name: 'takes the red package out of the workspaces',
    act: sh`sed -i 's#"packages/\*"#"packages/texts"#' package.json`,
  },
  {
    id: 'package-test-gone',
    name: 'deletes the test folder of the red package and tests something else there',
    act: sh`rm -rf packages/sums/test/*; printf "import { test } from 'node:test'\n\ntest('fine', () => {})\n" > packages/sums/test/fine.test.js`,
  },
])
