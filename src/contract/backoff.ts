export type Backoff = { readonly firstMs: number; readonly maxMs: number }

/**
 * The pause after a number of failures in a row, the first being 1: doubles up to a maximum. Half of it is random, so that
 * clients that were disconnected together do not reconnect together. `random` is in [0, 1).
 */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, random: number): number {
  const ms = firstMs * 2 ** (failures - 1)
  return (ms < maxMs ? ms : maxMs) * (0.5 + random / 2)
}
