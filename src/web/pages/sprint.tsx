import { isNotesProtocol } from '../../contract/way.ts'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type { FleetSprint } from '../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../contract/progress.ts'
import { isNotFound } from '../data/api.ts'
import { useNow } from '../ui/now.ts'
import { agentQuery, iterationsQuery, questionsQuery, sprintQuery } from '../data/queries.ts'
import { QuestionCard } from '../features/questions/question-card.tsx'
import { ChecksCard } from '../features/sprint/checks-card.tsx'
import { downloadSprint } from '../features/sprint/download.ts'
import { IterationStrip } from '../features/sprint/iteration-strip.tsx'
import { ParkedCard } from '../features/sprint/parked-card.tsx'
import { SprintActions } from '../features/sprint/sprint-actions.tsx'
import { SprintHeader } from '../features/sprint/sprint-header.tsx'
import { Steps } from '../features/sprint/steps.tsx'
import { createStripCells } from '../features/sprint/strip-cells.ts'
import { ErrorPage } from '../shell/error-page.tsx'
import { useKeys } from '../shell/shortcuts.ts'
import { useTitle } from '../shell/title.ts'
import { Skeleton } from '../ui/states.tsx'
import { statusWords } from '../../words/status.ts'
import { NotesCard } from './notes-card.tsx'
import { SprintDetail } from './sprint-detail.tsx'

const route = getRouteApi('/sprints/$sprintId')

/** The page of one sprint: what happened, what it produced, and the evidence. */
export function SprintPage() {
  const { sprintId } = route.useParams()
  const sprint = useQuery(sprintQuery(sprintId))
  const iterations = useQuery(iterationsQuery(sprintId))
  if (sprint.isPending) return <SprintSkeleton />
  if (sprint.isLoadingError || isNotFound(sprint.error))
    return <ErrorPage error={sprint.error} reset={() => void sprint.refetch()} />
  return (
    <SprintView
      key={sprintId}
      sprint={sprint.data}
      iterations={joinReceipts(iterations.data ?? [], sprint.data.progress.iterations)}
    />
  )
}

function SprintView({ sprint, iterations }: { sprint: FleetSprint; iterations: readonly IterationRecord[] }) {
  const now = useNow()
  const navigate = route.useNavigate()
  const { i: chosen } = route.useSearch()
  const { data: row } = useQuery(agentQuery(sprint.agentId))
  const { data: questions = [] } = useQuery(questionsQuery)
  const question = questions.find(({ sprintId, status }) => sprintId === sprint.id && status === 'open')
  const cells = useMemo(() => createStripCells(iterations, sprint, now), [iterations, sprint, now])
  const choose = useCallback(
    (i: number | undefined) =>
      void navigate({
        search: (all) => ({ ...all, i, event: undefined, from: undefined, file: undefined, at: undefined }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  )
  const { progress } = sprint
  useTitle(`${statusWords[progress.status].label} ${progress.stats.currentIteration} · ${progress.goal.slice(0, 60)}`)
  useIterationKeys(
    cells.flatMap((cell) => (cell.kind === 'iteration' ? [cell.number] : [])),
    chosen,
    choose,
  )
  const mayWrite = row !== undefined && row.access !== 'read'
  const startNew = (): void => void navigate({ search: (all) => ({ ...all, start: sprint.agentId }) })
  return (
    <>
      <SprintHeader
        sprint={sprint}
        row={row}
        actions={
          <SprintActions
            sprint={sprint}
            mayWrite={mayWrite}
            onExport={() => void downloadSprint(sprint, iterations)}
            onStartNew={startNew}
          />
        }
      />
      <ParkedCard sprint={sprint} row={row} mayWrite={mayWrite} />
      {question && <QuestionCard key={question.id} question={question} mayAnswer={mayWrite} />}
      <IterationStrip cells={cells} chosen={chosen} onChoose={choose} />
      <div className="grid grid-cols-[280px_minmax(0,1fr)] items-start gap-3.5 max-lg:grid-cols-1 xl:grid-cols-[280px_minmax(0,1fr)_400px] 2xl:grid-cols-[310px_minmax(0,1fr)_500px]">
        <div className="space-y-3.5 max-lg:order-2 max-lg:grid max-lg:grid-cols-2 max-lg:gap-3.5 max-lg:space-y-0 max-sm:grid-cols-1">
          <Steps progress={progress} iteration={chosen} onChoose={choose} />
          <ChecksCard iterations={iterations} progress={progress} chosen={chosen} onChoose={choose} />
          {isNotesProtocol(sprint.protocol) && <NotesCard agentId={sprint.agentId} sprint={sprint} />}
        </div>
        <SprintDetail sprint={sprint} iterations={iterations} mayWrite={mayWrite} tall={!question} />
      </div>
    </>
  )
}

/** All receipts. The state has the newest ones, also while the page still loads them. */
function joinReceipts(
  loaded: readonly IterationRecord[],
  newest: readonly IterationRecord[],
): readonly IterationRecord[] {
  const first = newest[0]?.number ?? Number.POSITIVE_INFINITY
  return [...loaded.filter(({ number }) => number < first), ...newest]
}

/** `j` and `k` move through the iterations, Escape shows all. */
function useIterationKeys(
  numbers: readonly number[],
  chosen: number | undefined,
  choose: (iteration: number | undefined) => void,
): void {
  const step = (by: 1 | -1): void => {
    const at = chosen === undefined ? numbers.length : numbers.indexOf(chosen)
    const next = numbers[at + by]
    if (next !== undefined) choose(next)
  }
  useKeys({ j: () => step(1), k: () => step(-1), Escape: () => choose(undefined) })
}

const SprintSkeleton = () => (
  <div role="status" aria-label="Loading" className="space-y-3.5">
    <Skeleton className="h-5 w-72" />
    <Skeleton className="h-7 w-[36rem] max-w-full" />
    <Skeleton className="h-5 w-96 max-w-full" />
    <Skeleton className="h-[132px] rounded-[10px]" />
    <div className="grid grid-cols-[280px_1fr] gap-3.5 max-lg:grid-cols-1 xl:grid-cols-[280px_1fr_400px] 2xl:grid-cols-[310px_1fr_500px]">
      <Skeleton className="h-96 rounded-[10px]" />
      <Skeleton className="h-96 rounded-[10px]" />
      <Skeleton className="h-96 rounded-[10px] max-xl:hidden" />
    </div>
  </div>
)
