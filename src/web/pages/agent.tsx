import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { FleetRow } from '../../contract/fleet/agent.ts'
import { agentQuery, promptsQuery } from '../data/queries.ts'
import { AccessList } from '../features/agent/access-list.tsx'
import { AgentHeader } from '../features/agent/agent-header.tsx'
import { PromptComposer } from '../features/agent/composer.tsx'
import { ConversationList } from '../features/agent/conversations.tsx'
import { PromptQueue } from '../features/agent/prompt-queue.tsx'
import { RalphIndicator } from '../features/agent/ralph-indicator.tsx'
import { SprintList } from '../features/agent/sprint-list.tsx'
import { ErrorPage } from '../shell/error-page.tsx'
import { useTitle } from '../shell/title.ts'
import { Card } from '../ui/card.tsx'
import { ProblemNotice, Skeleton, SkeletonRows } from '../ui/states.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { PromptTranscript } from './prompt-transcript.tsx'
import { isUnknown, describeError } from '../data/api.ts'
import { NotesCard } from './notes-card.tsx'

const route = getRouteApi('/agents/$agentId')

/** The page of one agent: prompts, past conversations, and Ralph Mode. */
export function AgentPage() {
  const { agentId } = route.useParams()
  const agent = useQuery(agentQuery(agentId))
  useTitle(agent.data?.agent.name ?? 'Agent')
  if (agent.isPending) return <AgentSkeleton />
  if (agent.isLoadingError || isUnknown(agent.error))
    return <ErrorPage error={agent.error} reset={() => void agent.refetch()} />
  return <AgentView key={agentId} row={agent.data} />
}

function AgentView({ row }: { row: FleetRow }) {
  const { tab = 'queue' } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = row.access !== 'read' && row.agent.state !== 'archived'
  const start = (): void => void navigate({ search: (all) => ({ ...all, start: row.agent.id }) })
  const tabs = [
    { key: 'queue', label: 'Prompts' },
    { key: 'sprints', label: 'Sprints' },
    { key: 'conversations', label: 'Past conversations' },
    { key: 'notes', label: 'Notes' },
    ...(row.access === 'owner' ? [{ key: 'access' as const, label: 'Access' }] : []),
  ] as const
  return (
    <div className="mx-auto max-w-4xl">
      <AgentHeader row={row} mayWrite={mayWrite} onRalphMode={start} />
      <RalphIndicator row={row} mayWrite={mayWrite} />
      {mayWrite && <PromptComposer row={row} />}
      <Card>
        <Tabs
          tabs={tabs}
          value={tab}
          onChange={(next) =>
            void navigate({ search: { tab: next === 'queue' ? undefined : next }, replace: true, resetScroll: false })
          }
          label="About this agent"
        >
          {tab === 'queue' && <AgentQueue row={row} mayWrite={mayWrite} />}
          {tab === 'sprints' && <SprintList agentId={row.agent.id} />}
          {tab === 'conversations' && <ConversationList agentId={row.agent.id} />}
          {tab === 'notes' && (
            <div className="p-3.5">
              <NotesCard agentId={row.agent.id} />
            </div>
          )}
          {tab === 'access' && <AccessList agentId={row.agent.id} />}
        </Tabs>
      </Card>
    </div>
  )
}

function AgentQueue({ row, mayWrite }: { row: FleetRow; mayWrite: boolean }) {
  const prompts = useQuery(promptsQuery(row.agent.id))
  if (prompts.isPending) return <SkeletonRows rows={3} height="h-14" />
  if (prompts.isLoadingError)
    return <ProblemNotice {...describeError(prompts.error)} onRetry={() => void prompts.refetch()} />
  return (
    <PromptQueue prompts={prompts.data} mayWrite={mayWrite} why={waitingReason(row)} Transcript={PromptTranscript} />
  )
}

/** What a waiting prompt is waiting for. */
function waitingReason({ agent, machine }: FleetRow): string | undefined {
  if (!machine.reachable) return `${machine.name} is not responding; prompts are kept`
  if (agent.state === 'running') return 'after the running prompt'
  return undefined
}

const AgentSkeleton = () => (
  <div role="status" aria-label="Loading" className="mx-auto max-w-4xl space-y-3.5">
    <Skeleton className="h-7 w-64" />
    <Skeleton className="h-24 rounded-[10px]" />
    <Skeleton className="h-72 rounded-[10px]" />
  </div>
)
