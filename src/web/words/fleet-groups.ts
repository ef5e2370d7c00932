import type { FleetRow } from '../../contract/fleet/agent.ts'
import type { Machine } from '../../contract/fleet/machine.ts'
import type { SituationGroup } from '../../words/sprint-state.ts'
import { describeSituation } from './situation.ts'

export const fleetGroupings = ['state', 'machine', 'repository', 'label'] as const
export type FleetGrouping = (typeof fleetGroupings)[number]

export const groupingWords: Readonly<Record<FleetGrouping, string>> = {
  state: 'Group by state',
  machine: 'Group by machine',
  repository: 'Group by repository',
  label: 'Group by label',
}

export type FleetItem =
  | { readonly kind: 'group'; readonly title: string; readonly count: number }
  | { readonly kind: 'row'; readonly row: FleetRow }

const stateTitles: Readonly<Record<SituationGroup, string>> = {
  'needs-you': 'Needs you',
  failed: 'Failed',
  parked: 'Parked',
  running: 'Running',
  resting: 'Idle',
}

type GroupingContext = { readonly machines: readonly Machine[]; readonly now: number }

/** The rows with a title before each group. Rows keep their order; groups stand in the order of their first row. */
export function groupFleet(
  rows: readonly FleetRow[],
  by: FleetGrouping | undefined,
  context: GroupingContext,
): readonly FleetItem[] {
  if (by === undefined) return rows.map((row) => ({ kind: 'row', row }))
  const groups = new Map<string, FleetRow[]>()
  for (const row of rows) {
    const title = groupTitle(row, by, context)
    groups.set(title, [...(groups.get(title) ?? []), row])
  }
  return [...groups].flatMap(([title, members]): FleetItem[] => [
    { kind: 'group', title, count: members.length },
    ...members.map((row) => ({ kind: 'row' as const, row })),
  ])
}

function groupTitle(row: FleetRow, by: FleetGrouping, { machines, now }: GroupingContext): string {
  switch (by) {
    case 'state':
      return stateTitles[describeSituation(row, now).group]
    case 'machine':
      return row.machine.name
    case 'repository':
      return describeRepository(row.agent.workspace)
    case 'label': {
      const labels = machines.find(({ id }) => id === row.agent.machineId)?.labels ?? []
      return labels.length === 0 ? 'No label' : labels.toSorted().join(', ')
    }
  }
}

/** A clone by its address without the suffix, a folder by its path. */
const describeRepository = (workspace: FleetRow['agent']['workspace']): string =>
  workspace.kind === 'clone' ? workspace.repository.replace(/\.git$/, '') : workspace.path
