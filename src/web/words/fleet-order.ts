import type { FleetRow } from '../../contract/fleet/agent.ts'
import { sortByNeed } from './situation.ts'

export const fleetOrders = ['need', 'name', 'machine', 'spend', 'recent'] as const
export type FleetOrder = (typeof fleetOrders)[number]

export const orderWords: Readonly<Record<FleetOrder, string>> = {
  need: 'Most urgent first',
  name: 'By name',
  machine: 'By machine',
  spend: 'Highest spend first',
  recent: 'Newest event first',
}

const compareText = (a: string, b: string): number => a.localeCompare(b, undefined, { numeric: true })

/** Sorts the fleet as a user chose; agents that are equal keep the order of their names. */
export function sortFleet(rows: readonly FleetRow[], order: FleetOrder, now: number): FleetRow[] {
  if (order === 'need') return sortByNeed(rows, now)
  const byName = rows.toSorted((a, b) => compareText(a.agent.name, b.agent.name))
  switch (order) {
    case 'name':
      return byName
    case 'machine':
      return byName.toSorted((a, b) => compareText(a.machine.name, b.machine.name))
    case 'spend':
      return byName.toSorted((a, b) => (b.sprint?.spentUsd ?? 0) - (a.sprint?.spentUsd ?? 0))
    case 'recent':
      return byName.toSorted((a, b) => (b.lastEventAt ?? 0) - (a.lastEventAt ?? 0))
  }
}
