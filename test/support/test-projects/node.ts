import type { TestProject } from './test-project.ts'

const commonCalls = `test('adds', () => { equal(1 + 1, 2) })
test('twice', () => {})
test('twice', () => { equal(1, 2) })
describe('math', () => { describe('deep', () => { test('adds', () => { equal(2 + 2, 4) }) }) })
`

export const nodeProjects: Readonly<Record<string, TestProject>> = {
  'node-test': {
    command: 'node --test test/',
    mixed: {
      'test/calc.test.mjs': `import { describe, test } from 'node:test'
import { equal } from 'node:assert/strict'
${commonCalls}test('skipped', { skip: true }, () => {})
test('todo that fails', { todo: true }, () => { equal(1, 2) })
test('todo', { todo: 'later' })
test('parent', async (t) => { await t.test('step', () => {}) })
test('escaped # \\u001b[31mred\\u001b[0m', () => {})
`,
      'test/broken.test.mjs': `throw new Error('cannot load')\n`,
      'test/empty.test.mjs': `export const nothing = 1\n`,
    },
    green: { 'test/a.test.mjs': `import { test } from 'node:test'\ntest('adds', () => {})\n` },
    stopped: { 'test/a.test.mjs': `import { test } from 'node:test'\nprocess.exit(0)\ntest('adds', () => {})\n` },
  },
  vitest: {
    command: 'npx --no-install vitest run',
    nodeModules: true,
    mixed: {
      'calc.test.mjs': `import { describe, expect, test } from 'vitest'
const equal = (a, b) => expect(a).toBe(b)
${commonCalls}test.skip('skipped', () => {})
test.todo('todo')
test.fails('fails as expected', () => { equal(1, 2) })
`,
      'broken.test.mjs': `throw new Error('cannot load')\n`,
    },
    green: { 'a.test.mjs': `import { test } from 'vitest'\ntest('adds', () => {})\n` },
    stopped: { 'a.test.mjs': `import { test } from 'vitest'\nprocess.exit(0)\ntest('adds', () => {})\n` },
  },
  jest: {
    command: 'npx --no-install jest',
    nodeModules: true,
    mixed: {
      'package.json': '{"jest":{}}',
      'calc.test.js': `const equal = (a, b) => expect(a).toBe(b)
${commonCalls}test.skip('skipped', () => {})
test.todo('todo')
test.failing('fails as expected', () => { equal(1, 2) })
`,
      'broken.test.js': `throw new Error('cannot load')\n`,
    },
    green: { 'package.json': '{"jest":{}}', 'a.test.js': `test('adds', () => {})\n` },
    stopped: { 'package.json': '{"jest":{}}', 'a.test.js': `process.exit(0)\n` },
  },
  mocha: {
    command: 'npx --no-install mocha',
    nodeModules: true,
    mixed: {
      'test/calc.test.cjs': `const { equal } = require('node:assert/strict')
const test = it
${commonCalls}it.skip('skipped', () => {})
it('todo')
describe('with a broken hook', () => { before(() => { throw new Error('hook') }); it('never runs', () => {}) })
`,
    },
    green: { 'test/a.test.cjs': `it('adds', () => {})\n` },
    stopped: { 'test/a.test.cjs': `process.exit(0)\n` },
  },
  ava: {
    command: 'npx --no-install ava',
    nodeModules: true,
    mixed: {
      'package.json': '{"type":"module"}',
      'a.test.js': `import test from 'ava'
test('adds', (t) => t.is(1 + 1, 2))
test('red', (t) => t.is(1, 2))
test.skip('skipped', (t) => t.pass())
test.todo('todo')
test.failing('fails as expected', (t) => t.fail())
`,
      'b.test.js': `import test from 'ava'\ntest('adds', (t) => t.pass())\n`,
    },
    green: {
      'package.json': '{"type":"module"}',
      'a.test.js': `import test from 'ava'\ntest('adds', (t) => t.pass())\n`,
    },
    stopped: {
      'package.json': '{"type":"module"}',
      'a.test.js': `import test from 'ava'\nprocess.exit(0)\ntest('adds', (t) => t.pass())\n`,
    },
  },
  bun: {
    command: 'npx --no-install bun test',
    nodeModules: true,
    mixed: {
      'calc.test.js': `import { describe, expect, test } from 'bun:test'
const equal = (a, b) => expect(a).toBe(b)
${commonCalls}test.skip('skipped', () => {})
test.todo('todo')
test.failing('fails as expected', () => { equal(1, 2) })
`,
    },
    green: { 'a.test.js': `import { test } from 'bun:test'\ntest('adds', () => {})\n` },
    stopped: { 'a.test.js': `process.exit(0)\n` },
  },
  deno: {
    command: 'deno test --no-check',
    mixed: {
      'calc_test.js': `const equal = (a, b) => { if (a !== b) throw new Error(a + ' is not ' + b) }
Deno.test('adds', () => { equal(1 + 1, 2) })
Deno.test('twice', () => {})
Deno.test('twice', () => { equal(1, 2) })
Deno.test('parent', async (t) => { await t.step('step', () => {}); await t.step('red step', () => { equal(1, 2) }) })
Deno.test.ignore('skipped', () => {})
`,
    },
    green: { 'a_test.js': `Deno.test('adds', () => {})\n` },
    stopped: { 'a_test.js': `Deno.exit(0)\n` },
  },
}
