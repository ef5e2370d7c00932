import { z } from 'zod'
import { StoredEvent } from './event.ts'
import { PageQuery, pageSchema, Uuid, emptyBody, requiredText } from './page.ts'
import { SprintQuestion, QuestionStatus } from './question.ts'
import { SprintDiff, SprintIteration, FleetSprint, StartSprint, StopWhen, UsageRow } from './sprint.ts'
import type { Route } from './route.ts'

const stopWhenBody = z.strictObject({ when: StopWhen.default('iteration') })

export const sprintRoutes = {
  listSprints: {
    method: 'GET',
    path: '/api/sprints',
    needs: 'signed-in',
    summary: 'Sprints of the agents you can access, newest first',
    query: PageQuery.extend({ agentId: Uuid.optional() }),
    response: pageSchema(FleetSprint),
  },
  startSprint: {
    method: 'POST',
    path: '/api/agents/{agentId}/sprints',
    needs: 'write',
    summary: 'Starts a planned sprint: a goal, or a SPRINT.yaml',
    body: StartSprint,
    response: FleetSprint,
  },
  getSprint: {
    method: 'GET',
    path: '/api/sprints/{sprintId}',
    needs: 'read',
    summary: 'A sprint with its whole state',
    response: FleetSprint,
    revision: 'given',
  },
  pauseSprint: {
    method: 'POST',
    path: '/api/sprints/{sprintId}/pause',
    needs: 'write',
    summary: 'Pauses after the iteration, after the turn, or now',
    body: stopWhenBody,
    response: FleetSprint,
  },
  resumeSprint: {
    method: 'POST',
    path: '/api/sprints/{sprintId}/resume',
    needs: 'write',
    summary: 'Resumes with the next iteration',
    body: emptyBody,
    response: FleetSprint,
  },
  stopSprint: {
    method: 'POST',
    path: '/api/sprints/{sprintId}/stop',
    needs: 'write',
    summary: 'Stops after the iteration, after the turn, or now; resumable',
    body: stopWhenBody,
    response: FleetSprint,
  },
  answerSprint: {
    method: 'POST',
    path: '/api/sprints/{sprintId}/answer',
    needs: 'write',
    summary: 'Answers the open question and resumes the sprint',
    body: z.strictObject({ answer: requiredText }),
    response: FleetSprint,
  },
  tellSprint: {
    method: 'POST',
    path: '/api/sprints/{sprintId}/tell',
    needs: 'write',
    summary: 'Sends the agent a message: with its next iteration, or by interrupting it now',
    body: z.strictObject({ text: requiredText, now: z.boolean().default(false) }),
    response: FleetSprint,
  },
  restoreSprint: {
    method: 'POST',
    path: '/api/sprints/{sprintId}/restore',
    needs: 'write',
    summary: 'Restores the files as they were after an iteration; the current files are saved as a checkpoint',
    body: z.strictObject({ iteration: z.int().min(0) }),
    response: z.object({ success: z.literal(true), saved: z.string().optional() }),
    revision: 'wanted',
  },
  listIterations: {
    method: 'GET',
    path: '/api/sprints/{sprintId}/iterations',
    needs: 'read',
    summary: 'Receipts of all iterations, newest first',
    query: PageQuery,
    response: pageSchema(SprintIteration),
  },
  listEvents: {
    method: 'GET',
    path: '/api/sprints/{sprintId}/events',
    needs: 'read',
    summary: 'Events, newest first',
    query: PageQuery.extend({
      iteration: z.coerce.number().int().optional(),
      search: z.string().max(200).optional(),
      kind: z.enum(['text', 'tool', 'other']).optional(),
    }),
    response: pageSchema(StoredEvent),
  },
  readOutput: {
    method: 'GET',
    path: '/api/sprints/{sprintId}/events/{eventId}/output',
    needs: 'read',
    summary: 'The whole output of a tool, in chunks',
    query: z.strictObject({ offset: z.coerce.number().int().min(0).default(0) }),
    response: z.object({ text: z.string(), next: z.int().optional(), size: z.int() }),
  },
  diffSprint: {
    method: 'GET',
    path: '/api/sprints/{sprintId}/diff',
    needs: 'read',
    summary: 'Changes between two iterations; by default from the start until now',
    query: z.strictObject({
      from: z.coerce.number().int().min(0).optional(),
      to: z.coerce.number().int().min(0).optional(),
    }),
    response: SprintDiff,
  },
  listQuestions: {
    method: 'GET',
    path: '/api/questions',
    needs: 'signed-in',
    summary: 'Questions to people, open ones first',
    query: PageQuery.extend({ status: QuestionStatus.optional() }),
    response: pageSchema(SprintQuestion),
  },
  dismissQuestion: {
    method: 'POST',
    path: '/api/questions/{questionId}/dismiss',
    needs: 'write',
    summary: 'Dismisses a question without an answer; the sprint keeps its state',
    body: emptyBody,
    response: SprintQuestion,
  },
  usage: {
    method: 'GET',
    path: '/api/usage',
    needs: 'signed-in',
    summary: 'Cost and tokens by day, agent and model',
    query: z.strictObject({ days: z.coerce.number().int().min(1).max(366).default(30) }),
    response: z.object({ items: z.array(UsageRow), todayUsd: z.number() }),
  },
} as const satisfies Record<string, Route>
