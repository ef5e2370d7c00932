import { setHistory, type Sprint } from './sprint.ts'

/** Returns the first choice that is not limited; if all are, the one whose limit ends first, and when. */
export function chooseAgent(
  { run, history: { agentLimits = [] } }: Sprint,
  at: number,
  candidates: readonly string[] = run?.agents ?? [],
): { readonly agent?: string; readonly until?: number } {
  const limits = new Map(agentLimits.map(({ agent, until }) => [agent, until]))
  const free = candidates.find((agent) => (limits.get(agent) ?? 0) <= at)
  if (free !== undefined) return { agent: free }
  const [soonest] = agentLimits.filter(({ agent }) => candidates.includes(agent)).toSorted((a, b) => a.until - b.until)
  return soonest ?? {}
}

/** Records that an agent has reached its usage limit; drops expired limits. */
export function addAgentLimit(sprint: Sprint, agent: string | undefined, until: number, at: number): Sprint {
  if (agent === undefined) return sprint
  const others = (sprint.history.agentLimits ?? []).filter((limit) => limit.agent !== agent && limit.until > at)
  return setHistory(sprint, { agentLimits: [...others, { agent, until }] })
}
