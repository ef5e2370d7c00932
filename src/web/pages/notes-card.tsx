import { useQuery } from '@tanstack/react-query'
import { notesQuery } from '../data/queries.ts'
import { Card, CardHead } from '../ui/card.tsx'
import { MarkdownText } from '../ui/markdown.tsx'
import { Ago } from '../ui/moment.tsx'
import { Skeleton } from '../ui/states.tsx'

/** The notes that the agent keeps between iterations. The lock shows that it is not done. */
export function NotesCard({ agentId }: { agentId: string }) {
  const { data, isPending, isLoadingError } = useQuery({ ...notesQuery(agentId), staleTime: 15_000 })
  return (
    <Card label="Notes">
      <CardHead
        aside={
          data?.lock !== undefined && (
            <span className="text-sm text-faint">{data.lock ? 'Working' : 'Agent says it is finished'}</span>
          )
        }
      >
        Notes
      </CardHead>
      {isPending && <Skeleton className="m-3.5 h-16" />}
      {isLoadingError && <p className="px-3.5 py-3 text-dim">Cannot read the notes right now.</p>}
      {data?.notes.length === 0 && <p className="px-3.5 py-3 text-dim">No notes yet.</p>}
      {data?.notes.map((note, index) => (
        <details key={note.name} open={index === 0} className="border-b border-line last:border-0">
          <summary className="flex items-center gap-2 px-3.5 py-1.5 font-mono text-sm -outline-offset-2 hover:bg-sunken">
            <span className="flex-1 truncate">{note.name}</span>
            {note.updatedAt !== undefined && (
              <span className="font-sans text-faint">
                <Ago at={note.updatedAt} />
              </span>
            )}
          </summary>
          <div
            tabIndex={0}
            role="region"
            aria-label={note.name}
            className="max-h-80 overflow-y-auto px-3.5 pb-2.5 -outline-offset-2"
          >
            <MarkdownText text={note.text} />
          </div>
        </details>
      ))}
    </Card>
  )
}
