import { expect, it } from 'vitest'
import { runSeeds } from './seeds.ts'

it('holds every rule in every run, whatever is killed, full or edited, and ends (odd seeds)', async () => {
  const { failures, ...tally } = await runSeeds(1)
  console.log(`simulated, odd seeds: ${JSON.stringify(tally)}`)

  expect(failures).toEqual([])
  // A simulation in which nothing happens would hold every rule too.
  expect(tally.crashes).toBeGreaterThan(tally.seeds / 2)
  expect(tally.iterations).toBeGreaterThan(tally.seeds)
  expect(tally.completed).toBeGreaterThan(tally.seeds * 0.9)
}, 3_600_000)
