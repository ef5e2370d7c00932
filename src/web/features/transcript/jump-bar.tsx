import { useQuery } from '@tanstack/react-query'
import { ArrowUpToLine, ChevronDown, ChevronUp, ListTree } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { SprintOutline } from '../../../contract/fleet/sprint.ts'
import { formatCount, pluralize } from '../../../words/counts.ts'
import { api, describeError } from '../../data/api.ts'
import { outlineQuery } from '../../data/queries.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { toast } from '../../ui/toast.tsx'

type JumpBarProps = {
  readonly sprintId: string
  readonly iteration: number | undefined
  /** The sequence number at the top of the transcript; absent: it shows the newest end. */
  readonly at: number | undefined
  readonly onJump: (seq: number | undefined) => void
  readonly onIteration: (iteration: number) => void
}

/** Ways to any place of a long transcript: its beginning, an iteration, an error, an edit, or any event. */
export function JumpBar({ sprintId, iteration, at, onJump, onIteration }: JumpBarProps) {
  const { data: outline } = useQuery(outlineQuery(sprintId))
  const [open, setOpen] = useState(false)
  if (!outline || outline.lastSeq === 0) return null
  const scoped = outline.items.filter((item) => iteration === undefined || item.iteration === iteration)
  const place = { sprintId, iteration, at, lastSeq: outline.lastSeq, onJump }
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-1 gap-y-0.5 border-b border-line px-2 py-1 text-sm text-dim">
        <Button
          size="small"
          kind="ghost"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className={classes(open && 'bg-accent-bg')}
        >
          <ListTree aria-hidden className="size-3.5" /> Outline
        </Button>
        <Button size="small" kind="ghost" onClick={() => onJump(scoped[0]?.firstSeq ?? 0)}>
          <ArrowUpToLine aria-hidden className="size-3.5" /> Top
        </Button>
        <Stepper kind="error" count={sum(scoped, 'errors')} {...place} />
        <Stepper kind="edit" count={sum(scoped, 'edits')} {...place} />
        {iteration === undefined && outline.lastSeq > 200 && (
          <Scrubber at={at} last={outline.lastSeq} onJump={onJump} />
        )}
      </div>
      {open && <Outline items={outline.items} chosen={iteration} onChoose={onIteration} />}
    </>
  )
}

const sum = (items: SprintOutline['items'], field: 'errors' | 'edits'): number =>
  items.reduce((all, item) => all + item[field], 0)

type StepperProps = Pick<JumpBarProps, 'sprintId' | 'iteration' | 'at' | 'onJump'> & {
  readonly kind: 'error' | 'edit'
  readonly count: number
  readonly lastSeq: number
}

function Stepper({ kind, count, sprintId, iteration, at, lastSeq, onJump }: StepperProps) {
  const step = async (to: 'previous' | 'next'): Promise<void> => {
    const from = at ?? lastSeq + 1
    try {
      const part = to === 'next' ? { after: from } : { before: from }
      const { items } = await api.listEvents({ sprintId, iteration, kind, ...part, limit: 1 })
      if (items[0]) onJump(items[0].seq)
      else toast({ title: `No ${to} ${kind}` })
    } catch (error) {
      toast({ ...describeError(error), bad: true })
    }
  }
  return (
    <span className="flex items-center">
      <span className={classes('px-1', kind === 'error' && count > 0 && 'text-bad')}>{pluralize(count, kind)}</span>
      <IconButton
        label={`Previous ${kind}`}
        disabled={count === 0}
        className="size-6"
        onClick={() => void step('previous')}
      >
        <ChevronUp aria-hidden className="size-3.5" />
      </IconButton>
      <IconButton label={`Next ${kind}`} disabled={count === 0} className="size-6" onClick={() => void step('next')}>
        <ChevronDown aria-hidden className="size-3.5" />
      </IconButton>
    </span>
  )
}

/** Upper bound of jumps while the user drags the thumb. */
const jumpIntervalMs = 60

/** Any event by its place, like the thumb of a scroll bar over the whole transcript. */
function Scrubber({ at, last, onJump }: { at: number | undefined; last: number; onJump: JumpBarProps['onJump'] }) {
  const [target, setTarget] = useState<number>()
  const jumpedAt = useRef(0)
  useEffect(() => {
    if (target === undefined) return undefined
    const jump = (): void => {
      jumpedAt.current = performance.now()
      onJump(target >= last ? undefined : target)
      setTarget(undefined)
    }
    const wait = window.setTimeout(jump, Math.max(0, jumpedAt.current + jumpIntervalMs - performance.now()))
    return () => window.clearTimeout(wait)
  }, [target, last, onJump])
  const value = target ?? at ?? last
  return (
    <span className="flex min-w-40 flex-1 items-center gap-2">
      <input
        type="range"
        aria-label="Place in the transcript"
        aria-valuetext={`event ${value} of ${last}`}
        min={0}
        max={last}
        value={value}
        onChange={(event) => setTarget(Number(event.target.value))}
        className="h-1 min-w-0 flex-1 accent-accent"
      />
      <span className="whitespace-nowrap text-faint">
        {formatCount(value)} of {formatCount(last)}
      </span>
    </span>
  )
}

type OutlineProps = {
  readonly items: SprintOutline['items']
  readonly chosen: number | undefined
  readonly onChoose: (iteration: number) => void
}

const Outline = ({ items, chosen, onChoose }: OutlineProps) => (
  <ol aria-label="Outline" className="max-h-64 shrink-0 overflow-y-auto border-b border-line bg-sunken py-1">
    {items.map(({ iteration, events, errors, tools }) => (
      <li key={iteration}>
        <button
          type="button"
          aria-current={chosen === iteration ? 'true' : undefined}
          onClick={() => onChoose(iteration)}
          className={classes(
            'flex w-full items-baseline gap-3 px-3.5 py-1 text-start -outline-offset-2 hover:bg-panel',
            chosen === iteration && 'bg-accent-bg',
          )}
        >
          <span className="w-24 shrink-0 font-medium">{iteration === 0 ? 'Start' : `Iteration ${iteration}`}</span>
          <span className="min-w-0 flex-1 truncate text-sm text-dim">
            {tools.map(({ name, calls }) => `${name} ×${calls}`).join('  ') || 'no tools'}
          </span>
          {errors > 0 && <span className="text-sm text-bad">{pluralize(errors, 'error')}</span>}
          <span className="text-sm text-faint">{pluralize(events, 'event')}</span>
        </button>
      </li>
    ))}
  </ol>
)
