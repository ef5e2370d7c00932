import type { Progress } from '../../contract/progress.ts'

/** The agent of an iteration, current or past. */
export function findIterationAgent({ live, iterations, runAgents, agent }: Progress, iteration: number): string {
  const own = [...live, ...iterations].find(({ number }) => number === iteration)?.agent
  return own ?? runAgents?.[0] ?? agent?.[0] ?? 'command'
}
