import { memo } from 'react'
import { Tag } from '../../ui/badge.tsx'
import { classes } from '../../ui/classes.ts'
import { DiffSize } from '../../ui/diff-lines.tsx'
import { Dot } from '../../ui/dot.tsx'
import { MarkdownText } from '../../ui/markdown.tsx'
import { PathText } from '../../ui/one-line.tsx'
import { groundClasses, textClasses } from '../../words/tone.ts'
import { countDiffLines } from '../../words/line-diff.ts'
import { formatDurationShort, formatStopwatch } from '../../../words/durations.ts'
import { formatExactTime, formatFullTime } from '../../words/time-of-day.ts'
import { type EventSentence, userTitle } from '../../../words/event-sentences.ts'
import type { TranscriptRowData } from './rows.ts'
import { toolCallDiff, shellCommand, exitText, isShell, type ToolCall } from './tool-call.ts'

type UserMessage = Extract<TranscriptRowData, { kind: 'user' }>['message']

type TranscriptRowProps = {
  readonly row: TranscriptRowData
  readonly selected: string | undefined
  readonly onSelect: (key: string) => void
}

const frame = 'grid w-full grid-cols-[46px_minmax(0,1fr)_auto] gap-x-2.5 border-b border-line px-3.5 py-1.5 text-left'

/** Text is content and stays open; a tool call is evidence and takes one line. */
export const TranscriptRow = memo(({ row, selected, onSelect }: TranscriptRowProps) => {
  switch (row.kind) {
    case 'text':
      return (
        <div className={frame}>
          <RowTime row={row} />
          <div className="col-span-2 text-[13.5px]">
            <MarkdownText text={row.text} />
          </div>
        </div>
      )
    case 'user':
      return <UserRow row={row} message={row.message} />
    case 'report':
      return <ReportRow row={row} sentence={row.sentence} json={row.json} />
    case 'call':
      return <CallRow row={row} call={row.call} chosen={selected === row.call.key} onSelect={onSelect} />
    case 'calls':
      return <FoldedRow row={row} selected={selected} onSelect={onSelect} />
    case 'mark':
      return <MarkRow row={row} mark={row.mark} />
    case 'iteration':
      return (
        <div className="flex items-baseline gap-2 border-b border-line bg-sunken px-3.5 py-2 text-sm font-semibold">
          <span className="whitespace-nowrap">Iteration {row.event.iteration}</span>
          <span className="font-normal text-dim">{row.event.mode}</span>
          {row.event.stepPrompt !== undefined && (
            <span className="truncate font-normal text-dim">{row.event.stepPrompt}</span>
          )}
        </div>
      )
  }
})

const RowTime = ({ row }: { row: TranscriptRowData }) => (
  <time
    dateTime={new Date(row.at).toISOString()}
    title={formatFullTime(row.at)}
    className={row.kind === 'mark' && row.mark.loud === true ? 'text-dim' : 'text-faint'}
  >
    {formatStopwatch(row.since)}
  </time>
)

function CallRow({
  row,
  call,
  chosen,
  onSelect,
}: {
  row: TranscriptRowData
  call: ToolCall
  chosen: boolean
  onSelect: (key: string) => void
}) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={() => onSelect(call.key)}
      className={classes(frame, '-outline-offset-2 hover:bg-sunken', chosen && 'bg-accent-bg hover:bg-accent-bg')}
    >
      <RowTime row={row} />
      <span className="flex min-w-0 items-center gap-1.5">
        <Tag>{isShell(call.name) ? '$' : call.name}</Tag>
        {isShell(call.name) ? (
          <span className="truncate font-mono text-sm">{shellCommand(call)}</span>
        ) : (
          <PathText text={call.argument ?? ''} />
        )}
      </span>
      <CallEnd call={call} />
    </button>
  )
}

function CallEnd({ call }: { call: ToolCall }) {
  if (call.ok === undefined)
    return (
      <span className="flex items-center gap-1.5 text-sm text-info">
        <Dot tone="info" live /> running
      </span>
    )
  if (call.interrupted === true) return <span className="text-xs leading-5 text-faint">interrupted</span>
  const changes = toolCallDiff(call)
  if (changes && call.ok) return <DiffSize {...countDiffLines(changes)} />
  const ms = (call.endedAt ?? call.startedAt) - call.startedAt
  const took = ms >= 1000 ? ` · ${formatDurationShort(ms)}` : ''
  if (isShell(call.name))
    return (
      <span className={classes('font-mono text-xs leading-5', call.ok ? 'text-ok' : 'text-bad')}>
        {exitText(call)}
        {took}
      </span>
    )
  return call.ok ? (
    <span className="text-xs text-faint">{took.slice(3)}</span>
  ) : (
    <span className="text-xs text-bad">failed</span>
  )
}

function FoldedRow({
  row,
  selected,
  onSelect,
}: {
  row: Extract<TranscriptRowData, { kind: 'calls' }>
  selected: string | undefined
  onSelect: (key: string) => void
}) {
  const { name, calls } = row
  return (
    <details className="group border-b border-line" open={calls.some(({ key }) => key === selected) || undefined}>
      <summary className={classes(frame, 'list-none border-0 -outline-offset-2 hover:bg-sunken')}>
        <RowTime row={row} />
        <span className="flex min-w-0 items-center gap-1.5">
          <Tag>
            {name} ×{calls.length}
          </Tag>
          <span className="truncate font-mono text-sm text-dim">
            {calls.map(({ argument }) => argument).join(', ')}
          </span>
        </span>
        <span aria-hidden className="text-faint transition-transform group-open:rotate-90">
          ›
        </span>
      </summary>
      <div className="border-t border-line">
        {calls.map((call) => (
          <CallRow
            key={call.key}
            row={{ ...row, at: call.startedAt, since: row.since + call.startedAt - row.at }}
            call={call}
            chosen={selected === call.key}
            onSelect={onSelect}
          />
        ))}
      </div>
    </details>
  )
}

/** A bar at the side distinguishes people from the agent, not only colour. */
const UserRow = ({ row, message }: { row: TranscriptRowData; message: UserMessage }) => (
  <div className={classes(frame, 'border-l-2 border-l-accent bg-accent-bg')}>
    <span className="text-dim">
      <RowTime row={row} />
    </span>
    <div className="col-span-2 min-w-0">
      <p className="text-sm text-dim">
        <span className="font-medium text-text">{userTitle(message)}</span> · {formatExactTime(row.at)}
        {message.how === 'message' && ' · for the next iteration'}
      </p>
      <p className={classes('break-words whitespace-pre-wrap', message.how === 'withdraw' && 'line-through')}>
        {message.text}
      </p>
    </div>
  </div>
)

const ReportRow = ({ row, sentence, json }: { row: TranscriptRowData; sentence: string; json: string }) => (
  <details className="group border-b border-line">
    <summary className={classes(frame, 'list-none border-0 -outline-offset-2 hover:bg-sunken')}>
      <RowTime row={row} />
      <span className="min-w-0 font-medium break-words">{sentence}</span>
      <span className="text-sm text-faint">report</span>
    </summary>
    <pre className="overflow-x-auto border-t border-line px-3.5 py-2 font-mono text-sm">{json}</pre>
  </details>
)

const MarkRow = ({ row, mark }: { row: TranscriptRowData; mark: EventSentence }) => (
  <div className={classes(frame, mark.loud === true && groundClasses[mark.tone])}>
    <RowTime row={row} />
    <span className="min-w-0">
      <span className={classes(textClasses[mark.tone], mark.tone === 'quiet' ? 'text-sm' : 'font-medium')}>
        {mark.title}
      </span>
      {mark.detail !== undefined && mark.detail !== '' && (
        <span className="ml-2 text-sm break-words text-dim">{mark.detail.slice(0, 400)}</span>
      )}
    </span>
    {mark.aside !== undefined && (
      <span className={classes('font-mono text-xs leading-5', textClasses[mark.tone])}>{mark.aside}</span>
    )}
  </div>
)
