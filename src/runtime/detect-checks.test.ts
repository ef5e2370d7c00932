import { describe, expect, it } from 'vitest'
import { detectChecks } from './detect-checks.ts'

const detect = (files: Readonly<Record<string, string>>) =>
  detectChecks({ files: Object.keys(files), read: (name) => files[name] })

const withTest = JSON.stringify({ scripts: { test: 'vitest run' } })

describe('the checks of a project', () => {
  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['npm', { 'package.json': withTest }, 'npm test'],
    ['pnpm', { 'package.json': withTest, 'pnpm-lock.yaml': '' }, 'pnpm test'],
    ['yarn', { 'package.json': withTest, 'yarn.lock': '' }, 'yarn test'],
    [
      'yarn by packageManager',
      { 'package.json': '{"packageManager":"yarn@4.1.0","scripts":{"test":"x"}}' },
      'yarn test',
    ],
    ['bun with a script', { 'package.json': withTest, 'bun.lock': '' }, 'bun run test'],
    ['bun without a script', { 'package.json': '{}', 'bun.lockb': '', 'src/a.test.ts': '' }, 'bun test'],
    ['deno', { 'deno.json': '{}', 'a_test.ts': '' }, 'deno test'],
    ['deno with a task', { 'deno.jsonc': '{ // tasks\n "tasks": {"test": "deno test -A"} }' }, 'deno task test'],
    ['pytest with settings', { 'pyproject.toml': '[tool.pytest.ini_options]' }, 'python3 -m pytest'],
    ['pytest without settings', { 'requirements.txt': 'pytest==9\n', 'tests/test_a.py': '' }, 'python3 -m pytest'],
    ['pytest by its functions', { 'tests/test_a.py': 'def test_a():\n    assert True\n' }, 'python3 -m pytest'],
    [
      'unittest by its classes',
      { 'test_a.py': 'import unittest\n\ndef test_a(): pass\n' },
      'python3 -m unittest discover',
    ],
    ['unittest', { 'test_a.py': '' }, 'python3 -m unittest discover'],
    ['unittest in a folder', { 'tests/test_a.py': '' }, 'python3 -m unittest discover -s tests'],
    ['unittest in a package', { 'tests/__init__.py': '', 'tests/test_a.py': '' }, 'python3 -m unittest discover'],
    ['Django', { 'manage.py': '', 'app/tests.py': '' }, 'python3 manage.py test'],
    ['go', { 'go.mod': 'module x' }, 'go test ./...'],
    ['cargo', { 'Cargo.toml': '' }, 'cargo test'],
    ['maven', { 'pom.xml': '' }, 'mvn -q test'],
    ['maven with a wrapper', { 'pom.xml': '', mvnw: '' }, './mvnw -q test'],
    ['gradle', { 'build.gradle.kts': '', gradlew: '' }, './gradlew test'],
    ['rspec', { Gemfile: '', 'spec/a_spec.rb': '' }, 'bundle exec rspec'],
    ['rake', { Rakefile: 'Rake::TestTask.new' }, 'rake test'],
    ['mix', { 'mix.exs': '' }, 'mix test'],
    ['composer', { 'composer.json': '{"scripts":{"test":"phpunit"}}' }, 'composer test'],
    ['phpunit', { 'composer.json': '{}', 'phpunit.xml.dist': '' }, 'vendor/bin/phpunit'],
    ['dotnet', { 'App.sln': '' }, 'dotnet test'],
    ['make', { Makefile: 'all: x\n\ntest: x\n\tcc\n' }, 'make test'],
    ['make with check', { Makefile: 'check:\n\tcc\n' }, 'make check'],
    ['just', { justfile: 'test *args:\n  cc\n' }, 'just test'],
  ])('are found: %s', (_, files, run) => {
    expect(detect(files).map((found) => found.run)).toEqual([run])
  })

  it.each<[string, Readonly<Record<string, string>>]>([
    [
      'the placeholder of npm init',
      { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
    ],
    ['a broken manifest', { 'package.json': '{' }],
    ['a variable named test', { Makefile: 'test := x\ntest ::= y\n' }],
    ['tests of dependencies', { '.venv/lib/test_a.py': '', 'vendor/a/test_b.py': '' }],
    ['nothing', {}],
  ])('are not invented from %s', (_, files) => {
    expect(detect(files)).toEqual([])
  })

  it('are all proposed where a project has several languages, and name the file that gave them away', () => {
    expect(detect({ 'package.json': withTest, 'Cargo.toml': '', Makefile: 'test:\n\tcargo test' })).toEqual([
      { run: 'npm test', because: 'package.json' },
      { run: 'cargo test', because: 'Cargo.toml' },
    ])
  })
})
