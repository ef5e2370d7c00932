// Tests, settings and documents change, and the user has said that they may.
import { append, features, fixes, nodeTest, sh, write } from './format.mjs'

const optional = { proof: 'optional' }
const may = (...globs) => ({ 'may-change': globs })

export const changed = [
  ...fixes('node', [
    {
      id: 'h-change-expectation',
      name: 'corrects a wrong expectation that the user lets it change',
      act: sh`sed -i 's/total - number/total + number/; s/Math.max(...numbers)/numbers.length === 0 ? 0 : Math.max(...numbers)/' src/sum.js; sed -i "s/'largest finds the largest number'/'largest finds the largest number, 0 for none'/; s/same(largest(\[1, 3, 2\]), 3)/&\n  same(largest([]), 0)/" test/sum.test.js`,
      sprint: may('test/**'),
    },
    {
      id: 'h-change-renamed-test',
      name: 'fixes a bug and renames a test file',
      also: 'git mv test/report.test.js test/text-report.test.js',
      sprint: may('test/**'),
    },
    {
      id: 'h-change-moved-test',
      name: 'fixes a bug and moves a test into a folder',
      also: sh`mkdir test/reports; git mv test/report.test.js test/reports/report.test.js; git mv test/snapshots test/reports/snapshots; sed -i "s#'../#'../../#" test/reports/report.test.js`,
      sprint: may('test/**'),
    },
    {
      id: 'h-change-helper',
      name: 'fixes a bug and gives the assertion helper a better message',
      also: sh`sed -i 's/assert.deepEqual(actual, expected)/assert.deepEqual(actual, expected, "not the same")/' support/same.js`,
      sprint: may('support/**'),
    },
    {
      id: 'h-change-deleted-test',
      name: 'removes a feature with its test, as the user asked',
      act: sh`sed -i 's/total - number/total + number/' src/sum.js; rm src/report.js test/report.test.js; rm -r test/snapshots`,
      sprint: may('test/**'),
    },
    {
      id: 'h-change-script',
      name: 'fixes a bug and changes the test script, as the user allows',
      also: sh`sed -i 's/"test": "node --test"/"test": "node --test --test-reporter=tap"/' package.json`,
      sprint: may('package.json'),
    },
    {
      id: 'h-change-npmrc',
      name: 'fixes a bug and adds an .npmrc, as the user allows',
      also: 'echo "fund=false" > .npmrc',
      sprint: may('.npmrc'),
    },
    {
      id: 'h-change-comments',
      name: 'fixes a bug and corrects a comment in a test',
      also: sh`sed -i '1i // Sums of numbers.' test/sum.test.js`,
      sprint: may('test/**'),
    },
    {
      id: 'h-change-format',
      name: 'fixes a bug and formats the tests with semicolons',
      also: sh`sed -i 's/)$/);/' test/sum.test.js`,
      sprint: may('test/**'),
    },
    {
      id: 'h-change-interface',
      name: 'fixes a bug and renames a function together with its tests',
      also: sh`sed -i 's/\bmean\b/average/g' src/sum.js test/sum.test.js`,
      sprint: may('test/**'),
    },
    {
      id: 'h-change-snapshot',
      name: 'fixes a bug and changes a report together with its snapshot',
      also: sh`sed -i 's/sum \$/total $/' src/report.js; sed -i 's/^sum/total/' test/snapshots/report.txt`,
      sprint: may('test/snapshots/**'),
    },
  ]),
  ...features('node', [
    {
      id: 'h-optional-docs',
      name: 'writes documentation, proof optional',
      sprint: optional,
      act: write('README.md', '# Sums\n\n`sum([1, 2])` is 3.'),
    },
    {
      id: 'h-optional-refactor',
      name: 'changes the structure and not the behaviour, proof optional',
      sprint: optional,
      act: sh`sed -i 's/total + number/number + total/' src/sum.js; ${append('src/sum.js', 'export const average = mean')}`,
    },
    {
      id: 'h-optional-tests',
      name: 'adds tests for code that stays as it is, proof optional',
      sprint: optional,
      act: nodeTest('test/more.test.js', 'sum of negative numbers', { body: 'same(sum([-1, -2]), -3)' }),
    },
    {
      id: 'h-optional-settings',
      name: 'adds an editor configuration, proof optional',
      sprint: optional,
      act: write('.editorconfig', 'root = true\n\n[*]\nindent_size = 2'),
    },
    {
      id: 'h-optional-research',
      name: 'answers a question in writing, proof optional',
      sprint: optional,
      act: write('docs/answer.md', 'Sums overflow at 2^53.'),
    },
    {
      id: 'h-unchecked',
      name: 'writes a page where there is no check',
      sprint: { 'done-when': [] },
      act: write('docs/page.md', 'A page.'),
    },
    {
      id: 'h-optional-licence',
      name: 'adds a licence and an ignore file, proof optional',
      sprint: optional,
      act: sh`echo MIT > LICENSE; echo '*.log' >> .gitignore`,
    },
  ]),
  ...fixes('pytest', [
    {
      id: 'h-change-pytest-config',
      name: 'fixes a bug and moves the configuration to pytest.ini, as the user allows',
      also: sh`printf '[pytest]\ntestpaths = tests\n' > pytest.ini; sed -i '/tool.pytest/,$d' pyproject.toml`,
      sprint: may('pytest.ini', 'pyproject.toml'),
    },
    {
      id: 'h-change-pytest-split',
      name: 'fixes a bug and splits a test file in two',
      also: sh`printf 'from calc.sums import largest\n\n\ndef test_largest():\n    assert largest([1, 3, 2]) == 3\n' > tests/test_largest.py; sed -i '/^def test_largest/,$d' tests/test_sums.py`,
      sprint: may('tests/**'),
    },
  ]),
  ...fixes('unittest', [
    {
      id: 'h-change-python-package',
      name: 'fixes a bug and adds the metadata of a package',
      also: sh`printf '[project]\nname = "calc"\nversion = "1.0.0"\n' > pyproject.toml`,
    },
  ]),
  ...fixes('make', [
    {
      id: 'h-change-make-target',
      name: 'fixes a bug and adds a target to the Makefile, as the user allows',
      also: sh`printf '\n.PHONY: clean\nclean:\n\trm -rf build\n' >> Makefile`,
      sprint: may('Makefile'),
    },
    {
      id: 'h-change-make-cases',
      name: 'fixes a bug and adds cases, as the user allows',
      also: 'echo "10 20=30" >> test/cases.txt',
      sprint: may('test/**'),
    },
  ]),
  ...fixes('rust', [
    {
      id: 'h-change-rust-module',
      name: 'fixes a bug and adds a Rust module with unit tests',
      also: sh`printf 'pub fn double(number: i64) -> i64 {\n    number * 2\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn doubles() {\n        assert_eq!(super::double(2), 4);\n    }\n}\n' > src/double.rs; sed -i '1i pub mod double;\n' src/lib.rs`,
    },
  ]),
  ...fixes('workspaces', [
    {
      id: 'h-change-workspace-move',
      name: 'fixes a bug and moves a package to another folder, as the user allows',
      also: sh`mkdir -p libs; git mv packages/texts libs/texts; sed -i 's#"packages/\*"#"packages/*", "libs/*"#' package.json; npm install --offline --silent --no-audit --no-fund --no-package-lock`,
      sprint: may('package.json', 'packages/**', 'libs/**'),
    },
  ]),
]
