import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import type { FleetRow } from '../../contract/fleet/agent.ts'
import { describeError } from '../data/api.ts'
import { useConnection } from '../data/live.ts'
import { useNow } from '../ui/now.ts'
import { agentsQuery, machinesQuery, meQuery, usageQuery } from '../data/queries.ts'
import { AgentTable } from '../features/fleet/agent-table.tsx'
import { Counters } from '../features/fleet/counters.tsx'
import { ConnectMachine } from '../features/machines/connect-machine.tsx'
import { useKeys } from '../shell/shortcuts.ts'
import { useTitle } from '../shell/title.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { Select } from '../ui/field.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { EmptyState, ProblemNotice, Skeleton, SkeletonRows } from '../ui/states.tsx'
import type { SituationGroup } from '../../words/sprint-state.ts'
import { fleetOrders, orderWords, sortFleet, type FleetOrder } from '../words/fleet-order.ts'
import { describeSituation } from '../words/situation.ts'

const route = getRouteApi('/')

/** The fleet: who needs you, who is working, and the cost. */
export function FleetPage() {
  useTitle('Fleet')
  const now = useNow()
  const agents = useQuery(agentsQuery)
  const usage = useQuery(usageQuery)
  const { show, q, sort = 'need', machine } = route.useSearch()
  useKeys(rowKeys)
  const navigate = route.useNavigate()
  const live = useConnection()
  const wanted = useDeferredValue(q ?? '')
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
      matchesName(row, wanted),
  )
  return (
    <>
      <h1 className="sr-only">Fleet</h1>
      {rows.length > 0 && <Counters rows={rows} now={now} shown={show} todayUsd={usage.data?.todayUsd} />}
      {rows.length > 8 && (
        <div className="mb-3 flex flex-wrap gap-2">
          <SearchField label="Find an agent" value={q ?? ''} onChange={setQuery} className="w-72 max-w-full" />
          <FleetView rows={rows} />
        </div>
      )}
      {rows.length === 0 && <NoAgents />}
      {shown.length > 0 && <AgentTable rows={shown} now={now} stale={live.state === 'lost'} />}
      {rows.length > 0 && shown.length === 0 && <NothingFound show={show} />}
    </>
  )
}

/** The order and the machine, kept in the URL: a bookmark is a saved view. */
function FleetView({ rows }: { rows: readonly FleetRow[] }) {
  const { sort = 'need', machine } = route.useSearch()
  const navigate = route.useNavigate()
  const names = [...new Set(rows.map((row) => row.machine.name))].toSorted()
  const change = (search: { sort?: FleetOrder | undefined; machine?: string | undefined }): void =>
    void navigate({ search: (all) => ({ ...all, ...search }), replace: true, resetScroll: false })
  return (
    <>
      <Select
        label="Order"
        hideLabel
        value={sort}
        options={fleetOrders.map((order) => ({ value: order, label: orderWords[order] }))}
        onChoose={(value) => change({ sort: fleetOrders.find((order) => order === value && order !== 'need') })}
        className="w-48"
      />
      <Select
        label="Machine"
        hideLabel
        value={machine ?? ''}
        options={[{ value: '', label: 'All machines' }, ...names.map((name) => ({ value: name, label: name }))]}
        onChoose={(value) => change({ machine: value === '' ? undefined : value })}
        className="w-44"
      />
    </>
  )
}

/** `j` and `k` move through the rows; Enter opens the one with the focus. */
const rowKeys = { j: () => moveFocus(1), k: () => moveFocus(-1) }

function moveFocus(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('[role=row][data-index] a')]
  const focused = document.activeElement?.closest('[role=row]')
  const at = links.findIndex((link) => link.closest('[role=row][data-index]')?.contains(focused ?? null) === true)
  const next = focused === null || at === -1 ? links[0] : links[at + by]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

const matchesName = (row: Parameters<typeof describeSituation>[0], wanted: string): boolean =>
  [row.agent.name, row.sprint?.goal, row.machine.name, row.sprint?.branch]
    .join(' ')
    .toLowerCase()
    .includes(wanted.toLowerCase())

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

/** The first screen for new users: one sentence, and the next step. */
function NoAgents() {
  const machines = useQuery(machinesQuery)
  const me = useQuery(meQuery)
  const navigate = route.useNavigate()
  const reachable = machines.data?.filter((machine) => machine.reachable) ?? []
  if (machines.isPending) return null
  return (
    <Card>
      {reachable.length > 0 ? (
        <EmptyState title="No agent yet">
          <p className="mb-4">
            {me.data?.project === undefined
              ? `An agent is a folder on a machine where an agent program works. ${reachable.map(({ name }) => name).join(', ')} can run one.`
              : `Start Ralph Mode in ${me.data.project}, or run a sprint with “ralph run” in a terminal: it appears here.`}
          </p>
          <Button kind="primary" onClick={() => void navigate({ search: { start: 'any' } })}>
            Start Ralph Mode
          </Button>
        </EmptyState>
      ) : (
        <EmptyState title="Connect a machine to get started">
          <p className="mb-4">
            Agents run on your machines. A machine connects to this backend; it needs no open port.
          </p>
          <ConnectMachine machines={machines.data?.length ?? 0} />
        </EmptyState>
      )}
    </Card>
  )
}
