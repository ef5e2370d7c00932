import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import type { FleetSprint } from '../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../contract/progress.ts'
import type { TranscriptScope } from '../data/transcript-window.ts'
import { ChangesView } from '../features/sprint/changes.tsx'
import { Charts } from '../features/sprint/charts.tsx'
import { HooksList } from '../features/sprint/hooks-list.tsx'
import { IterationsTable } from '../features/sprint/iterations-table.tsx'
import { createRows, findCall } from '../features/transcript/rows.ts'
import { useTranscript } from '../features/transcript/use-transcript.ts'
import { Card } from '../ui/card.tsx'
import { classes } from '../ui/classes.ts'
import { Tabs } from '../ui/tabs.tsx'
import { textClasses } from '../words/tone.ts'
import { formatDurationShort } from '../../words/durations.ts'
import { formatUsd } from '../../words/money.ts'
import { verdictBadge, describeVerdict } from '../../words/verdict.ts'
import { SidePanel } from './side-panel.tsx'
import { TranscriptPanel } from './transcript-panel.tsx'

const route = getRouteApi('/sprints/$sprintId')

type SprintDetailProps = {
  readonly sprint: FleetSprint
  readonly iterations: readonly IterationRecord[]
  readonly mayWrite: boolean
  readonly tall: boolean
}

const tabs = [
  { key: 'transcript', label: 'Transcript' },
  { key: 'changes', label: 'Changes' },
  { key: 'iterations', label: 'Receipts' },
  { key: 'charts', label: 'Charts' },
  { key: 'hooks', label: 'Hooks' },
] as const

/** The middle and the right column: evidence, scoped to the selected iteration. */
export function SprintDetail({ sprint, iterations, mayWrite, tall }: SprintDetailProps) {
  const { tab = 'transcript', i: chosen, q, kind, event, at } = route.useSearch()
  const navigate = route.useNavigate()
  const scope = useMemo((): TranscriptScope => ({ iteration: chosen, search: q, kind, at }), [chosen, q, kind, at])
  const transcript = useTranscript(sprint.id, scope)
  const getIterationStart = useIterationStarts(sprint, iterations)
  const set = useCallback(
    (search: Partial<ReturnType<typeof route.useSearch>>) =>
      void navigate({ search: (all) => ({ ...all, ...search }), replace: true, resetScroll: false }),
    [navigate],
  )
  const record = iterations.find(({ number }) => number === chosen)
  const call = useMemo(
    () =>
      event === undefined ? undefined : findCall(createRows(transcript.data?.events ?? [], getIterationStart), event),
    [event, transcript.data, getIterationStart],
  )
  const [followAsked, setFollowAsked] = useState(0)
  return (
    <>
      <Card
        label="Evidence"
        className={classes(
          'flex flex-col max-lg:order-1 max-lg:h-[75dvh]',
          tall ? 'h-[max(30rem,calc(100dvh-20.5rem))]' : 'h-[max(30rem,calc(100dvh-26rem))]',
        )}
      >
        {chosen !== undefined && <IterationHead number={chosen} record={record} />}
        <Tabs
          tabs={tabs}
          value={tab}
          onChange={(next) => set({ tab: next === 'transcript' ? undefined : next })}
          label="Evidence"
        >
          {tab === 'transcript' && (
            <TranscriptPanel
              sprint={sprint}
              transcript={transcript}
              scope={scope}
              getIterationStart={getIterationStart}
              selected={event}
              set={set}
              mayWrite={mayWrite}
              followAsked={followAsked}
              onFollow={() => setFollowAsked(followAsked + 1)}
            />
          )}
          {tab === 'changes' && <ChangesTab mayWrite={mayWrite} sprint={sprint} iterations={iterations} set={set} />}
          {tab === 'iterations' && (
            <IterationsTable iterations={iterations} chosen={chosen} onChoose={(i) => set({ i, tab: undefined })} />
          )}
          {tab === 'charts' && <Charts iterations={iterations} />}
          {tab === 'hooks' && <HooksList progress={sprint.progress} iteration={chosen} />}
        </Tabs>
      </Card>
      <SidePanel sprint={sprint} iterations={iterations} chosen={chosen} call={call} mayWrite={mayWrite} set={set} />
    </>
  )
}

export type SetSearch = (search: Partial<ReturnType<typeof route.useSearch>>) => void

type ChangesTabProps = {
  readonly sprint: FleetSprint
  readonly iterations: readonly IterationRecord[]
  readonly mayWrite: boolean
  readonly set: SetSearch
}

function ChangesTab({ sprint, iterations, mayWrite, set }: ChangesTabProps) {
  const { i: chosen, from, file } = route.useSearch()
  const range = { from: from ?? (chosen === undefined ? 0 : chosen - 1), ...(chosen !== undefined && { to: chosen }) }
  return (
    <ChangesView
      sprint={sprint}
      mayWrite={mayWrite}
      range={range}
      iterations={iterations.map(({ number }) => number)}
      file={file}
      onRange={(next) => set({ from: next.from, i: next.to })}
      onFile={(path) => set({ file: path })}
    />
  )
}

function IterationHead({ number, record }: { number: number; record: IterationRecord | undefined }) {
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-x-2.5 border-b border-line px-3.5 py-1.5 text-sm">
      <h2 className="font-semibold">Iteration {number}</h2>
      {record ? (
        <>
          <span className={classes('min-w-0 truncate', textClasses[verdictBadge(record).tone])}>
            {describeVerdict(record)}
          </span>
          <span className="ml-auto text-faint">
            {formatDurationShort(record.endedAt - record.startedAt)} · {formatUsd(record.costUsd)}
          </span>
        </>
      ) : (
        <span className="text-info">running</span>
      )}
    </div>
  )
}

/** When each iteration started, including those whose first event is not loaded. */
function useIterationStarts(
  sprint: FleetSprint,
  iterations: readonly IterationRecord[],
): (iteration: number) => number | undefined {
  return useMemo(() => {
    const starts = new Map([...iterations, ...sprint.progress.live].map(({ number, startedAt }) => [number, startedAt]))
    return (iteration) => starts.get(iteration)
  }, [iterations, sprint.progress.live])
}
