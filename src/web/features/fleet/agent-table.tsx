import { Link, useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import type { FleetItem } from '../../words/fleet-groups.ts'
import { classes } from '../../ui/classes.ts'
import { Card } from '../../ui/card.tsx'
import { AgentRowCells, columns } from './agent-row.tsx'

type AgentTableProps = {
  readonly items: readonly FleetItem[]
  readonly now: number
  readonly stale: boolean
  readonly selected: ReadonlySet<string>
  readonly onSelect: (agentId: string) => void
}

/** A table, not cards: columns make a hundred agents comparable. Renders only the visible rows. */
export function AgentTable({ items, now, stale, selected, onSelect }: AgentTableProps) {
  const list = useRef<HTMLDivElement>(null)
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: (index) => (items[index]?.kind === 'group' ? 33 : 61),
    overscan: 12,
    getItemKey: (index) => itemKey(items[index]) ?? index,
    scrollMargin: list.current?.offsetTop ?? 0,
  })
  return (
    <Card className={classes(stale && 'opacity-60')}>
      <div role="table" aria-label="Agents" aria-rowcount={items.length + 1}>
        <TableHead />
        {/* Without the line below the last row: the card has one. */}
        <div
          ref={list}
          role="rowgroup"
          className="relative"
          style={{ height: Math.max(0, virtual.getTotalSize() - 1) }}
        >
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const item = items[index]
            return (
              item && (
                <div
                  key={key}
                  role="row"
                  aria-rowindex={index + 2}
                  data-index={index}
                  ref={virtual.measureElement}
                  className="absolute inset-x-0 top-0"
                  style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
                >
                  {item.kind === 'group' ? (
                    <GroupRow {...item} />
                  ) : (
                    <AgentTableRow
                      row={item.row}
                      now={now}
                      selected={selected.has(item.row.agent.id)}
                      onSelect={onSelect}
                    />
                  )}
                </div>
              )
            )
          })}
        </div>
      </div>
    </Card>
  )
}

const TableHead = () => (
  <div role="rowgroup" className="max-sm:hidden">
    <div role="row" className={classes(columns, 'h-9 border-b border-line text-[11.5px] font-medium text-dim')}>
      {['Agent', 'State', 'Iterations', 'Done when', 'Spend', 'Branch'].map((name) => (
        <span key={name} role="columnheader" className={hidden[name]}>
          {name}
        </span>
      ))}
      <span role="columnheader">
        <span className="sr-only">Actions</span>
      </span>
    </div>
  </div>
)

const itemKey = (item: FleetItem | undefined): string | undefined =>
  item?.kind === 'group' ? `group ${item.title}` : item?.row.agent.id

const GroupRow = ({ title, count }: { title: string; count: number }) => (
  <div role="cell" className="flex h-8 items-center gap-2 border-b border-line bg-sunken px-3.5 text-sm font-semibold">
    <span className="truncate">{title}</span> <span className="font-normal text-faint">{count}</span>
  </div>
)

const hidden: Readonly<Record<string, string>> = {
  'Done when': 'max-lg:hidden',
  Branch: 'max-xl:hidden',
  Spend: 'max-md:hidden',
}

/** The whole row links to the sprint; the name in it is the link for the keyboard. */
function AgentTableRow({
  row,
  now,
  selected,
  onSelect,
}: {
  readonly row: FleetRow
  readonly now: number
  readonly selected: boolean
  readonly onSelect: (agentId: string) => void
}) {
  const navigate = useNavigate()
  const { agent, sprint } = row
  const open = (event: React.MouseEvent): void => {
    if (event.target instanceof Element && event.target.closest('a,button,input,label,[role=menu]')) return
    if (sprint) void navigate({ to: '/sprints/$sprintId', params: { sprintId: sprint.id } })
    else void navigate({ to: '/agents/$agentId', params: { agentId: agent.id } })
  }
  return (
    <div
      onClick={open}
      role="presentation"
      className={classes(
        columns,
        'group min-h-[60px] border-b border-line hover:bg-sunken',
        selected && 'bg-accent-bg',
      )}
    >
      <AgentRowCells
        row={row}
        now={now}
        name={
          <>
            <NameLink row={row} />
            <input
              type="checkbox"
              aria-label={`Select ${agent.name}`}
              checked={selected}
              onChange={() => onSelect(agent.id)}
              className={classes(
                'ms-auto size-3.5 shrink-0 accent-accent opacity-0 group-hover:opacity-100 checked:opacity-100 focus-visible:opacity-100 pointer-coarse:size-5 pointer-coarse:opacity-100',
              )}
            />
          </>
        }
      />
    </div>
  )
}

const NameLink = ({ row: { agent, sprint } }: { row: FleetRow }) =>
  sprint ? (
    <Link to="/sprints/$sprintId" params={{ sprintId: sprint.id }} className="truncate font-semibold hover:underline">
      {agent.name}
    </Link>
  ) : (
    <Link to="/agents/$agentId" params={{ agentId: agent.id }} className="truncate font-semibold hover:underline">
      {agent.name}
    </Link>
  )
