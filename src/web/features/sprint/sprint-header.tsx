import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { isUnderWay, summarizeSprint, type SprintSummary } from '../../../contract/sprint-summary.ts'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useNow } from '../../ui/now.ts'
import { UsageBar } from '../../ui/bar.tsx'
import { DiffSize } from '../../ui/diff-lines.tsx'
import { Dot } from '../../ui/dot.tsx'
import { Ago } from '../../ui/moment.tsx'
import { Separated } from '../../ui/one-line.tsx'
import { textClasses } from '../../words/tone.ts'
import { formatCap, formatUsd } from '../../../words/money.ts'
import { formatCount } from '../../../words/counts.ts'
import { formatDurationShort, formatAge } from '../../../words/durations.ts'
import { formatTimeOfDay } from '../../words/time-of-day.ts'
import { describeProgram } from '../../../words/status.ts'
import { describeExit } from '../../../words/proof-text.ts'
import { describeSprintState } from '../../../words/sprint-state.ts'
import { resumable } from './sprint-actions.tsx'

type SprintHeaderProps = {
  readonly sprint: FleetSprint
  readonly row: FleetRow | undefined
  readonly actions: ReactNode
}

/** The summary: state with its age, goal, agent, machine, cost. */
export const SprintHeader = ({ sprint, row, actions }: SprintHeaderProps) => (
  <div className="mb-3.5 flex items-start gap-6 max-md:flex-col max-md:gap-3">
    <div className="min-w-0 flex-1">
      <SprintStateLine sprint={sprint} row={row} />
      <h1
        className="mt-0.5 mb-1 line-clamp-3 text-xl leading-[1.3] font-semibold tracking-[-0.015em]"
        title={sprint.progress.goal}
      >
        {sprint.progress.goal.trim().split('\n', 1)[0]}
      </h1>
      <WholeGoal goal={sprint.progress.goal.trim()} />
      <SprintFacts sprint={sprint} row={row} />
    </div>
    {actions}
  </div>
)

/** More fits in three lines of a phone only in few scripts. */
const maxHeading = 90

/** What the heading leaves out of a long goal, on demand. */
const WholeGoal = ({ goal }: { goal: string }) =>
  (goal.includes('\n') || goal.length > maxHeading) && (
    <details className="mb-1 max-w-3xl">
      <summary className="text-sm text-dim">Whole goal</summary>
      <p className="py-1 break-words whitespace-pre-wrap">{goal}</p>
    </details>
  )

function SprintStateLine({ sprint, row }: { sprint: FleetSprint; row: FleetRow | undefined }) {
  const { progress, lastEventAt } = sprint
  const summary = summarizeSprint(progress)
  const state = describeSprintState(summary)
  const unknown = row !== undefined && !row.machine.reachable && state.live
  return (
    <div className="flex gap-1.5">
      <span className="flex h-5 items-center">
        <Dot tone={unknown ? 'bad' : state.tone} live={state.live && !unknown} />
      </span>
      <Separated className="min-w-0">
        <span className="font-semibold">
          {unknown ? `Unknown: ${row.machine.name} is not responding` : state.label}
        </span>
        {state.doubt !== undefined && (
          <span className={textClasses.warn} title={describeExit(progress)}>
            {state.doubt}
          </span>
        )}
        {state.doing !== undefined && <span>{state.doing}</span>}
        {state.iteration !== undefined && <span>{state.iteration}</span>}
        {lastEventAt !== undefined && (
          <span className="text-dim">
            last event <Ago at={lastEventAt} />
          </span>
        )}
        <NextLine sprint={sprint} summary={summary} />
      </Separated>
    </div>
  )
}

/** What happens next, or a request that is still pending. */
function NextLine({ sprint: { progress, observed }, summary }: { sprint: FleetSprint; summary: SprintSummary }) {
  const now = useNow()
  const { status, parked, reason } = summary
  if (progress.stopRequested && isUnderWay(status)) {
    const verb = progress.stopRequested.as === 'paused' ? 'pausing' : 'stopping'
    return (
      <span className={textClasses.warn}>
        {verb} after this {progress.stopRequested.when}
      </span>
    )
  }
  if (parked)
    return (
      <span className={textClasses.warn}>
        {parked.reason}, resumes {formatTimeOfDay(parked.until, now)} in {formatAge(parked.until - now)}
      </span>
    )
  if (observed && resumable.has(status))
    return (
      <span className="text-dim">
        started in a terminal; resume it there with <code className="font-mono text-sm">ralph resume</code>
      </span>
    )
  if (reason !== undefined) return <span className="text-dim">{reason}</span>
  if (observed) return <span className="text-dim">started in a terminal</span>
  return null
}

function SprintFacts({ sprint, row }: { sprint: FleetSprint; row: FleetRow | undefined }) {
  const { progress, branch, diff } = sprint
  const { stats } = progress
  const spent = stats.costUsd ?? stats.spentUsd ?? null
  const { usage } = stats
  const tokens = usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-0.5 text-dim">
      <span>
        {describeProgram(progress.agent?.[0] ?? row?.agent.program ?? '', progress.model ?? row?.agent.model)}
      </span>
      {row && (
        <Link
          to="/agents/$agentId"
          params={{ agentId: row.agent.id }}
          className="flex items-center gap-1.5 hover:text-text"
        >
          <Dot
            tone={row.machine.reachable ? 'ok' : 'bad'}
            label={row.machine.reachable ? 'answers' : 'not responding'}
          />
          {row.machine.name}
        </Link>
      )}
      {branch !== undefined && <span className="font-mono text-sm">{branch}</span>}
      {diff && <DiffSize {...diff} />}
      <span title="Working time; excludes waiting">{formatDurationShort(stats.activeMs)}</span>
      <span className="flex items-center gap-2">
        {formatUsd(spent)}
        {stats.costUsd === null && stats.spentUsd !== undefined && ' at least'}
        {progress.limits.usd !== 'off' && (
          <>
            {` of ${formatCap(progress.limits.usd)}`}
            <UsageBar
              part={(spent ?? 0) / progress.limits.usd}
              label={`${formatUsd(spent)} of ${formatCap(progress.limits.usd)} spent`}
            />
          </>
        )}
      </span>
      {tokens > 0 && <span>{formatCount(tokens)} tokens</span>}
    </div>
  )
}
