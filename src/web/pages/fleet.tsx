import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import { describeError } from '../data/api.ts'
import { useConnection } from '../data/live.ts'
import { useNow } from '../ui/now.ts'
import { agentsQuery, machinesQuery, meQuery, usageQuery } from '../data/queries.ts'
import { AgentTable } from '../features/fleet/agent-table.tsx'
import { Counters } from '../features/fleet/counters.tsx'
import { ConnectMachine } from '../features/machines/connect-machine.tsx'
import { useTitle } from '../shell/title.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { EmptyState, ProblemNotice, Skeleton, SkeletonRows } from '../ui/states.tsx'
import type { SituationGroup } from '../../words/sprint-state.ts'
import { sortByNeed, describeSituation } from '../words/situation.ts'

const route = getRouteApi('/')

/** The fleet: who needs you, who is working, and the cost. */
export function FleetPage() {
  useTitle('Fleet')
  const now = useNow()
  const agents = useQuery(agentsQuery)
  const usage = useQuery(usageQuery)
  const { show, q } = route.useSearch()
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
  const rows = sortByNeed(agents.data, now)
  const shown = rows.filter(
    (row) => (show === undefined || describeSituation(row, now).group === show) && matchesName(row, wanted),
  )
  return (
    <>
      <h1 className="sr-only">Fleet</h1>
      {rows.length > 0 && <Counters rows={rows} now={now} shown={show} todayUsd={usage.data?.todayUsd} />}
      {rows.length > 8 && (
        <SearchField label="Find an agent" value={q ?? ''} onChange={setQuery} className="mb-3 max-w-72" />
      )}
      {rows.length === 0 && <NoAgents />}
      {shown.length > 0 && <AgentTable rows={shown} now={now} stale={live.state === 'lost'} />}
      {rows.length > 0 && shown.length === 0 && <NothingFound show={show} />}
    </>
  )
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
