import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { TranscriptWindow } from '../../data/transcript-window.ts'
import { Button } from '../../ui/button.tsx'
import { type FollowLatch, updateOnScroll, updateOnUserScroll } from './follow.ts'
import { type TranscriptRowData, createRows } from './rows.ts'
import { TranscriptRow } from './transcript-row.tsx'

type TranscriptProps = {
  readonly shown: TranscriptWindow
  readonly getIterationStart: (iteration: number) => number | undefined
  readonly selected: string | undefined
  readonly onSelect: (key: string) => void
  readonly onOlder: () => void
  readonly onNewer: () => void
  /** The sequence number to show at the top; absent: the newest end. */
  readonly at?: number | undefined
  readonly onReopen: () => void
  /** The transcript is complete: show it from its beginning, if that is loaded. */
  readonly over: boolean
  /** Increases each time the user asks to follow again. */
  readonly followAsked: number
  readonly onFollowing: (following: boolean) => void
}

/** Renders only the visible rows. Stays at the newest end until the user scrolls away. */
export function Transcript(props: TranscriptProps) {
  const { shown, getIterationStart, onOlder, onNewer, onReopen, over, onFollowing, at } = props
  const rows = useMemo(() => createRows(shown.events, getIterationStart), [shown.events, getIterationStart])
  const scroller = useRef<HTMLDivElement>(null)
  const fromStart = over && shown.older === undefined
  const { latch, hold, handlers } = useLatch(scroller, !fromStart && at === undefined, onFollowing)
  const [anchor, setAnchor] = useState<'start' | 'end'>(at === undefined ? 'end' : 'start')
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimateRowHeight(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
    // What the user reads stays in place: rows are added above it, or below it.
    anchorTo: anchor,
  })
  const arrived =
    useOpenAt(virtual, at === undefined ? undefined : findRow(rows, shown, at)) || latch.userScroll !== undefined
  usePinned(scroller, latch.following && !shown.detached, `${virtual.getTotalSize()} ${virtual.scrollRect?.height}`)
  const toEnd = (): void => {
    hold()
    virtual.scrollToEnd()
  }
  useOnRequest(props.followAsked, toEnd)
  const short = virtual.getTotalSize() < (virtual.scrollRect?.height ?? 0)
  const nearTop = rows.length > 0 && (virtual.getVirtualItems()[0]?.index ?? 99) < 12
  const nearEnd = (virtual.getVirtualItems().at(-1)?.index ?? 0) > rows.length - 12
  const wantsOlder = arrived && nearTop && (short || !latch.following)
  const wantsNewer = arrived && shown.detached && nearEnd && at !== undefined && !wantsOlder
  if (wantsOlder && anchor === 'start') setAnchor('end')
  if (wantsNewer && anchor === 'end') setAnchor('start')
  useLoadOlder(wantsNewer, rows.length, onNewer)
  useLoadOlder(wantsOlder, rows.length, onOlder)
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-label="Transcript"
        aria-live="off"
        className="h-full overflow-y-auto -outline-offset-2 [overflow-anchor:none]"
        {...handlers}
      >
        {shown.cut && <ReopenHint onReopen={onReopen} />}
        <VirtualRows rows={rows} virtual={virtual} selected={props.selected} onSelect={props.onSelect} />
      </div>
      {((!latch.following && !over) || shown.detached) && (
        <Button
          className="absolute right-4 bottom-3 shadow-pop"
          onClick={() => {
            if (shown.detached) onReopen()
            toEnd()
          }}
        >
          <ArrowDown aria-hidden className="size-3.5" /> Newest
        </Button>
      )}
    </div>
  )
}

type VirtualRowsProps = Pick<TranscriptProps, 'selected' | 'onSelect'> & {
  readonly rows: readonly TranscriptRowData[]
  readonly virtual: Virtualizer<HTMLDivElement, Element>
}

const VirtualRows = ({ rows, virtual, selected, onSelect }: VirtualRowsProps) => (
  <div className="relative" style={{ height: virtual.getTotalSize() }}>
    {virtual.getVirtualItems().map(({ index, key, start }) => {
      const row = rows[index]
      return (
        row && (
          <div
            key={key}
            data-index={index}
            ref={virtual.measureElement}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start}px)` }}
          >
            <TranscriptRow row={row} selected={selected} onSelect={onSelect} />
          </div>
        )
      )
    })}
  </div>
)

/** The row of an event, or the next one: not every event has a row. */
function findRow(rows: readonly TranscriptRowData[], { events }: TranscriptWindow, seq: number): number {
  const target = events.find((event) => event.seq >= seq)
  if (!target) return -1
  const exact = rows.findIndex((row) => row.key === target.id)
  return exact === -1 ? rows.findIndex((row) => row.at >= target.at) : exact
}

/**
 * Scrolls once: afterwards the user scrolls. Returns whether the row is reached and the list rests: rows that are added above it before
 * that would shift the row that the list still scrolls to.
 */
function useOpenAt(virtual: Virtualizer<HTMLDivElement, Element>, index: number | undefined): boolean {
  const opened = useRef(false)
  const [arrived, setArrived] = useState(index === undefined)
  useLayoutEffect(() => {
    if (index === undefined || index < 0 || opened.current) return
    opened.current = true
    virtual.scrollToIndex(index, { align: 'start' })
  }, [virtual, index])
  const isReached = !virtual.isScrolling && virtual.getVirtualItems().some((item) => item.index === index)
  useEffect(() => {
    if (opened.current && isReached) setArrived(true)
  }, [isReached])
  return arrived
}

function useOnRequest(requestCount: number, act: () => void): void {
  const before = useRef(requestCount)
  useEffect(() => {
    if (before.current === requestCount) return
    before.current = requestCount
    act()
  })
}

function useLoadOlder(isNearTop: boolean, have: number, onOlder: () => void): void {
  useEffect(() => {
    if (isNearTop) onOlder()
  }, [isNearTop, have, onOlder])
}

const ReopenHint = ({ onReopen }: { onReopen: () => void }) => (
  <p className="border-b border-line px-3.5 py-2 text-sm text-faint">
    Older events were dropped to save memory.{' '}
    <button type="button" className="underline" onClick={onReopen}>
      Reload the transcript
    </button>
  </p>
)

/** Estimated height before a row is measured. Wrong estimates show only while scrolling fast. */
function estimateRowHeight(row: TranscriptRowData | undefined): number {
  if (row?.kind === 'text') return 34 + Math.min(20, Math.ceil(row.text.length / 80)) * 21
  return row?.kind === 'iteration' ? 44 : 33
}

function isSelecting(scroller: HTMLElement | null): boolean {
  const selection = document.getSelection()
  return selection !== null && !selection.isCollapsed && scroller !== null && scroller.contains(selection.anchorNode)
}

/** Keeps the end in view when rows are added, measured or resized; not while the user selects text. */
function usePinned(scroller: React.RefObject<HTMLDivElement | null>, pinned: boolean, size: string): void {
  useLayoutEffect(() => {
    const list = scroller.current
    if (pinned && list && !isSelecting(list)) list.scrollTo({ top: list.scrollHeight })
  }, [scroller, pinned, size])
}

function useLatch(
  scroller: React.RefObject<HTMLDivElement | null>,
  following: boolean,
  onFollowing: (following: boolean) => void,
) {
  const [latch, setLatch] = useState<FollowLatch>({ following })
  useEffect(() => onFollowing(latch.following), [latch.following, onFollowing])
  const touch = (pushed: number): void => {
    const top = scroller.current?.scrollTop ?? 0
    setLatch((before) => updateOnUserScroll(before, { now: performance.now(), top, pushed }))
  }
  const onHand = (): void => touch(0)
  const onWheel = (event: React.WheelEvent): void => touch(-event.deltaY)
  const onScroll = (): void => {
    const list = scroller.current
    if (!list) return
    const distanceFromEnd = list.scrollHeight - list.clientHeight - list.scrollTop
    setLatch((before) => updateOnScroll(before, { now: performance.now(), top: list.scrollTop, distanceFromEnd }))
  }
  return {
    latch,
    hold: () => setLatch({ following: true }),
    handlers: { onWheel, onTouchMove: onHand, onKeyDown: onHand, onPointerDown: onHand, onScroll },
  }
}
