import { useQuery } from '@tanstack/react-query'
import { Fragment, useMemo, useState } from 'react'
import type { AgentPrompt } from '../../contract/fleet/prompt.ts'
import { describeError } from '../data/api.ts'
import { promptEventsQuery } from '../data/queries.ts'
import { CallInspector } from '../features/transcript/inspector.tsx'
import { findCall, createRows } from '../features/transcript/rows.ts'
import { TranscriptRow } from '../features/transcript/transcript-row.tsx'
import { ProblemNotice, SkeletonRows } from '../ui/states.tsx'

/**
 * The newest 200 events of a prompt. They are not part of the event stream, so the page polls while the prompt runs.
 */
export function PromptTranscript({ prompt }: { prompt: AgentPrompt }) {
  const running = prompt.status === 'running'
  const { data, isPending, isLoadingError, error, refetch } = useQuery({
    ...promptEventsQuery(prompt),
    staleTime: 0,
    refetchInterval: running ? 2000 : false,
  })
  const [selected, setSelected] = useState<string>()
  const rows = useMemo(
    () => createRows((data?.items ?? []).toReversed(), () => prompt.startedAt),
    [data, prompt.startedAt],
  )
  const call = selected === undefined ? undefined : findCall(rows, selected)
  if (isPending) return <SkeletonRows rows={2} height="h-9" />
  if (isLoadingError) return <ProblemNotice {...describeError(error)} onRetry={() => void refetch()} />
  if (rows.length === 0) return <p className="mt-1 text-sm text-faint">No events.</p>
  return (
    <div className="mt-1 max-h-[60vh] overflow-y-auto rounded-md border border-line" tabIndex={0} role="log">
      {data.next !== undefined && (
        <p className="border-b border-line px-3.5 py-1.5 text-sm text-faint">Showing only the newest events.</p>
      )}
      {rows.map((row) => (
        <Fragment key={row.key}>
          <TranscriptRow
            row={row}
            selected={selected}
            onSelect={(key) => setSelected(key === selected ? undefined : key)}
          />
          {call && findCall([row], call.key) && (
            <CallInspector sprintId={undefined} call={call} onClose={() => setSelected(undefined)} />
          )}
        </Fragment>
      ))}
    </div>
  )
}
