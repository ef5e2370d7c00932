import { expect, it } from 'vitest'
import { findCheckScripts } from './check-scripts.ts'

const find = async (files: Readonly<Record<string, string>>, command = 'npm test') =>
  (await findCheckScripts([command], Object.keys(files), (path) => Promise.resolve(files[path]))).scripts

const manifest = (test: string): string => JSON.stringify({ scripts: { test } })

it.each<readonly [string, Record<string, string>, string[]]>([
  ['an option of the script', { 'package.json': manifest('node --import ./setup.mjs --test') }, ['setup.mjs']],
  ['a short option', { 'package.json': manifest('mocha -r src/register.js') }, ['src/register.js']],
  [
    'the settings of the runner, also below src',
    { 'vitest.config.ts': `test: { setupFiles: ['./src/register.js'], globalSetup: './setup.mjs' }` },
    ['src/register.js', 'setup.mjs'],
  ],
  ['jest', { 'jest.config.js': `setupFilesAfterEnv: ['<rootDir>/setup.mjs']` }, ['setup.mjs']],
  ['nothing of the kind', { 'package.json': manifest('node --test src/register.js') }, []],
])('finds what is loaded before the tests by %s', async (_, files, found) => {
  expect(await find({ 'src/register.js': '', 'setup.mjs': '', ...files })).toEqual(found)
})

it.each<readonly [string, string, string[]]>([
  ['an own runner', 'node run.mjs', ['run.mjs']],
  ['a build before the tests', 'node build.mjs && node --test dist/', ['build.mjs']],
  ['a plugin of pytest', 'python3 -m pytest -p extras.timing', ['extras/timing.py']],
  ['nothing whose output is compared', 'test "$(node run.mjs 1 2)" = 3', []],
  ['nothing whose output another program reads', 'node run.mjs 1 2 | grep 3', []],
  ['no program that is there to be run', 'node src/run.mjs && node main.js', []],
])('takes %s for a program of the check: %s', async (_, command, programs) => {
  const paths = ['run.mjs', 'build.mjs', 'extras/timing.py', 'src/run.mjs', 'main.js']
  expect((await findCheckScripts([command], paths, () => Promise.resolve(''))).programs).toEqual(programs)
})

const python = {
  'pyproject.toml': '',
  'setup.cfg': '',
  'tox.ini': '',
  'package.json': manifest('sh all.sh'),
  Makefile: '',
}
const others = { 'all.sh': '', 'scripts/release.py': '', 'tools/gen.py': '', 'pkg/health_check.py': '', 'calc.py': '' }

it.each<readonly [string, string, string[]]>([
  [
    'pyproject.toml',
    '[tool.ruff.lint.per-file-ignores]\n"scripts/release.py" = []\n"tools/gen.py" = []\n"pkg/health_check.py" = []',
    [],
  ],
  ['pyproject.toml', '[project]\ndescription = "just like npm test, but in make"', []],
  ['setup.cfg', '[options]\nscripts = scripts/release.py', []],
  ['setup.cfg', '[coverage:run]\ninclude = calc.py\ninclude calc.py', []],
  ['tox.ini', '[testenv]\ncommands =\n  mkdir -p calc\n  pytest', []],
  ['tox.ini', '[testenv]\ncommands =\n  pytest -p calc', ['calc.py']],
  ['setup.cfg', '[tool:pytest]\naddopts =\n  -v\n  -p calc', ['calc.py']],
  ['pyproject.toml', '[tool.pytest.ini_options]\naddopts = [\n  "-v",\n  "-p", "calc",\n]', ['calc.py']],
])('finds only plugins of pytest in %s: %s', async (name, text, programs) => {
  const files: Readonly<Record<string, string>> = { ...python, ...others, [name]: text }
  const read = (path: string) => Promise.resolve(files[path])
  expect(await findCheckScripts(['pytest'], Object.keys(files), read)).toEqual({ scripts: [], programs })
})

it.each<readonly [string, string]>([
  ['what node only parses', 'node --check game.js && node -c tool.js && node --test'],
  ['what php only parses', 'php -l functions.php && phpunit'],
  ['what ruby only parses', 'ruby -c tool.rb && ruby -wc tool.rb'],
  ['what a shell only parses', 'bash -n deploy.sh && bats test'],
  ['what a script of npm only parses', 'npm test'],
  ['a program that checks nothing', 'python3 fizzbuzz.py'],
  ['a program that loads nothing', 'node todo.js add x && node todo.js list'],
  ['a program that ends with the code of its main function', 'python3 tool.py && python3 game.py'],
  ['a package of cargo', 'cargo test -p mylib && pytest'],
  ['a folder of mkdir', 'mkdir -p build && pytest; mkdir -p build'],
])('leaves %s to the agent: %s', async (_, command) => {
  const files: Readonly<Record<string, string>> = {
    'package.json': manifest('node --check game.js && node --test'),
    'game.js': "import './board.js'\nprocess.exit(1)",
    'board.js': '',
    'tool.js': "import './board.js'\nprocess.exit(1)",
    'functions.php': "require './more.php'; exit(1);",
    'tool.rb': "require_relative 'more'\nexit 1",
    'deploy.sh': 'exit 1',
    'fizzbuzz.py': 'import sys\nprint(sys.argv)',
    'todo.js': "import { readFileSync } from 'node:fs'\nif (!process.argv[2]) process.exit(1)",
    'tool.py': 'import sys\nfrom more import main\nsys.exit(main(sys.argv))',
    'game.py': 'from more import main\nraise SystemExit(main())',
    'more.py': '',
    'mylib/__init__.py': '',
    'build.py': '',
  }
  const read = (path: string) => Promise.resolve(files[path])
  expect(await findCheckScripts([command], Object.keys(files), read)).toEqual({ scripts: [], programs: [] })
})

it.each<readonly [string, string, string]>([
  ['node all.js', 'all.js', "import { sum } from './sum.js'\nprocess.exit(sum([1, 2]) === 3 ? 0 : 1)"],
  ['node all.js', 'all.js', "import assert from 'node:assert'\nassert.equal(run('node', ['calc.py']), 3)"],
  ['python3 all.py', 'all.py', 'import sys\nfrom calc import total\nif total([1]) != 1:\n    sys.exit(1)'],
  ['python3 all.py', 'all.py', 'import calc\nassert calc.total([1]) == 1'],
  ['ruby all.rb', 'all.rb', "require_relative 'calc'\nexit 1 unless total([1]) == 1"],
  ['php all.php', 'all.php', "require __DIR__ . '/calc.php';\nexit(total([1]) === 1 ? 0 : 1);\nexit(1);"],
  ['node --test all.js', 'all.js', ''],
  ['node runner.js', 'runner.js', ''],
  ['python3 run_tests.py', 'run_tests.py', ''],
])('takes a program that judges other files for a test: %s', async (command, path, text) => {
  const read = (name: string) => Promise.resolve(name === path ? text : '')
  const { scripts, programs } = await findCheckScripts([command], [path, 'calc.py'], read)
  expect([...scripts, ...programs]).toEqual([path])
})

it('finds the hooks that a loaded module registers', async () => {
  const files = { 'package.json': manifest('node --import ./register.mjs --test'), 'hooks/text.mjs': '' }
  const register = "import { register } from 'node:module'\nregister('./hooks/text.mjs', import.meta.url)"
  expect(await find({ ...files, 'register.mjs': register })).toEqual(['register.mjs', 'hooks/text.mjs'])
})

it('takes limits that a check reads, and texts whose examples pytest runs, for parts of the check', async () => {
  const findPrograms = async (files: Readonly<Record<string, string>>, command: string) =>
    (await findCheckScripts([command], Object.keys(files), (path) => Promise.resolve(files[path]))).programs
  const gate = { 'scripts/gate.mjs': "readFileSync('quality.json')", 'quality.json': '', 'countries.json': '' }
  expect(await findPrograms(gate, 'node scripts/gate.mjs')).toEqual(['quality.json'])
  const texts = { 'pytest.ini': '[pytest]\naddopts = --doctest-glob=docs/*.txt', 'docs/a.txt': '', 'b.txt': '' }
  expect(await findPrograms(texts, 'pytest')).toEqual(['docs/a.txt'])
})
