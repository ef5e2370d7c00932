import { availableParallelism, loadavg } from 'node:os'

/**
 * A time limit that a test gives to an agent that must start first, as a duration in YAML. On a busy computer a program needs
 * several times as long to start, and an agent that was ended before it began shows nothing.
 */
export const scaleForLoad = (seconds: number): string => `${Math.ceil(seconds * slowness())}s`

/** Milliseconds within which something has to happen, longer on a busy computer. */
export const patience = (ms: number): number => ms * slowness()

function slowness(): number {
  const [lastMinute = 0] = loadavg()
  return Math.min(20, Math.max(1, lastMinute / availableParallelism()))
}
