import { simulate } from './simulate.ts'

/** A sample: `npm run test:more -- simulation` runs 60,000. SEEDS=n sets another number, SEED=n runs only that one. */
const defaultSeeds = 2000
/** On a slow machine, run only as many as fit into this time; the tally reports how many. */
const maxMs = 180_000

export type Tally = {
  seeds: number
  lives: number
  crashes: number
  iterations: number
  completed: number
  /** Each with the command that reproduces it. */
  readonly failures: string[]
}

/** Every second seed, starting with the first: another worker runs the rest. */
export async function runSeeds(first: 1 | 2, env = process.env): Promise<Tally> {
  const tally: Tally = { seeds: 0, lives: 0, crashes: 0, iterations: 0, completed: 0, failures: [] }
  const one = Number(env['SEED'])
  const last = Number(env['SEEDS'] ?? defaultSeeds)
  const deadline = env['SEEDS'] === undefined ? performance.now() + maxMs : Number.POSITIVE_INFINITY
  for (let seed = one || first; seed <= last && tally.failures.length < 5; seed += 2) {
    const { violations, lives, crashes, iterations, status } = await simulate(seed)
    tally.seeds++
    tally.lives += lives
    tally.crashes += crashes
    tally.iterations += iterations
    tally.completed += status === 'completed' ? 1 : 0
    if (violations.length > 0)
      tally.failures.push(`${violations[0]}   again: SEED=${seed} npm run test:more -- simulation`)
    if (one || performance.now() > deadline) break
  }
  return tally
}
