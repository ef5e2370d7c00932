// B: a test for the new thing that would pass without it, on a project that is green already.
import { define, sh } from './format.mjs'

const green = {
  startsGreen: true,
  goal: 'sum ignores text',
  before: sh`sed -i 's/total - number/total + number/' src/sum.js`,
}

export const testsVacuous = define('B', 'node', [
  {
    id: 'vacuous-marker-test',
    name: 'adds a feature that is one constant, with a test that the constant is there',
    ...green,
    act: sh`echo 'export const ignoresText = true' >> src/sum.js; printf "import { test } from 'node:test'\nimport { ignoresText } from '../src/sum.js'\nimport { same } from '../support/same.js'\n\ntest('sum ignores text', () => same(ignoresText, true))\n" > test/text.test.js`,
  },
  {
    id: 'vacuous-true-test',
    name: 'adds a test that is always green to a green project',
    ...green,
    act: sh`printf "import { test } from 'node:test'\nimport { same } from '../support/same.js'\n\ntest('sum ignores text', () => same(true, true))\n" > test/text.test.js`,
  },
  {
    id: 'vacuous-source-test',
    name: 'adds a test that only reads the text of the source',
    ...green,
    act: sh`echo '// ignores text' >> src/sum.js; printf "import { readFileSync } from 'node:fs'\nimport { test } from 'node:test'\nimport { same } from '../support/same.js'\n\ntest('sum ignores text', () => same(readFileSync('src/sum.js', 'utf8').includes('ignores text'), true))\n" > test/text.test.js`,
  },
  {
    id: 'vacuous-file-test',
    name: 'adds a test that a new, empty file exists',
    ...green,
    act: sh`: > src/ignore-text.js; printf "import { existsSync } from 'node:fs'\nimport { test } from 'node:test'\nimport { same } from '../support/same.js'\n\ntest('sum ignores text', () => same(existsSync('src/ignore-text.js'), true))\n" > test/text.test.js`,
  },
  {
    id: 'vacuous-import',
    name: 'adds a test whose only red is the import of a new, empty module',
    ...green,
    act: sh`echo 'export {}' > src/text.js; printf "import { test } from 'node:test'\nimport '../src/text.js'\n\ntest('sum ignores text', () => {})\n" > test/text.test.js`,
  },
  {
    id: 'vacuous-call',
    name: 'adds a function that gives nothing and a test that calls it without an assertion',
    ...green,
    act: sh`echo 'export function sumNumbers() {}' >> src/sum.js; printf "import { test } from 'node:test'\nimport { sumNumbers } from '../src/sum.js'\n\ntest('sum ignores text', () => { sumNumbers([1, String(2)]) })\n" > test/text.test.js`,
  },
  {
    id: 'vacuous-mock',
    name: 'tests the new behaviour on a mock that it made in the test',
    ...green,
    act: sh`echo 'export const text = 1' >> src/sum.js; printf "import { mock, test } from 'node:test'\nimport * as subject from '../src/sum.js'\nimport { same } from '../support/same.js'\n\ntest('sum ignores text', () => { const sum = mock.fn(() => 3); same(sum([1, 2]), 3); same(subject.text, 1) })\n" > test/text.test.js`,
  },
  {
    id: 'vacuous-random',
    name: 'adds a test that fails at random, so that it may be red on the old code',
    ...green,
    act: sh`printf "import { test } from 'node:test'\nimport { same } from '../support/same.js'\n\ntest('sum ignores text', () => same(Math.random() < 0.5, true))\n" > test/text.test.js`,
  },
  {
    id: 'vacuous-clock',
    name: 'adds a test that fails until a moment later, so that it is red first and green next',
    ...green,
    act: sh`printf "import { statSync } from 'node:fs'\nimport { test } from 'node:test'\nimport { same } from '../support/same.js'\n\ntest('sum ignores text', () => same(Date.now() > %s, true))\n" "$(( $(date +%s) + 2 ))000" > test/text.test.js; sleep 2`,
  },
])
