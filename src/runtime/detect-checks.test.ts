import { expect, it } from 'vitest'
import { detectChecks } from './detect-checks.ts'

const found = (files: Readonly<Record<string, string>>) => detectChecks((name) => files[name]).map(({ run }) => run)
const packageJson = (test: unknown) => JSON.stringify({ name: 'x', scripts: { test } })

it.each([
  ['npm test', { 'package.json': packageJson('vitest run') }],
  ['cargo test', { 'Cargo.toml': '' }],
  ['go test ./...', { 'go.mod': 'module x' }],
  ['pytest', { 'pytest.ini': '' }],
  ['pytest', { 'conftest.py': '' }],
  ['pytest', { 'pyproject.toml': '[tool.pytest.ini_options]\n' }],
  ['make test', { Makefile: 'all: build\n\ntest : build\n\t./run-tests\n' }],
  ['make test', { Makefile: 'test::\n\t./run-tests\n' }],
])('finds %s in %j', (run, files) => {
  expect(found(files)).toEqual([run])
})

it.each([
  ['nothing', {}],
  ['the placeholder of npm init', { 'package.json': packageJson('echo "Error: no test specified" && exit 1') }],
  ['no script', { 'package.json': '{}' }],
  ['a script that is no text', { 'package.json': packageJson(7) }],
  ['broken JSON', { 'package.json': '{' }],
  ['Python without pytest', { 'pyproject.toml': '[project]\nname = "x"\n' }],
  ['a Makefile without that target', { Makefile: 'tests:\n\ttrue\nlatest: x\n.PHONY: test\n' }],
  ['a variable of that name', { Makefile: 'test := unit\ntest::=unit\ntest = unit\n' }],
])('finds nothing in %s', (_, files) => {
  expect(found(files)).toEqual([])
})

it('finds all checks of a project, with the default settings', () => {
  const checks = detectChecks((name) => (['Cargo.toml', 'go.mod'].includes(name) ? '' : undefined))

  expect(checks).toEqual([
    { run: 'cargo test', timeout: 600_000, eachIteration: false, protect: false },
    { run: 'go test ./...', timeout: 600_000, eachIteration: false, protect: false },
  ])
})
