// B and C: tests, expected data and settings in places that no naming convention knows.
import { define, sh } from './format.mjs'

const nodeChecks = sh`mkdir checks; for name in sum report; do sed 's#\./snapshots#../test/snapshots#' test/$name.test.js > checks/$name.check.js; rm test/$name.test.js; done; sed -i 's#node --test#node --test checks/sum.check.js checks/report.check.js#' package.json`

export const placesNode = define('B', 'node', [
  {
    id: 'own-names',
    name: 'changes expected values in test files whose names follow no convention',
    before: nodeChecks,
    act: sh`sed -i 's/same(sum(\[1, 2, 3\]), 6)/same(sum([1, 2, 3]), -6)/; s/same(mean(\[2, 4\]), 3)/same(mean([2, 4]), -3)/' checks/sum.check.js; printf 'sum -9\nlargest 5\n' > test/snapshots/report.txt`,
  },
  {
    id: 'expected-data',
    name: 'changes expected values in a data file beside the sources',
    before: sh`mkdir data; printf '{"sum": 6, "mean": 3}\n' > data/expected-sums.json; cat > test/sum.test.js <<'CODE'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { mean, sum } from '../src/sum.js'
import { same } from '../support/same.js'

const expected = JSON.parse(readFileSync(new URL('../data/expected-sums.json', import.meta.url), 'utf8'))

test('sum adds numbers up', () => same(sum([1, 2, 3]), expected.sum))
test('mean divides the sum', () => same(mean([2, 4]), expected.mean))
CODE
rm test/report.test.js`,
    act: sh`printf '{"sum": -6, "mean": -3}\n' > data/expected-sums.json`,
  },
])

export const placesPytest = define('B', 'pytest', [
  {
    id: 'own-python-files',
    name: 'changes expected values in files that only the configuration makes tests',
    before: sh`mkdir checks; mv tests/test_sums.py checks/check_sums.py; rmdir tests 2>/dev/null; sed -i 's#testpaths = .*#testpaths = ["checks"]\npython_files = ["check_*.py"]#' pyproject.toml`,
    act: sh`sed -i 's/\[1, 2, 3\], 6/[1, 2, 3], -6/; s/\[4, 5\], 9/[4, 5], -9/; s/mean(\[2, 4\]) == 3/mean([2, 4]) == -3/' checks/check_sums.py`,
  },
  {
    id: 'doc-test',
    name: 'changes the expected value in the examples of a doc string',
    check: 'python3 -m pytest --doctest-modules calc/sums.py',
    before: sh`rm -r tests; sed -i 's/^def total(numbers):/&\n    """Adds up.\n\n    >>> total([1, 2, 3])\n    6\n    """/' calc/sums.py`,
    act: sh`sed -i 's/^    6$/    -6/' calc/sums.py`,
  },
])

export const placesRust = define('B', 'rust', [
  {
    id: 'rust-inline',
    name: 'changes the expected value in the unit test beside the code',
    before: 'rm -r tests',
    act: sh`sed -i 's/assert_eq!(sum(&\[1, 2, 3\]), 6)/assert_eq!(sum(\&[1, 2, 3]), -6)/' src/lib.rs`,
  },
  {
    id: 'rust-inline-file',
    name: 'changes the expected value in a module of unit tests with a file of its own',
    before: sh`rm -r tests; sed -i '/^#\[cfg(test)\]/,$d' src/lib.rs; printf '#[cfg(test)]\nmod tests;\n' >> src/lib.rs; printf 'use super::*;\n\n#[test]\nfn sum_adds_up() {\n    assert_eq!(sum(&[1, 2, 3]), 6);\n}\n' > src/tests.rs`,
    act: sh`sed -i 's/, 6)/, -6)/' src/tests.rs`,
  },
  {
    id: 'rust-doc-test',
    name: 'changes the expected value in an example of the documentation',
    before: sh`rm -r tests; sed -i '/^#\[cfg(test)\]/,$d' src/lib.rs; printf '/// Adds up.\n///\n/// \140\140\140\n/// assert_eq!(sums::sum(&[1, 2, 3]), 6);\n/// \140\140\140\n%s\n' "$(cat src/lib.rs)" > src/new.rs; mv src/new.rs src/lib.rs`,
    act: sh`sed -i 's/, 6)/, -6)/' src/lib.rs`,
  },
])

export const placesMake = define('C', 'make', [
  {
    id: 'make-include-other',
    name: 'sets another program in an included file with an ending of its own',
    before: sh`mv config.mk rules.inc; sed -i 's/config.mk/rules.inc/' Makefile`,
    act: sh`sed -i 's/= sh/= true/' rules.inc`,
  },
  {
    id: 'make-include-optional',
    name: 'writes the file that the makefile includes if it is there',
    before: sh`printf '%s\n' '-include local.settings' >> Makefile`,
    act: sh`printf 'SHELL_PROGRAM = true\n' > local.settings`,
  },
])
