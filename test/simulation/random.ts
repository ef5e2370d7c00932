/** A stream of numbers that is the same for the same seed. */
export interface Random {
  /** In [0, 1). */
  readonly next: () => number
  /** An integer below `end`. */
  readonly below: (end: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <T>(choices: readonly [T, ...T[]]) => T
}

/** mulberry32: 32 bits of state, good enough to find bugs. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (choices) => choices[below(choices.length)] ?? choices[0],
  }
}

/** A seed per name, so that one thing never depends on the draws of another. */
export function deriveSeed(seed: number, name: string): number {
  let hash = seed ^ 0x811c9dc5
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
