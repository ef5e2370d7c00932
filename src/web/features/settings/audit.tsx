import { useInfiniteQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import type { AuditEntry } from '../../../contract/fleet/user.ts'
import { api, describeError } from '../../data/api.ts'
import { auditQuery } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { EmptyState, ProblemNotice, SkeletonRows } from '../../ui/states.tsx'
import { formatFullTime } from '../../words/time-of-day.ts'
import { saveOrToast } from '../../data/save-file.ts'
import { auditToCsv, describeAuditAction, matchesAudit, nameObject } from './audit-words.ts'

/** The audit log, newest first: who did what to which object, and what it changed. */
export function Audit() {
  const { data, isPending, isLoadingError, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(auditQuery)
  const [search, setSearch] = useState('')
  if (isPending) return <SkeletonRows rows={6} height="h-9" />
  if (isLoadingError) return <ProblemNotice {...describeError(error)} onRetry={() => void refetch()} />
  const all = data.pages.flatMap((page) => page.items)
  const items = all.filter((entry) => matchesAudit(entry, search))
  if (all.length === 0) return <EmptyState title="No entries yet" />
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3.5 py-2">
        <SearchField label="Filter by person, action or object" value={search} onChange={setSearch} className="w-72" />
        <Button className="ms-auto" onClick={() => void downloadCsv(search)}>
          <Download aria-hidden className="size-3.5" /> CSV
        </Button>
      </div>
      {items.length === 0 && <EmptyState title="Nothing matches">Older entries may: show them below.</EmptyState>}
      <ul className="divide-y divide-line" aria-label="Audit log">
        {items.map((entry) => (
          <AuditRow key={entry.id} entry={entry} />
        ))}
      </ul>
      {hasNextPage && (
        <Button kind="ghost" className="m-2" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older
        </Button>
      )}
    </>
  )
}

function AuditRow({ entry }: { entry: AuditEntry }) {
  const { at, who, what, target, details = {} } = entry
  return (
    <li>
      <details>
        <summary className="grid list-none grid-cols-[13rem_minmax(0,10rem)_minmax(0,14rem)_minmax(0,1fr)] items-baseline gap-x-4 px-3.5 py-1.5 -outline-offset-2 hover:bg-sunken max-md:grid-cols-[auto_minmax(0,1fr)]">
          <time dateTime={new Date(at).toISOString()} className="text-sm text-dim max-md:col-span-2">
            {formatFullTime(at)}
          </time>
          <span className="truncate font-medium">{who}</span>
          <span className="truncate">{describeAuditAction(what)}</span>
          <span className="truncate text-dim max-md:col-span-2">{nameObject(entry)}</span>
        </summary>
        <pre className="overflow-x-auto bg-sunken px-3.5 py-2 font-mono text-sm">
          {JSON.stringify({ action: what, id: target, ...details }, undefined, 2)}
        </pre>
      </details>
    </li>
  )
}

const maxEntries = 50_000

const downloadCsv = (search: string): Promise<void> =>
  saveOrToast(async () => {
    const entries: AuditEntry[] = []
    let cursor: string | undefined
    do {
      // oxlint-disable-next-line no-await-in-loop -- each page says where the next one begins
      const page = await api.listAudit({ cursor, limit: 200 })
      entries.push(...page.items)
      cursor = page.next
    } while (cursor !== undefined && entries.length < maxEntries)
    const content = auditToCsv(entries.filter((entry) => matchesAudit(entry, search)))
    return { name: 'ralph-audit.csv', type: 'text/csv', content }
  })
