import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import type { FleetRow } from '../../contract/fleet/agent.ts'
import { describeError } from '../data/api.ts'
import { useConnection } from '../data/live.ts'
import { useNow } from '../ui/now.ts'
import { agentsQuery, machinesQuery, usageQuery } from '../data/queries.ts'
import { AgentTable } from '../features/fleet/agent-table.tsx'
import { BulkBar } from '../features/fleet/bulk-bar.tsx'
import { Counters } from '../features/fleet/counters.tsx'
import { FirstScreen } from '../features/fleet/first-screen.tsx'
import { useKeys } from '../shell/shortcuts.ts'
import { useTitle } from '../shell/title.ts'
import { Card } from '../ui/card.tsx'
import { Select } from '../ui/field.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { EmptyState, ProblemNotice, Skeleton, SkeletonRows } from '../ui/states.tsx'
import type { SituationGroup } from '../../words/sprint-state.ts'
import { fleetGroupings, type FleetGrouping, groupFleet, groupingWords } from '../words/fleet-groups.ts'
import { fleetOrders, orderWords, sortFleet, type FleetOrder } from '../words/fleet-order.ts'
import { describeSituation } from '../words/situation.ts'

const route = getRouteApi('/')

/** With more agents than this, the user is no newcomer. */
const maxNewcomerAgents = 8

/** The fleet: who needs you, who is working, and the cost. */
export function FleetPage() {
  useTitle('Fleet')
  const now = useNow()
  const agents = useQuery(agentsQuery)
  const usage = useQuery(usageQuery)
  const { data: machines = [] } = useQuery(machinesQuery)
  const { show, q, sort = 'need', machine, group } = route.useSearch()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const select = (id: string): void =>
    setSelected((before) => new Set(before.has(id) ? [...before].filter((other) => other !== id) : [...before, id]))
  useKeys(rowKeys)
  const navigate = route.useNavigate()
  const live = useConnection()
  const search = useDeferredValue(q ?? '')
  const setQuery = (text: string): void =>
    void navigate({
      search: (all) => ({ ...all, q: text === '' ? undefined : text }),
      replace: true,
      resetScroll: false,
    })
  if (agents.isPending) return <FleetSkeleton />
  if (agents.isLoadingError)
    return (
      <Card>
        <ProblemNotice {...describeError(agents.error)} onRetry={() => void agents.refetch()} />
      </Card>
    )
  const rows = sortFleet(agents.data, sort, now)
  const shown = rows.filter(
    (row) =>
      (show === undefined || describeSituation(row, now).group === show) &&
      (machine === undefined || row.machine.name === machine) &&
      matchesSearch(row, search),
  )
  const picked = shown.filter(({ agent }) => selected.has(agent.id))
  return (
    <>
      <h1 className="sr-only">Fleet</h1>
      {rows.every(({ sprint }) => !sprint) && rows.length <= maxNewcomerAgents && <FirstScreen rows={rows} />}
      {rows.length > 0 && <Counters rows={rows} now={now} shown={show} todayUsd={usage.data?.todayUsd} />}
      {rows.length > 4 && (
        <div className="mb-3 flex flex-wrap gap-2">
          <SearchField label="Find an agent" value={q ?? ''} onChange={setQuery} className="w-72 max-sm:w-full" />
          <FleetControls rows={rows} />
        </div>
      )}
      {picked.length > 0 && <BulkBar rows={picked} onClear={() => setSelected(new Set())} />}
      {shown.length > 0 && (
        <AgentTable
          items={groupFleet(shown, group, { machines, now })}
          now={now}
          stale={live.state === 'lost'}
          selected={selected}
          onSelect={select}
        />
      )}
      {rows.length > 0 && shown.length === 0 && <NothingFound show={show} />}
    </>
  )
}

/** Order, machine and groups, kept in the URL: a bookmark is a saved view. */
function FleetControls({ rows }: { rows: readonly FleetRow[] }) {
  const { sort = 'need', machine, group } = route.useSearch()
  const navigate = route.useNavigate()
  const names = [...new Set(rows.map((row) => row.machine.name))].toSorted()
  const change = (search: {
    sort?: FleetOrder | undefined
    machine?: string | undefined
    group?: FleetGrouping | undefined
  }): void => void navigate({ search: (all) => ({ ...all, ...search }), replace: true, resetScroll: false })
  return (
    <>
      <Select
        label="Order"
        hideLabel
        value={sort}
        options={fleetOrders.map((order) => ({ value: order, label: orderWords[order] }))}
        onChoose={(value) => change({ sort: fleetOrders.find((order) => order === value && order !== 'need') })}
        className="w-48 max-sm:flex-1 max-sm:basis-36"
      />
      <Select
        label="Machine"
        hideLabel
        value={machine ?? ''}
        options={[{ value: '', label: 'All machines' }, ...names.map((name) => ({ value: name, label: name }))]}
        onChoose={(value) => change({ machine: value === '' ? undefined : value })}
        className="w-44 max-sm:flex-1 max-sm:basis-36"
      />
      <Select
        label="Group"
        hideLabel
        value={group ?? ''}
        options={[
          { value: '', label: 'No groups' },
          ...fleetGroupings.map((each) => ({ value: each, label: groupingWords[each] })),
        ]}
        onChoose={(value) => change({ group: fleetGroupings.find((each) => each === value) })}
        className="w-44 max-sm:flex-1 max-sm:basis-36"
      />
    </>
  )
}

/** `j` and `k` move through the rows; Enter opens the one with the focus. */
const rowKeys = { j: () => moveFocus(1), k: () => moveFocus(-1) }

function moveFocus(by: 1 | -1): void {
  const rows = [...document.querySelectorAll('[role=row][data-index]')].filter((row) => row.querySelector('a'))
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[at === -1 ? 0 : at + by]?.querySelector('a')
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

const matchesSearch = (row: FleetRow, search: string): boolean =>
  [row.agent.name, row.sprint?.goal, row.machine.name, row.sprint?.branch]
    .join(' ')
    .toLowerCase()
    .includes(search.toLowerCase())

const FleetSkeleton = () => (
  <>
    <div className="mb-4 grid grid-cols-6 gap-2.5 max-lg:grid-cols-3">
      {Array.from({ length: 6 }, (_, box) => (
        <Skeleton key={box} className="h-[72px] rounded-[10px]" />
      ))}
    </div>
    <Card>
      <SkeletonRows rows={5} height="h-[60px]" />
    </Card>
  </>
)

function NothingFound({ show }: { show: SituationGroup | undefined }) {
  const words = {
    running: 'runs',
    'needs-you': 'needs you',
    parked: 'is parked',
    failed: 'has failed',
    resting: 'rests',
  }
  return (
    <Card>
      <EmptyState title={show === undefined ? 'No agent with that name' : `No agent ${words[show]} now`}>
        <Link to="/" className="underline underline-offset-2">
          Show all agents
        </Link>
      </EmptyState>
    </Card>
  )
}
