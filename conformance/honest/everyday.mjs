// What an ordinary pull request also has: generated code, a lockfile, a branch, new packages, renamed files.
import { append, features, fixes, nodeTest, sh, write } from './format.mjs'

const generator = write(
  'scripts/generate.mjs',
  sh`import { readFileSync, writeFileSync } from 'node:fs'

const units = JSON.parse(readFileSync('units.json', 'utf8'))
writeFileSync('src/units.js', 'export const units = ' + JSON.stringify(units, undefined, 2) + '\n')`,
)

export const everyday = [
  ...fixes('node', [
    {
      id: 'h-day-lockfile',
      name: 'fixes a bug and writes the first lockfile',
      also: 'npm install --offline --silent --no-audit --no-fund --package-lock-only',
    },
    {
      id: 'h-day-branch',
      name: 'fixes a bug in two commits on a branch of its own',
      also: sh`git checkout -q -b repair; git commit -qam 'Repair sum'; printf '# Changes\n\n- sum adds\n' > CHANGELOG.md; git add .; git commit -qm 'Note it'`,
    },
    {
      id: 'h-day-release',
      name: 'fixes a bug, raises the version and adds a workflow for the CI',
      also: sh`npm version patch --no-git-tag-version --silent > /dev/null; ${write('.github/workflows/test.yml', 'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps: [{ run: npm test }]')}`,
    },
    {
      id: 'h-day-renamed-source',
      name: 'fixes a bug in a module that it renames, and keeps the old name',
      also: sh`git mv src/sum.js src/numbers.js; echo "export * from './numbers.js'" > src/sum.js`,
    },
  ]),
  ...features('node', [
    {
      id: 'h-day-generated',
      name: 'adds a unit to the source of generated code and generates it again',
      before: sh`echo '{"m": 1}' > units.json; ${generator}node scripts/generate.mjs
${nodeTest('test/units.test.js', 'a metre is the unit', { imports: 'units', from: '../src/units.js', body: 'same(units.m, 1)' })}`,
      act: sh`echo '{"m": 1, "km": 1000}' > units.json; node scripts/generate.mjs
${nodeTest('test/long-units.test.js', 'a kilometre has 1,000 metres', { imports: 'units', from: '../src/units.js', body: 'same(units.km, 1000)' })}`,
    },
    {
      id: 'h-day-new-snapshot',
      name: 'adds a table with a snapshot of its own',
      act: sh`${append('src/sum.js', "export const table = (numbers) => numbers.map((number) => '| ' + number + ' |').join('\\n') + '\\n'")}printf '| 1 |\n| 2 |\n' > test/snapshots/table.txt
${write('test/table.test.js', "import { readFileSync } from 'node:fs'\nimport { test } from 'node:test'\nimport { table } from '../src/sum.js'\nimport { same } from '../support/same.js'\n\ntest('table', () => same(table([1, 2]), readFileSync(new URL('snapshots/table.txt', import.meta.url), 'utf8')))")}`,
    },
  ]),
  ...features('workspaces', [
    {
      id: 'h-day-new-workspace',
      name: 'adds a package with tests to a monorepo',
      act: sh`${write('packages/means/package.json', '{ "name": "means", "version": "1.0.0", "type": "module", "scripts": { "test": "node --test" } }')}${write('packages/means/src/mean.js', 'export const mean = (numbers) => numbers.reduce((total, number) => total + number, 0) / numbers.length')}${write('packages/means/test/mean.test.js', "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { mean } from '../src/mean.js'\n\ntest('mean', () => assert.equal(mean([1, 3]), 2))")}`,
    },
  ]),
  ...fixes('pytest', [
    {
      id: 'h-day-pytest-renamed',
      name: 'fixes a bug and renames a test file, as the user allows',
      also: 'git mv tests/test_sums.py tests/test_totals.py',
      sprint: { 'may-change': ['tests/**'] },
    },
  ]),
  ...features('pytest', [
    {
      id: 'h-day-pytest-table',
      name: 'adds a function with a table of cases and a fixture',
      act: sh`${append('calc/sums.py', '\ndef double(numbers):\n    return [2 * number for number in numbers]')}${write('tests/test_double.py', 'import pytest\n\nfrom calc.sums import double\n\n\n@pytest.fixture\ndef pair():\n    return [1, 2]\n\n\n@pytest.mark.parametrize("numbers,expected", [([], []), ([3], [6])])\ndef test_double(numbers, expected):\n    assert double(numbers) == expected\n\n\ndef test_double_of_a_pair(pair):\n    assert double(pair) == [2, 4]')}`,
    },
  ]),
  ...fixes('go', [
    {
      id: 'h-day-go-package',
      name: 'fixes a bug and adds a Go package with tests',
      also: sh`${write('words/words.go', 'package words\n\nfunc Count(text string) int {\n\treturn len(text)\n}')}${write('words/words_test.go', 'package words\n\nimport "testing"\n\nfunc TestCount(t *testing.T) {\n\tif Count("abc") != 3 {\n\t\tt.Fatal("not 3")\n\t}\n}')}`,
    },
  ]),
  ...features('rust', [
    {
      id: 'h-day-rust-documented',
      name: 'adds a function with an indented example and an integration test',
      act: sh`printf '\n/// Multiplies.\n///\n///     assert_eq!(sums::product(&[2, 3]), 6);\npub fn product(numbers: &[i64]) -> i64 {\n    numbers.iter().product()\n}\n' >> src/lib.rs; ${write('tests/product.rs', '#[test]\nfn product_of_two() {\n    assert_eq!(sums::product(&[2, 4]), 8);\n}')}`,
    },
  ]),
]
