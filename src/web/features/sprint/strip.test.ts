import { expect, it } from 'vitest'
import { aLive, aProgress } from '../../../../test/support/builders.ts'
import { anIteration } from '../../../../test/support/fake-fleet.ts'
import { cellsOf } from './strip.ts'

const minute = 60_000
const iteration = (number: number, from: number, given = {}) =>
  anIteration(number, { startedAt: from * minute, endedAt: (from + 5) * minute, costUsd: 1, ...given })
const brief = (...args: Parameters<typeof cellsOf>) =>
  cellsOf(...args).map((cell) => (cell.kind === 'gap' ? cell.label : `${cell.caption} ${cell.seen.sign}`))

it('has a cell for every iteration, the running one last, with waits in between', () => {
  const iterations = [
    iteration(1, 0, { mode: 'planning' }),
    iteration(2, 5, { verdict: 'refused' }),
    iteration(3, 48, { changed: false, mode: 'reflecting' }),
    iteration(4, 53, { verdict: 'needs-human' }),
  ]
  const progress = aProgress({ live: [aLive({ number: 5, mode: 'executing', startedAt: 118 * minute })] })
  expect(brief(iterations, { progress }, 0)).toEqual([
    '1 plan progress',
    '2 no',
    'waited · 38 min',
    '3 refl same',
    '4 asks',
    'asked · 1 h',
    '5 now',
  ])
})

it('shows a wait for a usage limit as a gap with an end', () => {
  const progress = aProgress({ status: 'parked', parked: { reason: 'usage limit', until: 38 * minute } })
  expect(brief([], { progress }, 0)).toEqual(['limit · 38 min'])
})

it('scales the cost to the most expensive iteration', () => {
  const cells = cellsOf(
    [iteration(1, 0, { costUsd: 0.5 }), iteration(2, 5, { costUsd: 2 }), iteration(3, 10, { costUsd: null })],
    { progress: aProgress() },
    0,
  )
  expect(cells.map((cell) => cell.kind === 'iteration' && cell.cost)).toEqual([0.25, 1, 0])
})
