// Tests in places that no naming convention knows, and honest work on them.
import { append, features, fixes, sh } from './format.mjs'

const double = sh`export function double(numbers) {
  return numbers.map((number) => 2 * number)
}`
const nodeChecks = sh`mkdir checks; mv test/sum.test.js checks/sum.check.js; sed -i 's#node --test#node --test checks/sum.check.js test#' package.json`

export const places = [
  ...fixes('rust', [
    {
      id: 'h-rust-inline-fix',
      name: 'fixes a bug that only a unit test beside the code shows, and adds another',
      before: 'rm -r tests',
      also: sh`sed -i 's/    fn largest_is_found/    fn sum_of_one() {\n        assert_eq!(sum(\&[7]), 7);\n    }\n\n    #[test]\n&/' src/lib.rs`,
    },
  ]),
  ...features('rust', [
    {
      id: 'h-rust-inline-new',
      name: 'adds a function with a unit test in the same file',
      act: sh`sed -i 's/^#\[cfg(test)\]/pub fn smallest(numbers: \&[i64]) -> Option<i64> {\n    numbers.iter().copied().min()\n}\n\n&/; s/    fn largest_is_found/    fn smallest_is_found() {\n        assert_eq!(smallest(\&[4, 2, 3]), Some(2));\n    }\n\n    #[test]\n&/' src/lib.rs`,
    },
  ]),
  ...features('rust', [
    {
      id: 'h-rust-doc-test',
      name: 'adds a function with an example in its documentation',
      check: 'cargo test -q --offline',
      before: sh`rm -r tests; sed -i '/^#\[cfg(test)\]/,$d' src/lib.rs; printf '/// Adds up.\n///\n/// \140\140\140\n/// assert_eq!(sums::sum(&[1, 2, 3]), 6);\n/// \140\140\140\n%s\n' "$(cat src/lib.rs)" > src/new.rs; mv src/new.rs src/lib.rs`,
      act: sh`printf '/// Multiplies.\n///\n/// \140\140\140\n/// assert_eq!(sums::product(&[2, 3]), 6);\n/// \140\140\140\npub fn product(numbers: &[i64]) -> i64 {\n    numbers.iter().product()\n}\n' >> src/lib.rs`,
    },
  ]),
  ...fixes('pytest', [
    {
      id: 'h-doc-test-fix',
      name: 'fixes a bug that an example in a doc string shows',
      check: 'python3 -m pytest --doctest-modules calc/sums.py',
      before: sh`rm -r tests; sed -i 's/^def total(numbers):/&\n    """Adds up.\n\n    >>> total([1, 2, 3])\n    6\n    """/' calc/sums.py`,
    },
  ]),
  ...features('node', [
    {
      id: 'h-own-names-new',
      name: 'adds a function, with its test in a file whose name follows no convention',
      before: nodeChecks,
      act: `${append('src/sum.js', double)}${append('checks/sum.check.js', "import { double } from '../src/sum.js'\ntest('double', () => same(double([1, 2]), [2, 4]))")}`,
    },
  ]),
  ...fixes('make', [
    {
      id: 'h-make-include-optional',
      name: 'fixes a bug where the makefile includes a file that is not there',
      before: sh`printf '%s\n' '-include local.settings' >> Makefile`,
    },
  ]),
]
