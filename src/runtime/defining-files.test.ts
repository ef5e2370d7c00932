import { expect, it } from 'vitest'
import { listDefiningFiles } from './defining-files.ts'

const all = (...names: readonly string[]) => names.includes.bind(names)

it.each([
  [
    'npm test',
    ['package.json', 'vitest.config.ts', 'jest.config.js', 'src/index.ts'],
    ['package.json', 'vitest.config.ts', 'jest.config.js'],
  ],
  ['npx vitest run', ['package.json', 'vitest.config.mjs'], ['vitest.config.mjs']],
  ['./check.sh --all', ['check.sh'], ['check.sh']],
  ['sh -c "scripts/verify.sh; true"', ['scripts/verify.sh'], ['scripts/verify.sh']],
  ['pytest -x tests/unit', ['pytest.ini', 'conftest.py', 'tests/unit'], ['tests/unit', 'pytest.ini', 'conftest.py']],
  ['make test', ['Makefile', 'GNUmakefile'], ['Makefile', 'GNUmakefile']],
  ['cargo test && go test ./...', ['Cargo.toml', 'go.mod'], ['Cargo.toml', 'go.mod']],
  ['tsc -b', ['tsconfig.json'], ['tsconfig.json']],
  ['true', ['package.json', 'Makefile'], []],
])('%s is defined by those of %j', (command, there, defining) => {
  expect(listDefiningFiles(command, all(...there))).toEqual(defining)
})

it.each(['cat /etc/passwd', 'sh ../outside.sh', 'sh ./a/../../outside.sh', '--version', ''])(
  'never returns a file outside the project: %s',
  (command) => {
    expect(listDefiningFiles(command, () => true).filter((name) => /^\/|\.\.|^-|^$/.test(name))).toEqual([])
  },
)

it('returns each file once', () => {
  expect(listDefiningFiles('sh check.sh && sh check.sh', all('check.sh'))).toEqual(['check.sh'])
})
