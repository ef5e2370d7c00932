import { and, desc, eq } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import { clipText } from '../../contract/text.ts'
import type { Queries } from '../database/database.ts'
import { questions } from '../database/question.ts'
import { notFoundError } from '../fleet/transaction.ts'

/** `questionId`: the question that the user has read. Without it the answer is for the one that is open now. */
export type QuestionAnswer = { readonly answer: string; readonly questionId?: string | undefined }

/** Refuses an answer to a question that another user has answered, or that the agent no longer asks. */
export async function assertAnswerable(db: Queries, sprintId: string, questionId: string | undefined): Promise<void> {
  const isMeant = and(
    eq(questions.sprintId, sprintId),
    questionId === undefined ? undefined : eq(questions.id, questionId),
  )
  const openFirst = desc(eq(questions.status, 'open'))
  const [question] = await db
    .select()
    .from(questions)
    .where(isMeant)
    .orderBy(openFirst, desc(questions.askedAt))
    .limit(1)
  if (questionId !== undefined && !question) throw notFoundError('question')
  if (question?.status === 'answered') {
    const { answeredBy, answer } = question
    const words = `${answeredBy ?? 'Another user'} has already answered this question: “${clipText(answer ?? '', 100)}”`
    throw new RalphError('NOT_RUNNING', words, { hint: 'to add something, send the agent a message' })
  }
  if (questionId !== undefined && (question?.status === 'superseded' || question?.status === 'expired'))
    throw new RalphError('NOT_RUNNING', 'the agent no longer asks this question')
}
