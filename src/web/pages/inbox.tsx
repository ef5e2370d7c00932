import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { SprintQuestion } from '../../contract/fleet/question.ts'
import type { FleetRow } from '../../contract/fleet/agent.ts'
import { summarizeSprint } from '../../contract/sprint-summary.ts'
import { api, describeError } from '../data/api.ts'
import { agentsQuery, questionsQuery, sprintQuery } from '../data/queries.ts'
import { useAction } from '../data/use-action.ts'
import { QuestionCard } from '../features/questions/question-card.tsx'
import { PastQuestions } from '../features/questions/past-questions.tsx'
import { NotifyMe } from '../features/questions/notify-me.tsx'
import { useTitle } from '../shell/title.ts'
import { Card, CardHead } from '../ui/card.tsx'
import { EmptyState, ProblemNotice, Skeleton } from '../ui/states.tsx'
import { WithAside } from '../ui/with-aside.tsx'
import { describeQuestionContext } from '../words/question-context.ts'

const route = getRouteApi('/needs-you')

/** Only decisions for the user, answerable from here. */
export function InboxPage() {
  useTitle('Needs you')
  const questions = useQuery(questionsQuery)
  const { question: focused } = route.useSearch()
  if (questions.isPending) return <Skeleton className="h-40 rounded-[10px]" />
  if (questions.isLoadingError)
    return (
      <Card>
        <ProblemNotice {...describeError(questions.error)} onRetry={() => void questions.refetch()} />
      </Card>
    )
  const open = questions.data.filter(({ status }) => status === 'open').toSorted((a, b) => a.askedAt - b.askedAt)
  const past = questions.data.filter(({ status }) => status !== 'open')
  return (
    <>
      <div className="mb-3.5 flex items-center gap-4">
        <h1 className="flex-1 text-xl font-semibold tracking-tight">Needs you</h1>
        <NotifyMe />
      </div>
      <WithAside
        aside={
          <Card>
            <CardHead>Settled</CardHead>
            {past.length > 0 ? (
              <PastQuestions questions={past} />
            ) : (
              <p className="px-3.5 py-3 text-dim">No answers yet.</p>
            )}
          </Card>
        }
      >
        {open.length === 0 && (
          <Card className="mb-3.5">
            <EmptyState title="You're all caught up">
              Questions from agents appear here as soon as they are asked.
            </EmptyState>
          </Card>
        )}
        {open.map((question) => (
          <OpenQuestion key={question.id} question={question} focused={question.id === focused} />
        ))}
      </WithAside>
    </>
  )
}

function OpenQuestion({ question, focused }: { question: SprintQuestion; focused: boolean }) {
  const { data: rows = [] } = useQuery(agentsQuery)
  const row = rows.find(({ agent }) => agent.id === question.agentId)
  const dismiss = useAction(api.dismissQuestion, { successToast: 'Dismissed; the sprint does not change' })
  const mayAnswer = row === undefined || row.access !== 'read'
  return (
    <QuestionCard
      question={question}
      mayAnswer={mayAnswer}
      focused={focused}
      onDismiss={() => dismiss.run({ questionId: question.id })}
    >
      <p className="mb-1 flex flex-wrap items-center gap-x-2 text-sm text-dim">
        <Link to="/agents/$agentId" params={{ agentId: question.agentId }} className="font-medium hover:underline">
          {question.agentName}
        </Link>
        <Link
          to="/sprints/$sprintId"
          params={{ sprintId: question.sprintId }}
          className="min-w-0 truncate hover:underline"
        >
          {question.goal}
        </Link>
        <QuestionContext question={question} row={row} />
      </p>
    </QuestionCard>
  )
}

/** The state of the sprint that asks. The row of its agent shows another sprint if a newer one runs. */
function QuestionContext({ question, row }: { question: SprintQuestion; row: FleetRow | undefined }) {
  const isShown = row?.sprint?.id === question.sprintId
  const { data } = useQuery({ ...sprintQuery(question.sprintId), enabled: row !== undefined && !isShown })
  const sprint = isShown ? row?.sprint : data && summarizeSprint(data.progress)
  return sprint ? <span>{describeQuestionContext(sprint)}</span> : null
}
