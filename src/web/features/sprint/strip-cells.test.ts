import { expect, it } from 'vitest'
import { buildLive, buildProgress } from '../../../../test/support/builders.ts'
import { buildIteration } from '../../../../test/support/fake-fleet.ts'
import { createStripCells } from './strip-cells.ts'

const minute = 60_000
const iteration = (number: number, from: number, overrides = {}) =>
  buildIteration(number, { startedAt: from * minute, endedAt: (from + 5) * minute, costUsd: 1, ...overrides })
const describeCells = (...args: Parameters<typeof createStripCells>) =>
  createStripCells(...args).map((cell) => (cell.kind === 'gap' ? cell.label : `${cell.caption} ${cell.seen.sign}`))

it('has a cell for every iteration, the running one last, with waits in between', () => {
  const iterations = [
    iteration(1, 0, { mode: 'planning' }),
    iteration(2, 5, { verdict: 'refused' }),
    iteration(3, 48, { changed: false, mode: 'reflecting' }),
    iteration(4, 53, { verdict: 'needs-human' }),
  ]
  const progress = buildProgress({
    status: 'in-progress',
    live: [buildLive({ number: 5, mode: 'executing', startedAt: 118 * minute })],
  })
  expect(describeCells(iterations, { progress }, 0)).toEqual([
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
  const progress = buildProgress({ status: 'parked', parked: { reason: 'usage limit', until: 38 * minute } })
  expect(describeCells([], { progress }, 0)).toEqual(['limit · 38 min'])
})

it('scales the time if nothing has a cost, as with an agent that reports none', () => {
  const free = [iteration(1, 0, { costUsd: null }), iteration(2, 5, { costUsd: 0 })]
  const live = [buildLive({ number: 3, startedAt: 10 * minute })]
  const cells = createStripCells(free, { progress: buildProgress({ live }) }, 20 * minute)
  expect(cells.map((cell) => cell.kind === 'iteration' && cell.weight)).toEqual([0.5, 0.5, 1])
})

it('scales the cost to the most expensive iteration', () => {
  const cells = createStripCells(
    [iteration(1, 0, { costUsd: 0.5 }), iteration(2, 5, { costUsd: 2 }), iteration(3, 10, { costUsd: null })],
    { progress: buildProgress() },
    0,
  )
  expect(cells.map((cell) => cell.kind === 'iteration' && cell.weight)).toEqual([0.25, 1, 0])
})
