import type { ReactNode } from 'react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { Badge } from '../../ui/badge.tsx'
import { UsageBar } from '../../ui/bar.tsx'
import { classes } from '../../ui/classes.ts'
import { DiffSize } from '../../ui/diff-lines.tsx'
import { Dot } from '../../ui/dot.tsx'
import { MiniStrip } from '../../ui/mini-strip.tsx'
import { formatAgo, formatAge } from '../../../words/durations.ts'
import { formatCap, formatUsd } from '../../../words/money.ts'
import { formatTimeOfDay } from '../../words/time-of-day.ts'
import { describeSituation } from '../../words/situation.ts'
import { describeChecks, iterationBadge } from '../../../words/sprint-state.ts'
import { RowActions } from './row-actions.tsx'

/** Shared by the head and every row. */
export const columns =
  'grid items-center gap-x-3.5 px-3.5 py-2 grid-cols-[minmax(0,1fr)_auto] sm:grid-cols-[minmax(140px,1.3fr)_minmax(170px,1.7fr)_minmax(110px,.95fr)_96px] md:grid-cols-[minmax(140px,1.3fr)_minmax(170px,1.7fr)_minmax(120px,.95fr)_130px_96px] lg:grid-cols-[minmax(150px,1.3fr)_minmax(190px,1.8fr)_minmax(130px,1fr)_100px_130px_96px] xl:grid-cols-[minmax(180px,1.6fr)_minmax(220px,1.6fr)_minmax(150px,.8fr)_104px_130px_minmax(170px,.9fr)_88px]'

type AgentRowProps = { readonly row: FleetRow; readonly now: number; readonly name: ReactNode }

export const AgentRowCells = ({ row, now, name }: AgentRowProps) => (
  <>
    <span role="cell" className="min-w-0">
      <span className="flex items-center gap-1.5">
        <Dot
          tone={row.machine.reachable ? 'ok' : 'bad'}
          label={`${row.machine.name} ${row.machine.reachable ? 'is connected' : 'is not responding'}`}
        />
        {name}
      </span>
      <span className="block truncate text-dim">{row.sprint?.goal ?? row.agent.ralphModeTaskDescription ?? '—'}</span>
    </span>
    <span role="cell" className="min-w-0 max-sm:col-start-1 max-sm:row-start-2">
      <AgentStateCell row={row} now={now} />
    </span>
    <span role="cell" className="max-sm:hidden">
      <IterationsCell row={row} />
    </span>
    <span role="cell" className="max-lg:hidden">
      <ChecksCell row={row} />
    </span>
    <span role="cell" className="max-md:hidden">
      <SpendCell row={row} />
    </span>
    <span role="cell" className="min-w-0 font-mono text-sm max-xl:hidden">
      <BranchCell row={row} />
    </span>
    <span role="cell" className="flex justify-end max-sm:col-start-2 max-sm:row-start-1 max-sm:row-end-3">
      <RowActions row={row} />
    </span>
  </>
)

function AgentStateCell({ row, now }: { row: FleetRow; now: number }) {
  const { group, label, tone, asks, live, unknown } = describeSituation(row, now)
  const reason = row.sprint?.reason ?? row.agent.reason
  const detail = stateDetail(row, now, group === 'failed' ? undefined : reason)
  return (
    <>
      <span className="flex min-w-0 items-center gap-1.5">
        {asks === true ? (
          <Badge tone="warn">
            <span className="truncate">{label}</span>
          </Badge>
        ) : (
          <>
            {tone !== 'quiet' && <Dot tone={tone} live={live === true} />}
            <span className={classes('truncate', tone === 'quiet' && 'text-dim', unknown === true && 'text-bad')}>
              {label}
            </span>
          </>
        )}
      </span>
      {group === 'failed' && <span className="block text-sm break-words text-dim">{reason}</span>}
      <span className="block truncate text-sm text-faint" title={detail}>
        {detail}
      </span>
    </>
  )
}

/** The last line: how old the state is, and what happens next. */
function stateDetail(
  { machine, sprint, lastEventAt, queued }: FleetRow,
  now: number,
  reason: string | undefined,
): string {
  if (sprint?.question) return `waiting for you for ${formatAge(now - sprint.question.askedAt)} · ${machine.name}`
  if (sprint?.parked) {
    const { reason: limit, until } = sprint.parked
    return `${limit} · resumes ${formatTimeOfDay(until, now)}, in ${formatAge(until - now)}`
  }
  if (!machine.reachable)
    return machine.lastSeenAt === undefined
      ? `${machine.name} has never connected`
      : `last seen ${formatAgo(machine.lastSeenAt, now)}`
  const parts = [
    reason,
    lastEventAt === undefined ? undefined : `last event ${formatAgo(lastEventAt, now)}`,
    queued > 0 ? `${queued} queued` : undefined,
    machine.name,
  ]
  return parts.filter((part) => part !== undefined).join(' · ')
}

function IterationsCell({ row: { sprint } }: { row: FleetRow }) {
  if (!sprint || sprint.iteration === 0) return null
  const marks = sprint.verdicts.slice(-12).map(({ number, ...mark }) => ({
    key: number,
    tone: iterationBadge(sprint.status, mark).tone,
    live: mark.verdict === undefined && sprint.status === 'in-progress',
  }))
  const words = sprint.verdicts
    .slice(-5)
    .map(({ number, ...mark }) => `${number} ${iterationBadge(sprint.status, mark).words}`)
  return (
    <span className="flex items-center gap-2 whitespace-nowrap">
      <MiniStrip marks={marks} label={words.join(', ')} />
      <span className="text-dim">
        {sprint.iteration}
        {sprint.maxIterations !== undefined && ` / ${sprint.maxIterations}`}
      </span>
    </span>
  )
}

function ChecksCell({ row: { sprint } }: { row: FleetRow }) {
  if (!sprint?.checks) return <span className="text-faint">{sprint ? '–' : ''}</span>
  const { green, all, baseline } = sprint.checks
  return (
    <span className={green === all && baseline !== true ? 'text-ok' : 'text-dim'}>{describeChecks(sprint.checks)}</span>
  )
}

function SpendCell({ row: { sprint } }: { row: FleetRow }) {
  if (!sprint) return null
  const { spentUsd, capUsd } = sprint
  return (
    <span className="flex items-center gap-2 whitespace-nowrap">
      {formatUsd(spentUsd)}
      {capUsd === undefined ? (
        <span className="text-faint">no cap</span>
      ) : (
        <UsageBar
          part={(spentUsd ?? 0) / capUsd}
          label={`${formatUsd(spentUsd)} of ${formatCap(capUsd)}`}
          className="w-14"
        />
      )}
    </span>
  )
}

function BranchCell({ row: { agent, sprint } }: { row: FleetRow }) {
  const branch = sprint?.branch ?? ('branch' in agent.workspace ? agent.workspace.branch : undefined)
  return (
    <span className="flex items-center gap-2 whitespace-nowrap">
      <span className={classes('truncate', !sprint && 'text-dim')} title={branch}>
        {branch ?? ''}
      </span>
      {sprint?.diff && <DiffSize {...sprint.diff} />}
    </span>
  )
}
