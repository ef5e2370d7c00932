import { useCallback, useEffect, useMemo, useState } from 'react'
import type { FleetSprint } from '../../contract/fleet/sprint.ts'
import { api, describeError } from '../data/api.ts'
import { useNow } from '../ui/now.ts'
import { transcriptKinds, type TranscriptScope } from '../data/transcript-window.ts'
import { useAction } from '../data/use-action.ts'
import { JumpBar } from '../features/transcript/jump-bar.tsx'
import { createLanes } from '../features/transcript/lanes.ts'
import { LanesView } from '../features/transcript/lanes-view.tsx'
import { WaitingMessages } from '../features/sprint/waiting-messages.tsx'
import { Transcript } from '../features/transcript/transcript.tsx'
import type { useTranscript } from '../features/transcript/use-transcript.ts'
import { useKeys } from '../shell/shortcuts.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Select } from '../ui/field.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { EmptyState, ProblemNotice, SkeletonRows } from '../ui/states.tsx'
import type { SetSearch } from './sprint-detail.tsx'

type TranscriptPanelProps = {
  readonly sprint: FleetSprint
  readonly transcript: ReturnType<typeof useTranscript>
  readonly scope: TranscriptScope
  readonly getIterationStart: (iteration: number) => number | undefined
  readonly selected: string | undefined
  readonly set: SetSearch
  readonly mayWrite: boolean
  readonly followAsked: number
  readonly onFollow: () => void
}

export function TranscriptPanel({
  sprint,
  transcript,
  scope,
  getIterationStart,
  selected,
  set,
  mayWrite,
  followAsked,
  onFollow,
}: TranscriptPanelProps) {
  const [following, setFollowing] = useState(true)
  const { data, isPending, isLoadingError, error, refetch, loadOlder, loadNewer } = transcript
  const follow = (): void => {
    set({ at: undefined })
    onFollow()
  }
  const jump = useCallback((at: number | undefined) => set({ at, event: undefined }), [set])
  useKeys({ f: follow })
  return (
    <>
      <Toolbar scope={scope} set={set} following={following} onFollow={follow} />
      <JumpBar
        sprintId={sprint.id}
        iteration={scope.iteration}
        at={scope.at}
        onJump={jump}
        onIteration={(i) => set({ i, at: undefined, event: undefined })}
      />
      {scope.iteration !== undefined && data && <IterationLanesPanel sprint={sprint} transcript={transcript} />}
      {isPending && <SkeletonRows rows={7} height="h-9" />}
      {isLoadingError && <ProblemNotice {...describeError(error)} onRetry={() => void refetch()} />}
      {data?.events.length === 0 && (
        <div className="flex-1">
          <EmptyTranscript scope={scope} sprint={sprint} />
        </div>
      )}
      {data && data.events.length > 0 && (
        <Transcript
          key={JSON.stringify(scope)}
          shown={data}
          getIterationStart={getIterationStart}
          selected={selected}
          over={scope.iteration !== undefined && sprint.progress.live.every(({ number }) => number !== scope.iteration)}
          onSelect={(event) => set({ event: event === selected ? undefined : event })}
          at={scope.at}
          onOlder={() => void loadOlder()}
          onNewer={() => void loadNewer()}
          onReopen={() => (scope.at === undefined ? void refetch() : jump(undefined))}
          followAsked={followAsked}
          onFollowing={setFollowing}
        />
      )}
      <WaitingMessages sprint={sprint} mayWrite={mayWrite} />
      {mayWrite && sprint.progress.status !== 'completed' && <SprintComposer sprint={sprint} />}
    </>
  )
}

function Toolbar({
  scope,
  set,
  following,
  onFollow,
}: {
  scope: TranscriptScope
  set: SetSearch
  following: boolean
  onFollow: () => void
}) {
  const [text, setText] = useState(scope.search ?? '')
  const search = text.trim() === '' ? undefined : text.trim()
  useEffect(() => {
    if (search === scope.search) return undefined
    const wait = window.setTimeout(() => set({ q: search }), 250)
    return () => window.clearTimeout(wait)
  }, [search, scope.search, set])
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-2.5 py-1.5">
      <SearchField
        label="Search the transcript"
        value={text}
        onChange={setText}
        className="min-w-0 flex-1 max-sm:basis-full"
      />
      <Select
        label="What to show"
        hideLabel
        value={scope.kind ?? 'all'}
        options={[
          { value: 'all', label: 'Everything' },
          { value: 'text', label: 'Text' },
          { value: 'tool', label: 'Tools' },
          { value: 'edit', label: 'Edits' },
          { value: 'error', label: 'Errors' },
          { value: 'other', label: 'Ralph and people' },
        ]}
        onChoose={(value) => set({ kind: transcriptKinds.find((kind) => kind === value), at: undefined })}
        className="w-31 max-sm:flex-1"
      />
      <Button
        size="small"
        kind="ghost"
        aria-pressed={following}
        onClick={onFollow}
        className={classes('h-7.5', following && 'bg-accent-bg')}
      >
        {following ? 'Following' : 'Follow'}
      </Button>
    </div>
  )
}

function IterationLanesPanel({
  sprint,
  transcript,
}: {
  sprint: FleetSprint
  transcript: TranscriptPanelProps['transcript']
}) {
  const now = useNow()
  const running = sprint.progress.status === 'in-progress'
  const events = transcript.data?.events
  const until = running ? now : (events?.at(-1)?.at ?? now)
  const lanes = useMemo(() => createLanes(events ?? [], until), [events, until])
  return lanes ? <LanesView lanes={lanes} /> : null
}

const EmptyTranscript = ({ scope, sprint }: { scope: TranscriptScope; sprint: FleetSprint }) =>
  scope.search !== undefined || scope.kind !== undefined ? (
    <EmptyState title="Nothing matches">Try other words, or show everything.</EmptyState>
  ) : (
    <EmptyState title={sprint.progress.status === 'not-started' ? 'Waiting for its turn' : 'No events yet'}>
      The agent's messages and tool calls appear here as they happen.
    </EmptyState>
  )

/** Queues a message for the next iteration, or steers now. */
function SprintComposer({ sprint }: { sprint: FleetSprint }) {
  const [text, setText] = useState('')
  const tell = useAction(api.tellSprint, { onDone: () => setText('') })
  const ready = text.trim() !== '' && !tell.busy
  const send = (now: boolean): void => {
    if (ready) tell.run({ sprintId: sprint.id, text, now })
  }
  const running = sprint.progress.status === 'in-progress'
  return (
    <div className="flex items-center gap-2 border-t border-line px-2.5 py-2">
      <input
        aria-label="Message to the agent"
        placeholder={`Message for iteration ${sprint.progress.stats.currentIteration + 1}…`}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send(event.metaKey || event.ctrlKey)
        }}
        className="h-7.5 min-w-0 flex-1 rounded-md bg-transparent px-1.5 focus-visible:outline-1"
      />
      <Button disabled={!ready} onClick={() => send(false)}>
        Queue
      </Button>
      {running && (
        <Button
          disabled={!ready}
          title="Interrupts the agent, which continues with your message"
          onClick={() => send(true)}
        >
          Steer now
        </Button>
      )}
    </div>
  )
}
