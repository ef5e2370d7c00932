import { expect, it } from 'vitest'
import { parseYaml } from './parse-yaml.ts'

it('parses what users write', () => {
  expect(parseYaml('a: 1\nb: [{a: 2}, {a: 3}]\n')).toEqual({ a: 1, b: [{ a: 2 }, { a: 3 }] })
})

it.each([
  ['at the top', 'status: done\nx: 1\nstatus: running\n', 'the key "status" appears twice in one map'],
  ['below', 'tasks:\n  - {id: a, "id": b}\n', 'the key "id" appears twice in one map'],
])('refuses a key that appears twice: %s', (_, text, message) => {
  expect(() => parseYaml(text)).toThrow(message)
})

it('refuses text that is not YAML, and aliases', () => {
  expect(() => parseYaml('a: [')).toThrow('Flow sequence')
  expect(() => parseYaml('a: &x [1]\nb: *x\n')).toThrow('Alias')
})
