import { describe, expect, it } from 'vitest'
import { mutants } from './mutants.ts'
import { simulate } from './simulate.ts'

/** Maximum number of seeds to find a mistake. */
const maxSeeds = 2000

describe('the simulation finds a program that', () => {
  it.each(Object.keys(mutants))(
    '%s',
    async (name) => {
      let found: string | undefined
      for (let seed = 1; seed <= maxSeeds && found === undefined; seed++) {
        const { violations } = await simulate(seed, mutants[name])
        found = violations[0]
      }
      expect(found).toMatch(/^\w+: /)
    },
    120_000,
  )
})

it('finds nothing in a correct program, and the same seed gives the same run', async () => {
  const first = await simulate(4711)
  expect(first).toEqual(await simulate(4711))
  expect(first.violations).toEqual([])
})
