import { expect, it } from 'vitest'
import { findCheckScripts } from './check-scripts.ts'

const find = (files: Readonly<Record<string, string>>, command = 'npm test') =>
  findCheckScripts([command], Object.keys(files), (path) => Promise.resolve(files[path]))

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
