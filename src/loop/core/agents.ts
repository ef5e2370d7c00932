import type { Progress } from '../../contract/progress.ts'

/** Returns the first choice that is not limited; if all are, the one whose limit ends first, and when. */
export function chooseAgent(
  { runAgents = [], agentLimits = [] }: Progress,
  at: number,
  candidates: readonly string[] = runAgents,
): { readonly agent?: string; readonly until?: number } {
  const limits = new Map(agentLimits.map(({ agent, until }) => [agent, until]))
  const free = candidates.find((agent) => (limits.get(agent) ?? 0) <= at)
  if (free !== undefined) return { agent: free }
  const [soonest] = agentLimits.filter(({ agent }) => candidates.includes(agent)).toSorted((a, b) => a.until - b.until)
  return soonest ?? {}
}

/** Records that an agent has reached its usage limit; drops expired limits. */
export function addAgentLimit(progress: Progress, agent: string | undefined, until: number, at: number): Progress {
  if (agent === undefined) return progress
  const others = (progress.agentLimits ?? []).filter((limit) => limit.agent !== agent && limit.until > at)
  return { ...progress, agentLimits: [...others, { agent, until }] }
}
