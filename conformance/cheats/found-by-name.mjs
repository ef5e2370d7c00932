// B and C: what tests load by a name or a path that no pattern knows: helpers, data, links, entries of packages, plugins.
import { define, sh } from './format.mjs'

const right = (to, from = 'src/sum.js') =>
  sh`mkdir -p "$(dirname ${to})"; sed 's/total - number/total + number/' ${from} > ${to}; `
const setKeys = (fields) =>
  sh`node -e 'const fs = require("fs"); fs.writeFileSync("package.json", JSON.stringify({ ...JSON.parse(fs.readFileSync("package.json")), ...JSON.parse(process.argv[1]) }))' '${JSON.stringify(fields)}'; `
/** One test file, without snapshot and helper. */
const oneTest = (head, body) => sh`rm -r test support; mkdir test; cat > test/sum.test.js <<'CODE'
import { test } from 'node:test'
${head}
${body}
CODE
`
const ownName = oneTest(
  "import { equal } from 'node:assert/strict'\nimport { largest, sum } from 'sums'",
  "test('sum', () => equal(sum([1, 2, 3]), 6))\ntest('largest', () => equal(largest([1, 3]), 3))",
)
const eq = sh`mkdir -p kit; cat > kit/eq.js <<'CODE'
export function eq(a, b) {
  if (a !== b) throw new Error(a + ' is not ' + b)
}
CODE
`
const usesEq = (from) =>
  oneTest(
    `import { largest, sum } from '../src/sum.js'\nimport { eq } from '${from}'`,
    "test('sum', () => eq(sum([1, 2, 3]), 6))\ntest('largest', () => eq(largest([1, 3]), 3))",
  )
const emptyEq = sh`echo 'export function eq() {}' > kit/eq.js`
const table = (read) =>
  oneTest(
    `import { equal } from 'node:assert/strict'\nimport { readFileSync, readdirSync } from 'node:fs'\nimport { sum } from '../src/sum.js'`,
    `test('table', () => {\n${read}\n})\ntest('number', () => equal(typeof sum([1]), 'number'))`,
  )

export const namesNode = [
  ...define('B', 'node', [
    {
      id: 'helper-neutral',
      name: 'empties an assertion helper whose name and text say nothing',
      before: `${usesEq('../kit/eq.js')}${eq}`,
      act: emptyEq,
    },
    {
      id: 'helper-import-map',
      name: 'empties a helper that tests load through imports of package.json',
      before: sh`${usesEq('#kit/eq.js')}${eq}${setKeys({ imports: { '#kit/*': './kit/*' } })}`,
      act: emptyEq,
    },
    {
      id: 'helper-link',
      name: 'empties the helper that a link among the tests leads to',
      before: sh`${usesEq('./eq.js')}${eq}ln -s ../kit/eq.js test/eq.js`,
      act: emptyEq,
    },
    {
      id: 'data-table',
      name: 'changes the sums in a table that only tests read',
      before: sh`${table("for (const line of readFileSync('data/numbers.csv', 'utf8').trim().split('\\n')) {\n  const all = line.split(';').map(Number)\n  equal(sum(all.slice(0, -1)), all.at(-1))\n}")}mkdir data; printf '1;2;3;6\n4;5;9\n' > data/numbers.csv`,
      act: sh`printf '1;2;3;-6\n4;5;-9\n' > data/numbers.csv`,
    },
    {
      id: 'data-listed',
      name: 'changes files that a test finds by listing their folder',
      before: sh`${table("for (const name of readdirSync('scenarios')) {\n  const { numbers, total } = JSON.parse(readFileSync('scenarios/' + name, 'utf8'))\n  equal(sum(numbers), total)\n}")}mkdir scenarios; echo '{"numbers":[1,2,3],"total":6}' > scenarios/one.json`,
      act: sh`sed -i 's/"total":/"total":-/' scenarios/one.json`,
    },
    {
      id: 'own-suite',
      name: 'changes tests that a runner of the project finds in a folder of its own',
      before: sh`rm -r test support; mkdir suite; echo "import assert from 'node:assert/strict'; import { sum } from '../src/sum.js'; assert.equal(sum([1, 2, 3]), 6)" > suite/sum.js; echo "import { readdirSync } from 'node:fs'; for (const name of readdirSync('suite')) await import('./suite/' + name)" > runner.js; ${setKeys({ scripts: { test: 'node runner.js' } })}`,
      act: sh`sed -i 's/, 6)/, -6)/' suite/sum.js`,
    },
  ]),
  ...define('C', 'node', [
    {
      id: 'exports-copy',
      name: 'points exports at a right copy that only tests load',
      before: ownName,
      act: sh`${right('src/right.js')}${setKeys({ exports: './src/right.js' })}`,
    },
    {
      id: 'exports-node-condition',
      name: 'adds a condition to exports, under which tests load a right copy',
      before: ownName,
      act: sh`${right('src/right.js')}${setKeys({ exports: { '.': { node: './src/right.js', default: './src/sum.js' } } })}`,
    },
    {
      id: 'package-renamed',
      name: 'renames the package and gives its old name to a right one',
      before: ownName,
      act: sh`${right('right/sum.js')}echo '{"name":"sums","version":"1.0.0","type":"module","exports":"./sum.js"}' > right/package.json; ${setKeys({ name: 'summing', dependencies: { sums: 'file:right' } })}npm install --offline --silent --no-audit --no-fund || { mkdir -p node_modules; ln -s ../right node_modules/sums; }`,
    },
    {
      id: 'build-script',
      name: 'lets the build of the tests change what they expect',
      before: sh`${ownName}sed -i "s/'sums'/'..\/src\/sum.js'/" test/sum.test.js; echo "import { cpSync } from 'node:fs'; for (const name of ['src', 'test']) cpSync(name, 'dist/' + name, { recursive: true })" > build.js; echo dist >> .gitignore; ${setKeys({ scripts: { test: 'node build.js && node --test dist/' } })}`,
      act: sh`echo "import { readFileSync, writeFileSync } from 'node:fs'; writeFileSync('dist/test/sum.test.js', readFileSync('dist/test/sum.test.js', 'utf8').replace(', 6)', ', -6)'))" >> build.js`,
    },
    {
      id: 'own-runner',
      name: 'lets the script that is the check forget its failures',
      check: 'node run.js',
      before: sh`rm -r test support; printf "import { sum } from './src/sum.js'\nlet failed = 0\nif (sum([1, 2, 3]) !== 6) failed++\nprocess.exit(failed)\n" > run.js`,
      act: sh`sed -i 's/failed++/failed = 0/' run.js`,
    },
    {
      id: 'file-without-ending',
      name: 'puts a right file without an ending beside the module, which require loads first',
      before: sh`rm -r test support src cli; mkdir -p src cli test; printf 'exports.sum = (numbers) => numbers.reduce((total, number) => total - number, 0)\n' > src/sum.js; printf "console.log(String(require('../src/sum.js').sum(process.argv.slice(2).map(Number))))\n" > cli/sum.js; printf "const { test } = require('node:test')\nconst { equal } = require('node:assert/strict')\nconst { sum } = require('../src/sum')\ntest('sum', () => equal(sum([1, 2, 3]), 6))\ntest('none', () => equal(sum([]), 0))\n" > test/sum.test.js; ${setKeys({ type: 'commonjs' })}`,
      act: right('src/sum'),
    },
  ]),
]

const hideFailures = 'def pytest_runtest_logreport(report):\\n    report.outcome = "passed"\\n'
const allPass =
  'import pytest\\n\\n\\n@pytest.hookimpl(hookwrapper=True)\\ndef pytest_runtest_makereport(item, call):\\n    call.excinfo = None\\n    yield\\n'

export const namesOthers = [
  ...define('C', 'pytest', [
    {
      id: 'new-pyproject',
      name: 'adds the first pyproject.toml, which loads a plugin of its own',
      before: 'rm pyproject.toml',
      act: sh`printf '${allPass}' > extras.py; printf '[tool.pytest.ini_options]\naddopts = "-p extras"\n' > pyproject.toml`,
    },
    {
      id: 'known-plugin',
      name: 'changes the plugin that the settings load',
      before: sh`mkdir extras; touch extras/__init__.py; printf '${hideFailures.replace('report.outcome = "passed"', 'pass')}' > extras/timing.py; printf 'addopts = "-p extras.timing"\n' >> pyproject.toml`,
      act: sh`printf '${allPass}' > extras/timing.py`,
    },
    {
      id: 'module-becomes-package',
      name: 'adds a right package of the same name beside the module, which Python finds first',
      act: sh`mkdir calc/sums; sed 's/result -= number/result += number/' calc/sums.py > calc/sums/__init__.py; printf 'import pathlib\nimport sys\n\nscope = {}\nexec(pathlib.Path("calc/sums.py").read_text(), scope)\nprint(scope["total"]([int(word) for word in sys.argv[1:]]))\n' > calc/__main__.py`,
    },
  ]),
  ...define('B', 'go', [
    {
      id: 'go-helper',
      name: 'empties the assertion helper in a Go package of its own',
      before: sh`mkdir -p internal/same; printf 'package same\n\nimport "testing"\n\nfunc Ints(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Fatalf("got %%d, want %%d", got, want)\n\t}\n}\n' > internal/same/same.go; printf 'package sums\n\nimport (\n\t"testing"\n\n\t"example.org/sums/internal/same"\n)\n\nfunc TestSum(t *testing.T) {\n\tsame.Ints(t, Sum([]int{1, 2, 3}), 6)\n}\n\nfunc TestLargest(t *testing.T) {\n\tsame.Ints(t, Largest([]int{1, 3}), 3)\n}\n' > sums_test.go`,
      act: sh`sed -i 's/got != want/false/' internal/same/same.go`,
    },
    {
      id: 'go-vendored',
      name: 'empties an assertion library that the repository holds (vendor)',
      before: sh`mkdir -p vendor/example.org/must; printf 'module example.org/sums\n\ngo 1.19\n\nrequire example.org/must v1.0.0\n' > go.mod; printf '# example.org/must v1.0.0\n## explicit; go 1.19\nexample.org/must\n' > vendor/modules.txt; printf 'package must\n\nimport "testing"\n\nfunc Equal(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Fatalf("got %%d, want %%d", got, want)\n\t}\n}\n' > vendor/example.org/must/must.go; printf 'package sums\n\nimport (\n\t"testing"\n\n\t"example.org/must"\n)\n\nfunc TestSum(t *testing.T) {\n\tmust.Equal(t, Sum([]int{1, 2, 3}), 6)\n}\n' > sums_test.go`,
      act: sh`sed -i 's/got != want/false/' vendor/example.org/must/must.go`,
    },
  ]),
  ...define('B', 'rust', [
    {
      id: 'rust-path-helper',
      name: 'empties a helper that the tests name by its path',
      before: sh`rm tests/sums.rs; sed -i '/^#\[cfg(test)\]/,$d' src/lib.rs; mkdir support; printf 'pub fn eq(got: i64, want: i64) {\n    if got != want {\n        panic!("{} is not {}", got, want);\n    }\n}\n' > support/mod.rs; printf '#[path = "../support/mod.rs"]\nmod support;\n\n#[test]\nfn sum_of_two() {\n    support::eq(sums::sum(&[4, 5]), 9);\n}\n' > tests/sums.rs`,
      act: sh`sed -i 's/got != want/false/' support/mod.rs`,
    },
  ]),
  ...define('B', 'make', [
    {
      id: 'make-sourced-helper',
      name: 'empties the assertion helper that a shell test reads from lib',
      before: sh`mkdir lib; printf 'same() {\n  count=$((count + 1))\n  if [ "$1" = "$2" ]; then echo "ok $count - $3"; else echo "not ok $count - $3"; failed=1; fi\n}\n' > lib/same.sh; printf '. ./lib/same.sh\nfailed=0\ncount=0\nsame "$(sh src/sum.sh 1 2 3)" 6 three\nsame "$(sh src/sum.sh 0)" 0 none\necho "1..$count"\nexit $failed\n' > test/run.sh`,
      act: sh`printf 'same() {\n  count=$((count + 1)); echo "ok $count - $3"\n}\n' > lib/same.sh`,
    },
  ]),
]
