import { Link, useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { classes } from '../../ui/classes.ts'
import { Card } from '../../ui/card.tsx'
import { AgentRowCells, columns } from './agent-row.tsx'

type AgentTableProps = { readonly rows: readonly FleetRow[]; readonly now: number; readonly stale: boolean }

/** A table, not cards: columns make a hundred agents comparable. Renders only the visible rows. */
export function AgentTable({ rows, now, stale }: AgentTableProps) {
  const list = useRef<HTMLDivElement>(null)
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => 61,
    overscan: 12,
    getItemKey: (index) => rows[index]?.agent.id ?? index,
    scrollMargin: list.current?.offsetTop ?? 0,
  })
  return (
    <Card className={classes(stale && 'opacity-60')}>
      <div role="table" aria-label="Agents" aria-rowcount={rows.length + 1}>
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
        <div ref={list} role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index]
            return (
              row && (
                <div
                  key={key}
                  role="row"
                  aria-rowindex={index + 2}
                  data-index={index}
                  ref={virtual.measureElement}
                  className="absolute inset-x-0 top-0"
                  style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
                >
                  <AgentTableRow row={row} now={now} />
                </div>
              )
            )
          })}
        </div>
      </div>
    </Card>
  )
}

const hidden: Readonly<Record<string, string>> = {
  'Done when': 'max-lg:hidden',
  Branch: 'max-xl:hidden',
  Spend: 'max-md:hidden',
}

/** The whole row links to the sprint; the name in it is the link for the keyboard. */
function AgentTableRow({ row, now }: { row: FleetRow; now: number }) {
  const navigate = useNavigate()
  const { agent, sprint } = row
  const open = (event: React.MouseEvent): void => {
    if (event.target instanceof Element && event.target.closest('a,button,[role=menu]')) return
    if (sprint) void navigate({ to: '/sprints/$sprintId', params: { sprintId: sprint.id } })
    else void navigate({ to: '/agents/$agentId', params: { agentId: agent.id } })
  }
  return (
    <div
      onClick={open}
      role="presentation"
      className={classes(columns, 'min-h-[60px] border-b border-line hover:bg-sunken')}
    >
      <AgentRowCells row={row} now={now} name={<NameLink row={row} />} />
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
