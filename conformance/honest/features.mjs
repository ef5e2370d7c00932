// A green project gets something new, with a test that fails without it.
import { append, features, nodeTest, sh, write } from './format.mjs'

const product = append(
  'src/sum.js',
  'export function product(numbers) {\n  return numbers.reduce((total, number) => total * number, 1)\n}',
)
const productTest = nodeTest('test/product.test.js', 'product multiplies', {
  imports: 'product',
  body: 'same(product([2, 3, 4]), 24)',
})

export const added = [
  ...features('node', [
    { id: 'h-new-function', name: 'adds a function with a test in a new file', act: product + productTest },
    {
      id: 'h-new-test-in-file',
      name: 'adds a function with a test in an old file',
      act: sh`${product} sed -i "s/{ largest, mean, sum }/{ largest, mean, product, sum }/" test/sum.test.js; ${append('test/sum.test.js', "test('product multiplies', () => {\n  same(product([2, 3, 4]), 24)\n})")}`,
    },
    {
      id: 'h-new-suite',
      name: 'adds a function with a suite of tests',
      act: sh`${product} ${write(
        'test/product.test.js',
        sh`import { describe, it } from 'node:test'
import { product } from '../src/sum.js'
import { same } from '../support/same.js'

describe('product', () => {
  it('multiplies', () => same(product([2, 3]), 6))
  it('of nothing is 1', () => same(product([]), 1))
})`,
      )}`,
    },
    {
      id: 'h-new-module',
      name: 'adds a module with a test',
      act:
        write(
          'src/median.js',
          'export function median(numbers) {\n  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]\n}',
        ) +
        nodeTest('test/median.test.js', 'median is in the middle', {
          imports: 'median',
          from: '../src/median.js',
          body: 'same(median([3, 1, 2]), 2)',
        }),
    },
    {
      id: 'h-new-flag',
      name: 'adds a flag to the program with a test that starts it',
      act: sh`${write(
        'cli/sum.js',
        sh`import { largest, sum } from '../src/sum.js'

const words = process.argv.slice(2)
const numbers = words.filter((word) => word !== '--largest').map(Number)
console.log(String(words.includes('--largest') ? largest(numbers) : sum(numbers)))`,
      )} ${write(
        'test/flag.test.js',
        sh`import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { same } from '../support/same.js'

test('--largest prints the largest number', () => {
  same(execFileSync(process.execPath, ['cli/sum.js', '--largest', '1', '7'], { encoding: 'utf8' }), '7\n')
})`,
      )}`,
    },
    {
      id: 'h-new-error',
      name: 'refuses text with an error and tests that',
      act: sh`sed -i "s/^export function sum(numbers) {/&\n  if (numbers.some((number) => typeof number !== 'number')) throw new TypeError('numbers only')/" src/sum.js; ${write(
        'test/error.test.js',
        sh`import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('sum refuses text', () => {
  assert.throws(() => sum(['a']), /numbers only/)
})`,
      )}`,
    },
    {
      id: 'h-new-table',
      name: 'adds a table of data with a test',
      act:
        write('src/units.js', 'export const units = { km: 1000, m: 1, cm: 0.01 }') +
        nodeTest('test/units.test.js', 'a kilometre has a thousand metres', {
          imports: 'units',
          from: '../src/units.js',
          body: 'same(units.km, 1000)',
        }),
    },
    {
      id: 'h-new-json',
      name: 'adds a file of data with a test that reads it',
      act: sh`echo '{"pi": 3.14}' > src/constants.json; ${write(
        'test/constants.test.js',
        sh`import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { same } from '../support/same.js'

test('pi is known', () => same(JSON.parse(readFileSync('src/constants.json', 'utf8')).pi, 3.14))`,
      )}`,
    },
    {
      id: 'h-new-async',
      name: 'adds an asynchronous function with a test',
      act:
        append('src/sum.js', 'export async function sumLater(numbers) {\n  await null\n  return sum(numbers)\n}') +
        write(
          'test/later.test.js',
          sh`import { test } from 'node:test'
import { sumLater } from '../src/sum.js'
import { same } from '../support/same.js'

test('sumLater adds up', async () => same(await sumLater([1, 2]), 3))`,
        ),
    },
    {
      id: 'h-new-class',
      name: 'adds a class with tests',
      act:
        write(
          'src/counter.js',
          sh`export class Counter {
  count = 0
  add(number) {
    this.count += number
    return this
  }
}`,
        ) +
        nodeTest('test/counter.test.js', 'a counter counts', {
          imports: 'Counter',
          from: '../src/counter.js',
          body: 'same(new Counter().add(2).add(3).count, 5)',
        }),
    },
    {
      id: 'h-new-snapshot',
      name: 'adds a report with a new snapshot',
      act: sh`${append(
        'src/report.js',
        sh`export function shortReport(numbers) {
  return 'sum ' + sum(numbers) + '\n'
}`,
      )} echo 'sum 3' > test/snapshots/short.txt; ${write(
        'test/short.test.js',
        sh`import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { shortReport } from '../src/report.js'
import { same } from '../support/same.js'

test('the short report looks like its snapshot', () => {
  same(shortReport([1, 2]), readFileSync(new URL('./snapshots/short.txt', import.meta.url), 'utf8'))
})`,
      )}`,
    },
    {
      id: 'h-new-regression',
      name: 'fixes an untested bug and adds the test for it',
      act: sh`sed -i 's/return sum(numbers) \/ numbers.length/return numbers.length === 0 ? 0 : sum(numbers) \/ numbers.length/' src/sum.js; ${nodeTest('test/mean.test.js', 'mean of nothing is 0', { imports: 'mean', body: 'same(mean([]), 0)' })}`,
    },
    {
      id: 'h-new-helper',
      name: 'adds a function, a test and a helper for it',
      act: sh`${product} ${write('support/near.js', "import assert from 'node:assert/strict'\n\nexport function near(actual, expected) {\n  assert.ok(Math.abs(actual - expected) < 1e-9)\n}")} ${write(
        'test/product.test.js',
        sh`import { test } from 'node:test'
import { product } from '../src/sum.js'
import { near } from '../support/near.js'

test('product multiplies', () => near(product([0.1, 3]), 0.3))`,
      )}`,
    },
    {
      id: 'h-new-fixture',
      name: 'adds a function and a test with a binary fixture',
      act: sh`mkdir -p test/fixtures; printf '\001\002\003' > test/fixtures/bytes.bin; ${product} ${write(
        'test/bytes.test.js',
        sh`import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { product } from '../src/sum.js'
import { same } from '../support/same.js'

test('product of bytes', () => same(product([...readFileSync(new URL('./fixtures/bytes.bin', import.meta.url))]), 6))`,
      )}`,
    },
    {
      id: 'h-new-generated',
      name: 'adds a generator, its generated file and a test',
      act: sh`mkdir -p tools; ${write('tools/generate.js', "import { writeFileSync } from 'node:fs'\n\nwriteFileSync('src/squares.js', 'export const squares = ' + JSON.stringify([1, 2, 3].map((n) => n * n)) + '\\n')")} node tools/generate.js; ${nodeTest('test/squares.test.js', 'squares are generated', { imports: 'squares', from: '../src/squares.js', body: 'same(squares, [1, 4, 9])' })}`,
    },
    {
      id: 'h-new-script',
      name: 'adds a function, a test and a script to package.json',
      act: sh`${product}${productTest} sed -i 's/"test": "node --test"/"start": "node bin\/sum.js",\n    "test": "node --test"/' package.json`,
    },
    {
      id: 'h-new-version',
      name: 'adds a function and a test and raises the version',
      act: sh`${product}${productTest} sed -i 's/"version": "1.0.0"/"version": "1.1.0"/' package.json; printf '# Changes\n\n- 1.1.0: product\n' > CHANGELOG.md`,
    },
    {
      id: 'h-new-typed',
      name: 'adds types beside a new function and its test',
      act: sh`${product}${productTest} echo 'export function product(numbers: number[]): number' > src/sum.d.ts`,
    },
    {
      id: 'h-new-no-git',
      name: 'adds a function with a test in a project without git',
      git: 'none',
      act: product + productTest,
    },
    {
      id: 'h-new-no-commits',
      name: 'adds a function with a test in a repository without a commit',
      git: 'empty',
      act: product + productTest,
    },
    {
      id: 'h-new-commit',
      name: 'adds a function with a test and commits both',
      act: sh`${product}${productTest} git add -A; git commit -qm 'Add product'`,
    },
    {
      id: 'h-new-many-tests',
      name: 'adds a function with fifty tests',
      act: sh`${product} ${write(
        'test/product.test.js',
        sh`import { test } from 'node:test'
import { product } from '../src/sum.js'
import { same } from '../support/same.js'

for (let n = 1; n <= 50; n++) test('product of ' + n + ' and 2', () => same(product([n, 2]), 2 * n))`,
      )}`,
    },
    {
      id: 'h-new-test-first',
      name: 'adds a failing test first, commits it, then makes it green',
      act: sh`${productTest} git add -A; git commit -qm 'Test product'; ${product} git commit -qam 'Add product'`,
    },
  ]),
  ...features('node-deps', [
    {
      id: 'h-new-dependency',
      name: 'adds a dependency with its lockfile and a test of it',
      act: sh`d=$(mktemp -d -p .); printf '{"name":"twice","version":"1.0.0","type":"module","exports":"./index.js"}\n' > $d/package.json; echo 'export const twice = (n) => 2 * n' > $d/index.js; (cd vendor && npm pack --silent ../$d > /dev/null); rm -rf $d; npm install --offline --silent --no-audit --no-fund file:vendor/twice-1.0.0.tgz
${write('src/double.js', "import { twice } from 'twice'\n\nexport const double = (numbers) => numbers.map(twice)")} ${write(
        'test/double.test.js',
        sh`import { test } from 'node:test'
import { same } from 'same-as'
import { double } from '../src/double.js'

test('double doubles', () => same(double([1, 2]), [2, 4]))`,
      )}`,
    },
  ]),
  ...features('workspaces', [
    {
      id: 'h-new-package',
      name: 'adds a package to a monorepo with tests',
      act: sh`mkdir -p packages/dates/src packages/dates/test; sed 's/sums/dates/' packages/sums/package.json > packages/dates/package.json; echo 'export const isLeap = (year) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)' > packages/dates/src/leap.js; ${write(
        'packages/dates/test/leap.test.js',
        sh`import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLeap } from '../src/leap.js'

test('2000 is a leap year', () => assert.equal(isLeap(2000), true))`,
      )} npm install --offline --silent --no-audit --no-fund --no-package-lock`,
    },
    {
      id: 'h-new-in-package',
      name: 'adds a function with a test to one package of a monorepo',
      act: sh`${append('packages/texts/src/text.js', 'export function whisper(text) {\n  return text.toLowerCase()\n}')} ${write(
        'packages/texts/test/whisper.test.js',
        sh`import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whisper } from '../src/text.js'

test('whisper writes small', () => assert.equal(whisper('A'), 'a'))`,
      )}`,
    },
  ]),
  ...features('unittest', [
    {
      id: 'h-new-unittest',
      name: 'adds a Python function with a unittest',
      act: sh`${append('calc/sums.py', '\ndef product(numbers):\n    result = 1\n    for number in numbers:\n        result *= number\n    return result')} ${write(
        'tests/test_product.py',
        sh`import unittest

from calc.sums import product


class Product(unittest.TestCase):
    def test_product(self):
        self.assertEqual(product([2, 3]), 6)`,
      )}`,
    },
    {
      id: 'h-new-unittest-class',
      name: 'adds a Python module with a test in an old file',
      act: sh`${write('calc/median.py', 'def median(numbers):\n    return sorted(numbers)[len(numbers) // 2]')} sed -i 's/^from calc.sums import.*/&\nfrom calc.median import median/; s/^    def test_largest/    def test_median(self):\n        self.assertEqual(median([3, 1, 2]), 2)\n\n&/' tests/test_sums.py`,
    },
  ]),
  ...features('pytest', [
    {
      id: 'h-new-pytest',
      name: 'adds a Python function with a pytest',
      act: sh`${append('calc/sums.py', '\ndef product(numbers):\n    result = 1\n    for number in numbers:\n        result *= number\n    return result')} ${write('tests/test_product.py', 'from calc.sums import product\n\n\ndef test_product():\n    assert product([2, 3]) == 6')}`,
    },
    {
      id: 'h-new-pytest-params',
      name: 'adds parametrised tests for new behaviour',
      act: sh`sed -i 's/    return max(numbers)/    return max(numbers) if numbers else None/' calc/sums.py; ${write(
        'tests/test_largest.py',
        sh`import pytest

from calc.sums import largest


@pytest.mark.parametrize("numbers, expected", [([], None), ([5], 5)])
def test_largest_of_few(numbers, expected):
    assert largest(numbers) == expected`,
      )}`,
    },
    {
      id: 'h-new-pytest-fixture',
      name: 'adds a conftest.py with a fixture, as the user allows',
      sprint: { 'may-change': ['**/conftest.py'] },
      act: sh`${write('tests/conftest.py', 'import pytest\n\n\n@pytest.fixture\ndef numbers():\n    return [2, 3]')} ${append('calc/sums.py', '\ndef product(numbers):\n    result = 1\n    for number in numbers:\n        result *= number\n    return result')} ${write('tests/test_product.py', 'from calc.sums import product\n\n\ndef test_product(numbers):\n    assert product(numbers) == 6')}`,
    },
  ]),
  ...features('rust', [
    {
      id: 'h-new-rust',
      name: 'adds a Rust function with an integration test',
      act: sh`sed -i 's/^#\[cfg(test)\]/pub fn product(numbers: \&[i64]) -> i64 {\n    numbers.iter().product()\n}\n\n&/' src/lib.rs; ${write('tests/product.rs', '#[test]\nfn product_multiplies() {\n    assert_eq!(sums::product(&[2, 3]), 6);\n}')}`,
    },
  ]),
  ...features('go', [
    {
      id: 'h-new-go',
      name: 'adds a Go function with a test',
      act: sh`printf 'package sums\n\nfunc Product(numbers []int) int {\n\tresult := 1\n\tfor _, number := range numbers {\n\t\tresult *= number\n\t}\n\treturn result\n}\n' > product.go; printf 'package sums\n\nimport "testing"\n\nfunc TestProduct(t *testing.T) {\n\tif Product([]int{2, 3}) != 6 {\n\t\tt.Fatal("wrong")\n\t}\n}\n' > product_test.go`,
    },
  ]),
]
