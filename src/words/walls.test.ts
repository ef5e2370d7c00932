import { expect, it } from 'vitest'
import { describeOpenWalls } from './walls.ts'

it('names what ran without a cell or with an open network, and nothing else', () => {
  expect(describeOpenWalls(undefined)).toBe(undefined)
  expect(describeOpenWalls([{ around: 'agents', cell: 'bubblewrap', network: 'allow-list' }])).toBe(undefined)
  expect(
    describeOpenWalls([
      { around: 'agents', cell: 'bubblewrap', network: 'open' },
      { around: 'hook deploy', cell: 'none', network: 'open' },
    ]),
  ).toBe('agents ran with an open network; hook deploy ran without a cell, as the user')
})
