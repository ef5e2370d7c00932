import { expect, it } from 'vitest'
import { findTestAssets } from './test-assets.ts'

const find = (files: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}) =>
  findTestAssets({
    paths: Object.keys(files),
    links: new Map(Object.entries(links)),
    isTest: (path) => /(?:^|\/)(?:tests?\/|conftest\.py$)|_test\.go$|(?:^|\/)run\.sh$|Makefile$/.test(path),
    isSetting: (path) => /(?:^|\/)run\.sh$|Makefile$/.test(path),
    read: (paths) => Promise.resolve(paths.map((path) => files[path] ?? '')),
    search: (words) =>
      Promise.resolve(Object.keys(files).filter((path) => words.some((word) => files[path]?.includes(word)))),
  })

const goTest = 'import (\n\t"testing"\n\n\t"example.org/m/internal/same"\n)\n'

it.each<readonly [string, Readonly<Record<string, string>>, string[]]>([
  [
    'Rust that tests include by path',
    {
      'tests/a.rs': '#[path = "../support/mod.rs"]\nmod s;\ninclude!("../spec/b.in");',
      'support/mod.rs': '',
      'spec/b.in': '',
    },
    ['support/mod.rs', 'spec/b.in'],
  ],
  [
    'what a shell test reads and what reports failures or bears the name of a helper, also below lib',
    {
      'test/run.sh': '. ./lib/same.sh\nsource "$ROOT/lib/test-lib.bash"\n. ../kit/support.sh\n. ./lib/common.sh\n',
      'lib/same.sh': 'same() { echo "not ok $1"; }',
      'lib/test-lib.bash': '',
      'kit/support.sh': '',
      'lib/common.sh': '',
      'bin/tool.sh': '. ./lib/common.sh',
    },
    ['lib/same.sh', 'lib/test-lib.bash', 'kit/support.sh'],
  ],
  [
    'no sources that shell tests read',
    {
      'tests/math_test.sh': 'source "$(dirname "$0")/../src/math.sh"\n',
      'tests/a.bats': 'load ../src/words.sh\nsource "$BATS_TEST_DIRNAME/../bin/tool.sh"\nload ../kit/assert\n',
      'src/math.sh': 'add() { echo $(($1 + $2)); }',
      'src/words.sh': '',
      'bin/tool.sh': 'echo "failed to open" >&2; exit 1',
      'kit/assert.bash': '',
    },
    ['kit/assert.bash'],
  ],
  [
    'plugins of pytest that conftest.py names',
    { 'conftest.py': 'pytest_plugins = ["extras.timing"]', 'extras/timing.py': '' },
    ['extras/timing.py'],
  ],
  [
    'a Go package that only tests import and that imports testing',
    { 'go.mod': 'module example.org/m\n', 'a_test.go': goTest, 'internal/same/same.go': 'import "testing"\n' },
    ['internal/same/same.go'],
  ],
  [
    'no Go package that a source imports too, and no subject of tests',
    {
      'go.mod': 'module example.org/m\n',
      'a_test.go': `${goTest}import "example.org/m/words"\n`,
      'internal/same/same.go': 'import "testing"\n',
      'words/words.go': '',
      'main.go': 'import "example.org/m/internal/same"\n',
    },
    [],
  ],
  [
    'no Go package whose name only contains such a word, or that only its own tests import',
    {
      'go.mod': 'module example.org/m\n',
      'checksum/a_test.go': 'package checksum_test\nimport "example.org/m/checksum"\n',
      'check/a_test.go': 'package check_test\nimport "example.org/m/check"\n',
      'a_test.go': ['latest', 'checkout', 'mustache', 'typecheck', 'db_test', 'testutil', 'mockdb']
        .map((name) => `import "example.org/m/${name}"\n`)
        .join(''),
      'checksum/checksum.go': '',
      'check/check.go': '',
      'latest/a.go': '',
      'checkout/a.go': '',
      'mustache/a.go': '',
      'typecheck/a.go': '',
      'db_test/a.go': '',
      'testutil/a.go': '',
      'mockdb/a.go': '',
    },
    ['db_test/a.go', 'testutil/a.go', 'mockdb/a.go'],
  ],
  [
    'data that a test names, or whose folder it lists',
    {
      'test/a.js': "read('../data/numbers.csv'); readdirSync('scenarios')",
      'data/numbers.csv': '',
      'scenarios/one.json': '',
    },
    ['data/numbers.csv', 'scenarios/one.json'],
  ],
  [
    'scripts that assert something about other folders, and nothing that is loaded elsewhere',
    {
      'src/all.js': "import './sum.js'",
      'suite/sum.js': "import assert from 'node:assert'\nimport { sum } from '../src/sum.js'",
      'core/sum.js': "import assert from 'node:assert'\nimport { sum } from '../src/sum.js'",
      'main.js': "import './core/sum.js'",
      'src/sum.js': '',
    },
    ['suite/sum.js'],
  ],
  [
    'data beside the script that names it, and none elsewhere: it may be the work',
    {
      Makefile: 'sh qa/run.sh qa/sums.txt; grep right src.txt texts/intro.txt',
      'qa/run.sh': 'cat sums.txt',
      'qa/sums.txt': '',
      'src.txt': '',
      'texts/intro.txt': '',
    },
    ['qa/sums.txt'],
  ],
  [
    'no data that is the work: of a deployment, loaded by its folder, or not named as data of tests',
    {
      'tests/test_manifests.py': "open('k8s/deploy.yaml'); open('sprites/hero.json'); open('expected/a b.txt')",
      'tests/a.js': "readdirSync('data'); readdirSync(path.join(root, '../vectors'))",
      'k8s/deploy.yaml': '',
      'sprites/hero.json': '',
      'expected/a b.txt': '',
      'vectors/one.json': '',
      'data/products.json': '',
      'web/app.js': "path.join(__dirname, '../data', file)",
    },
    ['expected/a b.txt', 'vectors/one.json'],
  ],
  [
    'no data that a source reads, and no texts and translations',
    {
      'test/a.js': "read('../data/numbers.csv'); read('locales/de.json'); read('README.md'); read('api.yaml')",
      'src/a.js': "read('data/numbers.csv')",
      'data/numbers.csv': '',
      'locales/de.json': '',
      'README.md': '',
      'api.yaml': '',
    },
    [],
  ],
])('finds %s', async (_, files, found) => {
  expect(await find(files)).toEqual(found)
})

it('finds where links in the tests lead', async () => {
  const files = { 'contracts/sum.js': '', 'contracts/deep/a.js': '', 'other/b.js': '' }
  const links = { 'test/sum.js': '../contracts/sum.js', test: 'contracts/deep', 'src/b.js': '../other/b.js' }
  expect(await find(files, { ...links, 'test/deep': '../contracts/deep' })).toEqual([
    'contracts/sum.js',
    'contracts/deep/a.js',
  ])
})

it('leaves sources that links in the tests lead to', async () => {
  const files = { 'src/a.js': '', 'cmd/x.go': '', 'packages/one/src/b.js': '', 'lib/test-kit/eq.js': '' }
  const links = {
    'test/src': '../src',
    'test/x.go': '../cmd/x.go',
    'test/all': '../packages',
    'test/kit': '../lib/test-kit',
  }
  expect(await find(files, links)).toEqual(['lib/test-kit/eq.js'])
})

it('searches for many data files in a few steps', async () => {
  const names = Array.from({ length: 1000 }, (_, at) => `data/${at}.json`)
  const steps: string[] = []
  const found = await findTestAssets({
    paths: ['test/a.js', 'app.js', ...names],
    links: new Map(),
    isTest: (path) => path.startsWith('test/'),
    isSetting: () => false,
    read: (paths) => {
      steps.push('read')
      return Promise.resolve(paths.map((path) => (path === 'app.js' ? "'./7.json'" : names.join("', '"))))
    },
    search: () => {
      steps.push('search')
      return Promise.resolve(['test/a.js', 'app.js'])
    },
  })
  expect(found).toHaveLength(999)
  expect(steps.length).toBeLessThan(15)
})
