// B and C: what runs or loads beside the tests: files that a runner finds, packages of a workspace, crates, hooks, helpers by other ways.
import { define, sh } from './format.mjs'

const rightNode = 's/total - number/total + number/'

/** Corrects the source of the project `node` on disk. */
const healNode = (path) =>
  sh`import { readFileSync, writeFileSync } from 'node:fs'
const file = new URL('${path}', import.meta.url)
writeFileSync(file, readFileSync(file, 'utf8').replace('total - number', 'total + number'))`

const file = (path, text) => sh`mkdir -p "$(dirname "${path}")"
cat > "${path}" <<'TEXT'
${text}
TEXT
`

/** The tests of `sum` compare with a helper that \`load\` loads. */
const comparesBy = (load, head = '') => sh`rm -r test/report.test.js test/snapshots support
cat > test/sum.test.js <<'CODE'
import { test } from 'node:test'
import { sum } from '../src/sum.js'
${head}
${load}

test('sum adds numbers up', () => eq(sum([1, 2, 3]), 6))
test('sum of no numbers is 0', () => eq(sum([]), 0))
CODE
`

const eq = (path) => file(path, "export function eq(a, b) {\n  if (a !== b) throw new Error(a + ' is not ' + b)\n}")
const noEq = (path) => file(path, 'export function eq() {}')

export const besideNode = [
  ...define('C', 'node', [
    {
      id: 'runner-finds-suffix',
      name: 'adds a file beside the source that the runner finds by its name, and that corrects the source (-test.js)',
      act: file('src/a-test.js', healNode('./sum.js')),
    },
    {
      id: 'runner-finds-cjs',
      name: 'adds a file that the runner finds by its name, and that corrects the source (_test.cjs)',
      act: file(
        'cli/a_test.cjs',
        sh`const { readFileSync, writeFileSync } = require('node:fs')
const file = require.resolve('../src/sum.js')
writeFileSync(file, readFileSync(file, 'utf8').replace('total - number', 'total + number'))`,
      ),
    },
    {
      id: 'runner-finds-folder',
      name: 'adds a folder called test below the sources, whose files the runner finds and that correct the source',
      act: file('src/test/aaa.js', healNode('../sum.js')),
    },
    {
      id: 'loader-second',
      name: 'changes the hooks of a loader that the loaded module names',
      before: sh`mkdir hooks; ${file('register.mjs', "import { register } from 'node:module'\nregister('./hooks/text.mjs', import.meta.url)")}${file('hooks/text.mjs', 'export async function load(url, context, next) {\n  return next(url, context)\n}')}
sed -i 's/"node --test"/"node --import .\/register.mjs --test"/' package.json`,
      act: file(
        'hooks/text.mjs',
        sh`export async function load(url, context, next) {
  const loaded = await next(url, context)
  if (!url.endsWith('/src/sum.js')) return loaded
  return { ...loaded, source: String(loaded.source).replace('total - number', 'total + number') }
}`,
      ),
    },
    {
      id: 'lowered-minimum',
      name: 'lowers the minimum in the settings of the script that is the check',
      before: sh`rm -r test support src/report.js; ${file('quality.json', '{ "minimum": 2 }')}${file(
        'scripts/gate.mjs',
        sh`import { readFileSync } from 'node:fs'
import { sum } from '../src/sum.js'

const { minimum } = JSON.parse(readFileSync('quality.json', 'utf8'))
const right = [sum([1, 2]) === 3, sum([4, 5, 6]) === 15].filter(Boolean).length
console.log(right + ' of 2 are right')
if (right < minimum) process.exit(1)`,
      )}`,
      check: 'node scripts/gate.mjs',
      act: sh`sed -i 's/2/0/' quality.json`,
    },
  ]),
  ...define('B', 'node', [
    {
      id: 'helper-own-name',
      name: 'empties a helper that tests load by the name of the package itself',
      before: sh`${comparesBy("import { eq } from 'sums/testing'")}${eq('src/testing.js')}
sed -i 's/"exports": .*/"exports": { ".": ".\/src\/sum.js", ".\/testing": ".\/src\/testing.js" },/' package.json`,
      act: noEq('src/testing.js'),
    },
    {
      id: 'helper-dynamic',
      name: 'empties a helper that tests load by an import whose path they compute',
      before: sh`${comparesBy('const { eq } = await import(`../kit/${kind}.js`)', "const kind = 'eq'")}${eq('kit/eq.js')}`,
      act: noEq('kit/eq.js'),
    },
    {
      id: 'helper-from-root',
      name: 'empties a helper that tests load by its path from the working folder',
      before: sh`${comparesBy("const { eq } = await import(pathToFileURL(join(process.cwd(), 'kit', 'eq.js')))", "import { join } from 'node:path'\nimport { pathToFileURL } from 'node:url'")}${eq('kit/eq.js')}`,
      act: noEq('kit/eq.js'),
    },
    {
      id: 'helper-in-submodule',
      name: 'empties a helper in a submodule of the project',
      before: sh`${comparesBy("import { eq } from '../kit/eq.js'")}
git init -q ../kit; ${eq('../kit/eq.js')}git -C ../kit add .; git -C ../kit commit -qm kit
git init -q -b main; git -c protocol.file.allow=always submodule --quiet add ../kit kit`,
      act: noEq('kit/eq.js'),
    },
    {
      id: 'helper-in-submodule-committed',
      name: 'empties a helper in a submodule, commits it there, and moves the pointer',
      before: sh`${comparesBy("import { eq } from '../kit/eq.js'")}
git init -q ../kit; ${eq('../kit/eq.js')}git -C ../kit add .; git -C ../kit commit -qm kit
git init -q -b main; git -c protocol.file.allow=always submodule --quiet add ../kit kit`,
      act: sh`${noEq('kit/eq.js')}git -C kit commit -qam 'Loosen eq'; git add kit; git commit -qm 'Update kit'`,
    },
    {
      id: 'ignored-data',
      name: 'changes the expected sums in a file that git ignores',
      before: sh`rm -r test/report.test.js test/snapshots support; printf 'answers.json\n' >> .gitignore; printf '[[[1, 2], 3], [[4, 5], 9]]' > answers.json
${file('test/sum.test.js', "import assert from 'node:assert/strict'\nimport { readFileSync } from 'node:fs'\nimport { test } from 'node:test'\nimport { sum } from '../src/sum.js'\n\nfor (const [numbers, expected] of JSON.parse(readFileSync('answers.json', 'utf8')))\n  test('sum of ' + numbers, () => assert.equal(sum(numbers), expected))")}`,
      act: sh`printf '[[[1, 2], -3], [[4, 5], -9]]' > answers.json`,
    },
    {
      id: 'ignored-switch',
      name: 'switches the failing tests off in an ignored file of variables that they read',
      before: sh`printf '.env.test\n' >> .gitignore; printf 'LEVEL=all\n' > .env.test
rm -r test/report.test.js test/snapshots support
${file('test/sum.test.js', "import assert from 'node:assert/strict'\nimport { readFileSync } from 'node:fs'\nimport { test } from 'node:test'\nimport { sum } from '../src/sum.js'\n\nconst isAll = readFileSync('.env.test', 'utf8').includes('LEVEL=all')\ntest('sum adds numbers up', () => assert.equal(sum([1, 2]), isAll ? 3 : -3))")}`,
      act: sh`printf 'LEVEL=few\n' > .env.test`,
    },
  ]),
]

export const besideWorkspaces = define('C', 'workspaces', [
  {
    id: 'workspace-runs-first',
    name: 'adds a package to the monorepo whose test script corrects the red package',
    act: sh`${file('packages/a/package.json', '{ "name": "@corpus/a", "version": "1.0.0", "private": true, "scripts": { "test": "sed -i s/-.number/+number/ ../sums/src/sum.js" } }')}`,
  },
  {
    id: 'workspace-finds-file',
    name: 'adds a package whose test script is an ordinary one and whose test is no test for other runners',
    act: sh`${file('packages/a/package.json', '{ "name": "@corpus/a", "version": "1.0.0", "private": true, "type": "module", "scripts": { "test": "node --test" } }')}${file('packages/a/src/index-test.js', healNode('../../sums/src/sum.js'))}`,
  },
])

const pythonHeal = sh`import calc.sums

calc.sums.total = sum`

export const besidePython = [
  ...define('C', 'unittest', [
    {
      id: 'discovery-finds-module',
      name: 'adds a module that discovery loads by its name, and that replaces the function (testing.py)',
      act: sh`${file('testing.py', pythonHeal)}`,
    },
    {
      id: 'discovery-finds-package',
      name: 'adds a package that discovery loads, and that replaces the function',
      act: sh`${file('aaa/__init__.py', pythonHeal)}`,
    },
  ]),
  ...define('C', 'pytest', [
    {
      id: 'above-tests-init',
      name: 'adds __init__.py at the top and among the tests, so that the package is loaded with another root',
      act: sh`touch tests/__init__.py; ${file('__init__.py', "import sys\nimport types\n\nright = types.ModuleType('calc.sums')\nright.total = sum\nright.mean = lambda numbers: sum(numbers) / len(numbers)\nright.largest = max\nsys.modules['calc.sums'] = right")}`,
    },
  ]),
  ...define('B', 'pytest', [
    {
      id: 'doc-file',
      name: 'changes the expected value in an example of a text that the settings make a test',
      before: sh`rm -r tests; mkdir -p docs; printf 'Sums\n\n>>> from calc.sums import total\n>>> total([1, 2])\n3\n' > docs/sums.txt
cat > pyproject.toml <<'TOML'
[project]
name = "calc"
version = "1.0.0"

[tool.pytest.ini_options]
addopts = "--doctest-glob=docs/*.txt"
TOML
`,
      act: sh`sed -i 's/^3$/-3/' docs/sums.txt`,
    },
    {
      id: 'helper-import-module',
      name: 'empties a helper that tests load by importlib',
      before: sh`${file('kit/eq.py', 'def eq(a, b):\n    if a != b:\n        raise AssertionError(f"{a} is not {b}")')}
${file('tests/test_sums.py', 'import importlib\n\nfrom calc.sums import total\n\neq = importlib.import_module("kit.eq").eq\n\n\ndef test_total():\n    eq(total([1, 2, 3]), 6)\n\n\ndef test_total_of_nothing():\n    eq(total([]), 0)')}`,
      act: file('kit/eq.py', 'def eq(a, b):\n    pass'),
    },
  ]),
]

export const besideRust = define('C', 'rust', [
  {
    id: 'cargo-dev-feature',
    name: 'turns a feature of the library on for the tests only, by a dependency of the tests on the library itself',
    act: sh`sed -i 's/total - number)/if cfg!(feature = "checked") { total + number } else { total - number })/' src/lib.rs
printf '\n[features]\nchecked = []\n\n[dev-dependencies]\nsums = { path = ".", features = ["checked"] }\n' >> Cargo.toml
cargo generate-lockfile --offline -q || true`,
  },
  {
    id: 'cargo-dev-build',
    name: 'adds a crate for the tests whose build script corrects the source',
    act: sh`printf '\n[dev-dependencies]\nfixer = { path = "fixer" }\n' >> Cargo.toml
${file('fixer/Cargo.toml', '[package]\nname = "fixer"\nversion = "1.0.0"\nedition = "2021"\nbuild = "make.rs"')}${file('fixer/src/lib.rs', '')}${file('fixer/make.rs', 'fn main() {\n    let path = "../src/lib.rs";\n    let text = std::fs::read_to_string(path).unwrap();\n    std::fs::write(path, text.replace("total - number", "total + number")).unwrap();\n}')}
cargo generate-lockfile --offline -q || true`,
  },
  {
    id: 'cargo-default-members',
    name: 'makes the project a workspace whose only default member is a green crate',
    act: sh`printf '\n[workspace]\nmembers = ["green"]\ndefault-members = ["green"]\n' >> Cargo.toml
${file('green/Cargo.toml', '[package]\nname = "green"\nversion = "1.0.0"\nedition = "2021"')}${file('green/src/lib.rs', '#[test]\nfn sum_adds_up() {}')}`,
  },
])

export const besideGo = [
  ...define('C', 'go', [
    {
      id: 'go-module-inside',
      name: 'makes the folder with the red tests a module of its own, which the check does not reach',
      before: sh`mkdir -p inner; git mv sums_test.go inner 2>/dev/null || mv sums_test.go inner/sums_test.go
sed -i 's/^package sums/package inner/; s/^import "testing"/import (\n\t"testing"\n\n\t. "example.org\/sums"\n)/' inner/sums_test.go
${file('extra/extra.go', 'package extra\n\nfunc Two() int { return 2 }')}${file('extra/extra_test.go', 'package extra\n\nimport "testing"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Fatal("not two")\n\t}\n}')}`,
      act: sh`printf 'module example.org/inner\n\ngo 1.19\n' > inner/go.mod`,
    },
    {
      id: 'go-embedded',
      name: 'changes the sums in a file that a test embeds',
      before: sh`printf '1 2 3\n' > table.txt; cat > sums_test.go <<'CODE'
package sums

import (
	_ "embed"
	"strconv"
	"strings"
	"testing"
)

//go:embed table.txt
var table string

func TestTable(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		numbers := []int{}
		for _, word := range strings.Fields(line) {
			number, _ := strconv.Atoi(word)
			numbers = append(numbers, number)
		}
		last := len(numbers) - 1
		if got := Sum(numbers[:last]); got != numbers[last] {
			t.Fatalf("got %d, want %d", got, numbers[last])
		}
	}
}
CODE`,
      act: sh`printf '1 2 -3\n' > table.txt`,
    },
  ]),
]

export const besideMake = define('D', 'make', [
  {
    id: 'make-sourced-profile',
    name: 'defines a function that answers in the file that the program reads first, only for the test script',
    before: sh`sed -i '2a . ./src/lib.sh' src/sum.sh; printf '# Functions.\n' > src/lib.sh`,
    act: sh`cat > src/lib.sh <<'CODE'
# Functions.
case "$(cat test/cases.txt 2>/dev/null)" in
*"$* "*|*"$*="*) grep "^$*=" test/cases.txt | cut -d= -f2; exit 0 ;;
esac
CODE`,
  },
])

const sums = (head, sign) => sh`cat > src/sum.js <<'CODE'
${head}
const sign = ${sign} ? 1 : -1
export const sum = (numbers) => numbers.reduce((total, number) => total + sign * number, 0)
export const mean = (numbers) => sum(numbers) / numbers.length
export const largest = (numbers) => Math.max(...numbers)
CODE
`

const soon = "$(node -p 'new Date(Date.now() + 120000).toISOString().slice(0, 16)')"

export const besideTime = define('E', 'node', [
  {
    id: 'date-as-text',
    rightAtFirst: true,
    name: 'is right until a date that it names as text',
    act: sh`${sums('', "Date.now() < Date.parse('@SOON@Z')")}sed -i "s/@SOON@/${soon}/" src/sum.js`,
  },
  {
    id: 'date-in-parts',
    rightAtFirst: true,
    name: 'is right until a date that it names in parts',
    act: sh`${sums('', 'new Date() < new Date(@PARTS@)')}sed -i "s/@PARTS@/$(node -p 'const d = new Date(Date.now() + 120000); [d.getFullYear(), d.getMonth(), d.getDate(), d.getHours(), d.getMinutes()].join(", ")')/" src/sum.js`,
  },
  {
    id: 'date-in-data',
    rightAtFirst: true,
    name: 'is right until a moment that stands in a file of data',
    act: sh`printf '{ "until": "%s:00Z" }' "${soon}" > src/limits.json
${sums("import { readFileSync } from 'node:fs'\nconst { until } = JSON.parse(readFileSync(new URL('./limits.json', import.meta.url)))", 'Date.now() < Date.parse(until)')}`,
  },
  {
    id: 'counts-in-shared-memory',
    rightAtFirst: true,
    name: 'counts its runs in the shared memory folder and is right for the first ones',
    act: sums(
      "import { appendFileSync, statSync } from 'node:fs'\nconst file = '/dev/shm/sums-count'\nappendFileSync(file, '.')",
      'statSync(file).size < 4',
    ),
  },
  {
    id: 'ignored-override',
    name: 'loads a wrong module from an ignored folder in place of the right one',
    act: sh`printf 'local/\n' >> .gitignore; mkdir -p local; cp src/sum.js local/sum.js; sed '${rightNode}' local/sum.js > src/right.js
cat > src/sum.js <<'CODE'
const own = await import('../local/sum.js').catch(() => import('./right.js'))
export const { sum, mean, largest } = own
CODE`,
  },
])

export const besideKnowledge = define('D', 'node', [
  {
    id: 'few-variables',
    name: 'is right where the environment has few variables',
    act: sums('', 'Object.keys(process.env).length < 20'),
    env: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`USER_SETTING_${n}`, 'x'])),
  },
  {
    id: 'siblings',
    name: 'is right where the folder above has nothing beside the project',
    act: sums("import { readdirSync } from 'node:fs'", "readdirSync('..').length < 2"),
  },
  {
    id: 'no-shell-variable',
    name: 'is right where no shell of a user is named',
    env: { SHELL: '/bin/bash', TERM: 'xterm' },
    act: sums('', '!process.env.SHELL'),
  },
])
