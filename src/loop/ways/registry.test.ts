import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const loop = join(import.meta.dirname, '..')
const sources = readdirSync(loop, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)
const read = (name: string) => readFileSync(join(loop, name), 'utf8')

it('only the folder of a way and the registry know it by name', () => {
  const kind = /'(classic|goal|notes|phases)'(?!:)|ways\/(classic|goal|notes|phases)\//
  // `sprint.ts` lists the fields of PROGRESS.yaml, two of which are called `goal` and `phases`.
  const general = sources.filter((name) => !name.startsWith('ways/') && name !== 'core/sprint.ts')
  const offenders = general.filter((name) => kind.test(read(name)))

  expect(general.length).toBeGreaterThan(20)
  expect(offenders).toEqual([])
})

it('no file of the loop branches on the mode or the protocol of a sprint', () => {
  expect(
    sources.filter((name) => /\b(mode|protocol) [!=]== '(standard|ralph|notes|report|classic)'/.test(read(name))),
  ).toEqual([])
})

it('ways do not call the loop: they import from core, other ways and the contract', () => {
  const offenders = sources
    .filter((name) => /^ways\/\w+\//.test(name))
    .flatMap((name) => [...read(name).matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) => `${name}: ${path}`))
    .filter((line) => !/: (\.\/|\.\.\/(goal)\/|\.\.\/\.\.\/core\/|\.\.\/\.\.\/\.\.\/contract\/)/.test(line))

  expect(offenders).toEqual([])
})
