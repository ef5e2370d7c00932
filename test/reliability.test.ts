import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './support/paths.ts'

/** The defects D1 to D19 of the reliability review of 0.1.0, and the tests that would see them again. */
const tests: Readonly<Record<string, string>> = {
  D1: 'src/storage/git/workspace.test.ts',
  D2: 'test/e2e/checkpoint-safety.test.ts',
  D3: 'src/backend/database/open-database.test.ts',
  D4: 'test/e2e/checkpoint-safety.test.ts',
  D5: 'src/platform/files/append-file.test.ts',
  D6: 'src/runtime/clock-jump.test.ts',
  D7: 'test/e2e/checkpoint-safety.test.ts',
  D8: 'test/e2e/checkpoint-safety.test.ts',
  D9: 'test/e2e/other-state.test.ts',
  D10: 'src/storage/git/workspace.test.ts',
  D11: 'src/storage/git/workspace.test.ts',
  D12: 'src/storage/git/prune-checkpoints.test.ts',
  D13: 'src/cli/report/journal-pages.test.ts',
  D14: 'test/e2e/other-state.test.ts',
  D15: 'src/backend/database/open-database.test.ts',
  D16: 'src/storage/git/workspace.test.ts',
  D17: 'test/e2e/state.test.ts',
  D18: 'test/chaos/disk-full.test.ts',
  D19: 'test/e2e/checkpoint-safety.test.ts',
}

it.each(Object.entries(tests))('%s has a test with its number in its title, in %s', (number, file) => {
  const titles = readFileSync(join(root, file), 'utf8').matchAll(/['"`]((?:D\d+(?:, )?)+): /g)
  expect([...titles].flatMap(([, numbers = '']) => numbers.split(', '))).toContain(number)
})

it('misses none of them', () => {
  expect(Object.keys(tests)).toEqual(Array.from({ length: 19 }, (_, index) => `D${index + 1}`))
})
