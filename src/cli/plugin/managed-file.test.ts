import { expect, it } from 'vitest'
import { markManaged, readManagedState } from './managed-file.ts'

const text = '---\ndescription: Run\n---\n\nRun it.\n'

it.each([
  ['missing', undefined],
  ['current', markManaged(text)],
  ['outdated', markManaged('an earlier text\n')],
  ['edited', markManaged(text).replace('Run it.', 'Run it twice.')],
  ['edited', markManaged(text).replace(/sha256 [0-9a-f]{4}/, 'sha256 0000')],
  ['foreign', text],
  ['edited', `${markManaged(text)}more text after the marker\n`],
] as const)('is %s', (state, onDisk) => {
  expect(readManagedState(onDisk, text)).toBe(state)
})

it('keeps the frontmatter first', () => {
  expect(markManaged(text).startsWith(text)).toBe(true)
})
