import { useQuery } from '@tanstack/react-query'
import type { AgentNote } from '../../contract/fleet/agent.ts'
import type { FleetSprint } from '../../contract/fleet/sprint.ts'
import { notesQuery } from '../data/queries.ts'
import { Card, CardHead } from '../ui/card.tsx'
import { MarkdownText } from '../ui/markdown.tsx'
import { Ago } from '../ui/moment.tsx'
import { Skeleton } from '../ui/states.tsx'
import { findSection, type NotesSection, splitNotes } from '../words/notes-sections.ts'

type NotesCardProps = { readonly agentId: string; readonly sprint?: FleetSprint }

/** The notes that the agent keeps between iterations: those of the sprint on screen, then all others, newest first. */
export function NotesCard({ agentId, sprint }: NotesCardProps) {
  const { data, isPending, isLoadingError } = useQuery({ ...notesQuery(agentId), staleTime: 15_000 })
  const working = sprint?.progress.status === 'in-progress' && data?.lock === true
  return (
    <Card label="Notes">
      <CardHead aside={working && <span className="text-sm text-faint">The agent has not finished</span>}>
        Notes
      </CardHead>
      {isPending && <Skeleton className="m-3.5 h-16" />}
      {isLoadingError && <p className="px-3.5 py-3 text-dim">Cannot read the notes right now.</p>}
      {data?.notes.length === 0 && <p className="px-3.5 py-3 text-dim">No notes yet.</p>}
      {data?.notes.map((note) =>
        note.name === 'README.md' ? (
          <TaskNotes key={note.name} note={note} sprint={sprint} />
        ) : (
          <FoldedNote key={note.name} name={note.name} at={note.updatedAt} text={note.text} />
        ),
      )}
    </Card>
  )
}

function TaskNotes({ note, sprint }: { note: AgentNote; sprint: FleetSprint | undefined }) {
  const sections = splitNotes(note.text, sprint?.progress.goal)
  const mine = sprint
    ? findSection(sections, { goal: sprint.progress.goal, createdAt: sprint.createdAt })
    : sections.find(({ task }) => task === '')
  const others = sections.filter((section) => section !== mine)
  return (
    <>
      {mine && <SectionText section={mine} />}
      {sprint && !mine && <p className="px-3.5 py-3 text-dim">No notes about this task.</p>}
      {others.length > 0 && (
        <details open={!sprint} className="border-t border-line">
          <summary className="px-3.5 py-1.5 text-sm text-dim -outline-offset-2 hover:bg-sunken">
            {sprint ? `Other tasks (${others.length})` : `Tasks (${others.length})`}
          </summary>
          {others.map((section) => (
            <FoldedNote key={`${section.at} ${section.task}`} name={section.task} at={section.at} text={section.text} />
          ))}
        </details>
      )}
    </>
  )
}

const SectionText = ({ section }: { section: NotesSection }) => (
  <div
    tabIndex={0}
    role="region"
    aria-label="Notes about this sprint"
    className="max-h-80 overflow-y-auto px-3.5 py-2 -outline-offset-2"
  >
    {section.text === '' ? (
      <p className="text-dim">The agent has written nothing about this task yet.</p>
    ) : (
      <MarkdownText text={section.text} />
    )}
  </div>
)

const FoldedNote = ({ name, at, text }: { name: string; at: number | undefined; text: string }) => (
  <details className="border-t border-line">
    <summary className="flex items-center gap-2 px-3.5 py-1.5 text-sm -outline-offset-2 hover:bg-sunken">
      <span className="flex-1 truncate" title={name}>
        {name}
      </span>
      {at !== undefined && (
        <span className="text-faint">
          <Ago at={at} />
        </span>
      )}
    </summary>
    <div
      tabIndex={0}
      role="region"
      aria-label={name}
      className="max-h-80 overflow-y-auto px-3.5 pb-2.5 -outline-offset-2"
    >
      <MarkdownText text={text === '' ? '(nothing yet)' : text} />
    </div>
  </details>
)
