import { isNotesProtocol } from '../../contract/way.ts'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { FleetRow } from '../../contract/fleet/agent.ts'
import { agentQuery, sprintsQuery, promptsQuery, questionsQuery } from '../data/queries.ts'
import { AccessList } from '../features/agent/access-list.tsx'
import { AgentHeader } from '../features/agent/agent-header.tsx'
import { PromptComposer } from '../features/agent/composer.tsx'
import { ConversationList } from '../features/agent/conversations.tsx'
import { PromptQueue } from '../features/agent/prompt-queue.tsx'
import { QuestionCard } from '../features/questions/question-card.tsx'
import { RalphIndicator } from '../features/agent/ralph-indicator.tsx'
import { SprintList } from '../features/agent/sprint-list.tsx'
import { ErrorPage } from '../shell/error-page.tsx'
import { useTitle } from '../shell/title.ts'
import { Card, CardHead } from '../ui/card.tsx'
import { WithAside } from '../ui/with-aside.tsx'
import { ProblemNotice, Skeleton, SkeletonRows } from '../ui/states.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { PromptTranscript } from './prompt-transcript.tsx'
import { isNotFound, describeError } from '../data/api.ts'
import { NotesCard } from './notes-card.tsx'

const route = getRouteApi('/agents/$agentId')

/** The page of one agent: prompts, past conversations, and Ralph Mode. */
export function AgentPage() {
  const { agentId } = route.useParams()
  const agent = useQuery(agentQuery(agentId))
  useTitle(agent.data?.agent.name ?? 'Agent')
  if (agent.isPending) return <AgentSkeleton />
  if (agent.isLoadingError || isNotFound(agent.error))
    return <ErrorPage error={agent.error} reset={() => void agent.refetch()} />
  return <AgentView key={agentId} row={agent.data} />
}

/** Only Ralph Mode gives an agent notes. */
function AgentNotes({ agentId }: { agentId: string }) {
  const { data = [] } = useQuery(sprintsQuery(agentId))
  return data.some(({ protocol }) => isNotesProtocol(protocol)) ? <NotesCard agentId={agentId} /> : null
}

/** What this agent asks, also about an earlier sprint. */
function AgentQuestions({ agentId, mayWrite }: { agentId: string; mayWrite: boolean }) {
  const { data = [] } = useQuery(questionsQuery)
  return data
    .filter((question) => question.status === 'open' && question.agentId === agentId)
    .map((question) => <QuestionCard key={question.id} question={question} mayAnswer={mayWrite} />)
}

function AgentView({ row }: { row: FleetRow }) {
  const { tab = 'queue' } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = row.access !== 'read' && row.agent.state !== 'archived'
  const openStartDialog = (): void => void navigate({ search: (all) => ({ ...all, start: row.agent.id }) })
  const tabs = [
    { key: 'queue', label: 'Prompts' },
    { key: 'conversations', label: 'Past conversations' },
    ...(row.access === 'owner' ? [{ key: 'access' as const, label: 'Access' }] : []),
  ] as const
  return (
    <>
      <AgentHeader row={row} mayWrite={mayWrite} onRalphMode={openStartDialog} />
      <WithAside
        aside={
          <>
            <Card label="Sprints">
              <CardHead>Sprints</CardHead>
              <SprintList agentId={row.agent.id} />
            </Card>
            <AgentNotes agentId={row.agent.id} />
          </>
        }
      >
        <AgentQuestions agentId={row.agent.id} mayWrite={mayWrite} />
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
            {tab === 'conversations' && <ConversationList agentId={row.agent.id} />}
            {tab === 'access' && <AccessList agentId={row.agent.id} />}
          </Tabs>
        </Card>
      </WithAside>
    </>
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
  <div role="status" aria-label="Loading" className="space-y-3.5">
    <Skeleton className="h-7 w-64" />
    <Skeleton className="h-24 rounded-[10px]" />
    <Skeleton className="h-72 rounded-[10px]" />
  </div>
)
