import { Link } from '@tanstack/react-router'
import type { SprintQuestion } from '../../../contract/fleet/question.ts'
import { useNow } from '../../ui/now.ts'
import { Badge } from '../../ui/badge.tsx'
import { formatAgo } from '../../../words/durations.ts'

/** Past questions with their answers. */
export function PastQuestions({ questions }: { questions: readonly SprintQuestion[] }) {
  const now = useNow()
  return (
    <ul className="divide-y divide-line">
      {questions.map(({ id, reason, agentName, sprintId, status, answer, answeredBy, answeredAt, askedAt }) => (
        <li key={id} className="flex items-center gap-4 px-3.5 py-2.5">
          <span className="min-w-0 flex-1">
            <Link to="/sprints/$sprintId" params={{ sprintId }} className="block truncate hover:underline">
              {reason}
            </Link>
            <span className="block truncate text-sm text-faint">
              {agentName} · {formatAgo(answeredAt ?? askedAt, now)}
              {answer !== undefined && ` · ${answeredBy ?? 'unknown user'}: ${answer}`}
            </span>
          </span>
          <Badge tone={status === 'answered' ? 'ok' : 'quiet'}>{status}</Badge>
        </li>
      ))}
    </ul>
  )
}
