import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { classes } from '../../ui/classes.ts'
import { Dot } from '../../ui/dot.tsx'
import type { Tone } from '../../../words/tone.ts'
import { formatUsd } from '../../../words/money.ts'
import { formatAge } from '../../../words/durations.ts'
import type { SituationGroup } from '../../../words/sprint-state.ts'
import { describeSituation } from '../../words/situation.ts'

type CountersProps = {
  readonly rows: readonly FleetRow[]
  readonly now: number
  readonly shown: SituationGroup | undefined
  readonly todayUsd: number | undefined
}

/** Counters that are also filters. */
export function Counters({ rows, now, shown, todayUsd }: CountersProps) {
  const groups = rows.map((row) => describeSituation(row, now).group)
  const countGroup = (group: SituationGroup): number => groups.filter((other) => other === group).length
  const offline = rows.filter((row) => !row.machine.reachable).length
  const needsYou = countGroup('needs-you')
  return (
    <div className="mb-4 grid grid-cols-6 gap-2.5 max-lg:grid-cols-3 max-sm:grid-cols-3 max-sm:gap-2">
      <Counter group="running" value={countGroup('running')} shown={shown} tone="info" label="Running" />
      <Counter group="needs-you" value={needsYou} shown={shown} tone="warn" label="Needs you" loud={needsYou > 0} />
      <Counter group="parked" value={countGroup('parked')} shown={shown} label={parkedLabel(rows, now)} />
      <Counter group="failed" value={countGroup('failed')} shown={shown} tone="bad" label="Failed in 24 h" />
      <Counter
        group="resting"
        value={countGroup('resting')}
        shown={shown}
        label={offline > 0 ? `Idle · ${offline} offline` : 'Idle'}
      />
      <Link to="/usage" className={counterClass(false, false)}>
        <CounterValue>{todayUsd === undefined ? '–' : formatUsd(todayUsd)}</CounterValue>
        <CounterLabel>spent today</CounterLabel>
      </Link>
    </div>
  )
}

function parkedLabel(rows: readonly FleetRow[], now: number): string {
  const next = Math.min(...rows.flatMap(({ sprint }) => sprint?.parked?.until ?? []))
  return Number.isFinite(next) && next > now ? `Parked · ${formatAge(next - now)}` : 'Parked'
}

type CounterProps = {
  readonly group: SituationGroup
  readonly value: number
  readonly shown: SituationGroup | undefined
  readonly label: string
  readonly tone?: Tone
  readonly loud?: boolean
}

const Counter = ({ group, value, shown, label, tone, loud = false }: CounterProps) => (
  <Link
    to="/"
    search={(all) => ({ ...all, show: shown === group ? undefined : group })}
    aria-current={shown === group ? 'true' : undefined}
    className={counterClass(shown === group, loud)}
  >
    <CounterValue>{value}</CounterValue>
    <CounterLabel>
      {tone !== undefined && <Dot tone={value > 0 ? tone : 'quiet'} />}
      <span className="sm:truncate">{label}</span>
    </CounterLabel>
  </Link>
)

const counterClass = (chosen: boolean, loud: boolean): string =>
  classes(
    'block rounded-[10px] border px-3.5 py-2.5 transition-colors max-sm:px-2.5',
    loud ? 'bg-warn-bg' : 'bg-panel hover:bg-sunken',
    chosen ? 'border-accent outline-1 outline-accent' : loud ? 'border-transparent' : 'border-line',
  )

const CounterLabel = ({ children }: { children: ReactNode }) => (
  <span className="flex items-center gap-1.5 leading-tight text-dim max-sm:text-sm">{children}</span>
)

const CounterValue = ({ children }: { children: ReactNode }) => (
  <span className="block text-[22px] leading-7 font-semibold tracking-tight max-sm:text-lg">{children}</span>
)
