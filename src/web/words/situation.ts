import type { FleetRow, SprintGlance } from '../../contract/fleet/agent.ts'
import { describeSprintState, type SituationGroup } from '../../words/sprint-state.ts'
import type { Tone } from '../../words/tone.ts'

export type AgentSituation = {
  readonly group: SituationGroup
  readonly tone: Tone
  /** Bold: the current state. */
  readonly label: string
  /** Shown as a chip: the user must decide. */
  readonly asks?: boolean
  /** The state is unknown: the machine is not responding. */
  readonly unknown?: boolean
  readonly live?: boolean
}

const dayMs = 86_400_000

/** The situation of an agent, from its sprint, its own state and its machine's connection. Unknown is not failed. */
export function describeSituation(row: FleetRow, now: number): AgentSituation {
  const { agent, machine, sprint } = row
  if (sprint?.question)
    return { group: 'needs-you', tone: 'warn', label: `asks: ${sprint.question.reason}`, asks: true }
  const atWork = agent.state === 'running' || sprint?.status === 'in-progress'
  if (atWork && !machine.reachable)
    return { group: 'resting', tone: 'bad', label: `Unknown: ${machine.name} is not responding`, unknown: true }
  if (sprint && (agent.state !== 'running' || agent.inRalphMode || sprint.status === 'in-progress')) {
    const found = situationBySprint(sprint, now - sprint.updatedAt < dayMs)
    if (found) return found
  }
  return situationByAgent(row)
}

/** After a day, how a sprint ended is history and no longer the state of its agent. */
function situationBySprint(sprint: SprintGlance, recent: boolean): AgentSituation | undefined {
  const { group, tone, label, live, doing, doubt } = describeSprintState(sprint)
  const detail = doing ?? doubt
  if (!recent && (group === 'failed' || sprint.status === 'completed')) return undefined
  if (sprint.status === 'needs-human')
    return { group: 'resting', tone: 'quiet', label: 'Waiting; its question was dismissed' }
  return { group, tone, label: detail === undefined ? label : `${label} · ${detail}`, ...(live && { live }) }
}

function situationByAgent({ agent, machine }: FleetRow): AgentSituation {
  if (agent.state === 'failed') return { group: 'failed', tone: 'bad', label: 'Failed' }
  if (agent.state === 'creating') return { group: 'resting', tone: 'quiet', label: 'Creating', live: true }
  if (agent.state === 'archived') return { group: 'resting', tone: 'quiet', label: 'Archived' }
  if (!machine.reachable) return { group: 'resting', tone: 'bad', label: 'Offline' }
  if (agent.state === 'running') return { group: 'running', tone: 'info', label: 'Running · your prompt', live: true }
  return { group: 'resting', tone: 'quiet', label: 'Idle' }
}

const rank: Readonly<Record<SituationGroup, number>> = { 'needs-you': 0, failed: 1, parked: 2, running: 3, resting: 4 }

/**
 * Most urgent first: the longest-waiting question, failures, parked, then running by how long they have been silent.
 */
export function sortByNeed(rows: readonly FleetRow[], now: number): FleetRow[] {
  const weighed = rows.map((row) => {
    const { group, unknown } = describeSituation(row, now)
    const since = row.sprint?.question?.askedAt ?? row.lastEventAt ?? row.agent.createdAt
    return { row, rank: unknown === true ? 1.5 : rank[group], since }
  })
  const order = (a: (typeof weighed)[number], b: (typeof weighed)[number]): number =>
    a.rank - b.rank || (a.rank === rank.resting ? b.since - a.since : a.since - b.since)
  return weighed.toSorted(order).map(({ row }) => row)
}
