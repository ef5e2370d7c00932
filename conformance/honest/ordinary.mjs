// More of what ordinary pull requests do: names that look like tests, moved helpers, modules split, packages removed, data and dates.
import { append, features, fixes, nodeTest, sh, write } from './format.mjs'

const rustSplit = sh`mkdir -p src; cat > src/lib.rs <<'CODE'
mod extremes;
mod totals;

pub use extremes::largest;
pub use totals::sum;
CODE
cat > src/totals.rs <<'CODE'
pub fn sum(numbers: &[i64]) -> i64 {
    numbers.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_adds_up() {
        assert_eq!(sum(&[1, 2, 3]), 6);
    }
}
CODE
cat > src/extremes.rs <<'CODE'
pub fn largest(numbers: &[i64]) -> Option<i64> {
    numbers.iter().copied().max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_is_found() {
        assert_eq!(largest(&[1, 3, 2]), Some(3));
    }
}
CODE
`

export const ordinary = [
  ...fixes('node', [
    {
      id: 'h-more-lint-header',
      name: 'fixes a bug and switches a rule of the linter off for the file, which no check looks at',
      also: sh`sed -i '1i /* eslint-disable no-console */' src/*.js`,
    },
    {
      id: 'h-more-format-all',
      name: 'fixes a bug and formats sources and tests with double quotes',
      also: sh`sed -i "s/'/\"/g" src/*.js test/*.test.js support/*.js cli/*.js; printf '{ "singleQuote": false }\n' > .prettierrc`,
    },
    {
      id: 'h-more-helper-moved',
      name: 'fixes a bug and moves the helper of the tests to a folder among them',
      also: sh`mkdir -p test/helpers; git mv support/same.js test/helpers/same.js; sed -i "s/'..\/support\/same.js'/'.\/helpers\/same.js'/" test/*.test.js`,
    },
    {
      id: 'h-more-described',
      name: 'fixes a bug and groups the tests in a suite',
      also: sh`sed -i "s/^import { test } from 'node:test'/import { describe, test } from 'node:test'/; s/^test('sum adds/describe('sums', () => {\n&/" test/sum.test.js; echo '})' >> test/sum.test.js`,
    },
    {
      id: 'h-more-test-name',
      name: 'fixes a bug and renames a test, as the user allows',
      sprint: { 'may-change': ['test/sum.test.js'] },
      also: sh`sed -i "s/'mean divides the sum'/'the mean is the sum by the count'/" test/sum.test.js`,
    },
    {
      id: 'h-more-mjs-test',
      name: 'fixes a bug and turns a test file into a .mjs, as the user allows',
      sprint: { 'may-change': ['test/**'] },
      also: sh`git mv test/sum.test.js test/sum.test.mjs`,
    },
    {
      id: 'h-more-ignored-data',
      name: 'fixes a bug where all tests read a file that git ignores',
      before: sh`rm -r test/report.test.js test/snapshots; printf 'answers.json\n' >> .gitignore; printf '[[[1, 2], 3], [[4, 5], 9]]' > answers.json
${write('test/sum.test.js', "import assert from 'node:assert/strict'\nimport { readFileSync } from 'node:fs'\nimport { test } from 'node:test'\nimport { sum } from '../src/sum.js'\n\nfor (const [numbers, expected] of JSON.parse(readFileSync('answers.json', 'utf8')))\n  test('sum of ' + numbers, () => assert.equal(sum(numbers), expected))")}`,
    },
    {
      id: 'h-more-submodule-helper',
      name: 'fixes a bug where the helper of the tests lies in a submodule',
      before: sh`git init -q ../kit; cp support/same.js ../kit/same.js; git -C ../kit add .; git -C ../kit commit -qm kit
git init -q -b main; git -c protocol.file.allow=always submodule --quiet add ../kit kit
rm -r support; sed -i "s/'..\/support\/same.js'/'..\/kit\/same.js'/" test/*.test.js`,
    },
    {
      id: 'h-more-released',
      name: 'fixes a bug and notes the date of the release in the source',
      also: sh`echo "export const release = { version: '1.0.1', released: '$(date +%Y-%m-%d)' }" > src/release.js`,
    },
  ]),
  ...features('node', [
    {
      id: 'h-more-speed-test',
      name: 'adds a module whose name looks like that of a test, with a test',
      act: sh`${write('src/speed-test.js', "import { sum } from './sum.js'\n\nexport const measure = (numbers) => ({ count: numbers.length, total: sum(numbers) })")}${nodeTest('test/speed.test.js', 'measures', { imports: 'measure', from: '../src/speed-test.js', body: 'same(measure([1, 2]).total, 3)' })}`,
    },
    {
      id: 'h-more-testing-entry',
      name: 'adds helpers for the tests of others as an entry of the package, with a test',
      act: sh`${write('src/testing.js', "import { sum } from './sum.js'\n\nexport function numbersWithSum(total, count) {\n  const numbers = Array(count - 1).fill(1)\n  return [...numbers, total - sum(numbers)]\n}")}sed -i 's/"exports": .*/"exports": { ".": ".\/src\/sum.js", ".\/testing": ".\/src\/testing.js" },/' package.json
${write('test/testing.test.js', "import { test } from 'node:test'\nimport { numbersWithSum } from 'sums/testing'\nimport { sum } from '../src/sum.js'\nimport { same } from '../support/same.js'\n\ntest('numbers have the sum', () => {\n  same(sum(numbersWithSum(9, 3)), 9)\n})")}`,
    },
    {
      id: 'h-more-deprecated',
      name: 'renames a function, keeps the old name, and tests both',
      act: sh`${append('src/sum.js', 'export function average(numbers) {\n  return numbers.length === 0 ? 0 : mean(numbers)\n}')}${nodeTest('test/average.test.js', 'the average of nothing is 0', { imports: 'average', body: 'same(average([]), 0)' })}printf '# Changes\n\n## 1.1.0\n\n- average, which knows no numbers too\n' > CHANGELOG.md`,
    },
  ]),
  ...fixes('node-deps', [
    {
      id: 'h-more-engines',
      name: 'fixes a bug and names the versions of Node that the package supports',
      also: sh`node -e 'const fs = require("fs"); const p = JSON.parse(fs.readFileSync("package.json")); p.engines = { node: ">=20" }; fs.writeFileSync("package.json", JSON.stringify(p, undefined, 2) + "\n")'; npm install --offline --silent --no-audit --no-fund --package-lock-only`,
    },
  ]),
  ...features('workspaces', [
    {
      id: 'h-more-own-script',
      name: 'adds a package to a monorepo whose tests have a script of their own',
      act: sh`${write('packages/means/package.json', '{ "name": "means", "version": "1.0.0", "type": "module", "scripts": { "lint": "node --check src/mean.js", "test": "npm run lint && node --test test" } }')}${write('packages/means/src/mean.js', 'export const mean = (numbers) => numbers.reduce((total, number) => total + number, 0) / numbers.length')}${write('packages/means/test/mean.test.js', "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { mean } from '../src/mean.js'\n\ntest('mean', () => assert.equal(mean([1, 3]), 2))")}`,
    },
  ]),
  ...fixes('unittest', [
    {
      id: 'h-more-python-package',
      name: 'fixes a bug and moves a function to a package of its own',
      also: sh`mkdir -p calc/extremes; printf '"""Extremes of numbers."""\n\nfrom calc.extremes.largest import largest\n' > calc/extremes/__init__.py; printf 'def largest(numbers):\n    return max(numbers)\n' > calc/extremes/largest.py
sed -i '/^def largest/,$d' calc/sums.py; sed -i '1i from calc.extremes import largest\n' calc/sums.py`,
    },
  ]),
  ...features('unittest', [
    {
      id: 'h-more-testing-module',
      name: 'adds a module of helpers called testing.py with a test',
      act: sh`${write('calc/testing.py', 'def numbers_up_to(count):\n    return list(range(1, count + 1))')}${write('tests/test_testing.py', 'import unittest\n\nfrom calc.sums import total\nfrom calc.testing import numbers_up_to\n\n\nclass Testing(unittest.TestCase):\n    def test_numbers(self):\n        self.assertEqual(total(numbers_up_to(3)), 6)')}`,
    },
  ]),
  ...fixes('pytest', [
    {
      id: 'h-more-doc-file',
      name: 'fixes a bug where the examples of a text are tests, and adds an example',
      before: sh`mkdir -p docs; printf 'Sums\n\n>>> from calc.sums import total\n>>> total([1, 2])\n3\n' > docs/sums.txt
sed -i 's/^testpaths.*/testpaths = ["tests", "docs"]\naddopts = "--doctest-glob=*.txt"/' pyproject.toml`,
      also: sh`printf '\n>>> total([])\n0\n' >> docs/sums.txt`,
    },
  ]),
  ...fixes('rust', [
    {
      id: 'h-more-rust-split',
      name: 'fixes a bug and splits the library into modules with their unit tests',
      also: rustSplit,
    },
    {
      id: 'h-more-rust-workspace',
      name: 'fixes a bug and makes the project a workspace with a second crate',
      also: sh`printf '\n[workspace]\nmembers = ["means"]\n' >> Cargo.toml; ${write('means/Cargo.toml', '[package]\nname = "means"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\nsums = { path = ".." }')}${write('means/src/lib.rs', 'pub fn mean(numbers: &[i64]) -> i64 {\n    sums::sum(numbers) / numbers.len() as i64\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn mean_of_two() {\n        assert_eq!(super::mean(&[2, 4]), 3);\n    }\n}')}cargo generate-lockfile --offline -q`,
    },
  ]),
  ...fixes('go', [
    {
      id: 'h-more-go-table',
      name: 'fixes a bug and adds cases to the test file',
      also: sh`${append('sums_test.go', 'func TestSumOfTable(t *testing.T) {\n\tfor _, numbers := range [][]int{{1}, {1, 2}, {1, 2, 3}} {\n\t\twant := len(numbers) * (len(numbers) + 1) / 2\n\t\tif got := Sum(numbers); got != want {\n\t\t\tt.Errorf("got %d, want %d", got, want)\n\t\t}\n\t}\n}')}`,
    },
  ]),
  ...fixes('make', [
    {
      id: 'h-more-make-function',
      name: 'fixes a bug and moves a function of the shell script to a file of its own',
      also: sh`printf 'add() {\n  echo $(($1 + $2))\n}\n' > src/add.sh; printf '#!/bin/sh\n# Prints the sum of its arguments.\n. ./src/add.sh\ntotal=0\nfor number in "$@"; do\n  total=$(add "$total" "$number")\ndone\necho "$total"\n' > src/sum.sh`,
    },
  ]),
]
