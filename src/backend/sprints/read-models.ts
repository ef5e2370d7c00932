import { isNotesProtocol } from '../../contract/way.ts'
import { and, eq } from 'drizzle-orm'
import type { WebhookEvent } from '../../contract/fleet/webhook.ts'
import type { Progress, SprintStatus } from '../../contract/progress.ts'
import { questions } from '../database/question.ts'
import type { SprintRow } from '../database/sprint.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { updateAgent, type AgentTransaction } from '../fleet/transaction.ts'

/** Updates the tables that clients read from the progress, which is authoritative. */
export async function updateReadModels(t: AgentTransaction, sprint: SprintRow, before: Progress): Promise<void> {
  const isAsking = sprint.status === 'needs-human' || before.status === 'needs-human'
  if (isAsking) await updateQuestion(t, sprint)
  await updateRalphMode(t, sprint)
  await notifyRest(t, sprint, before)
  await recordRowChanges(
    t,
    { kind: 'sprint', agentId: t.agent.id, sprintId: sprint.id },
    { kind: 'agent', agentId: t.agent.id },
  )
}

/** A sprint has at most one open question, the one in its progress. */
async function updateQuestion(t: AgentTransaction, sprint: SprintRow): Promise<void> {
  const { humanNeeded, status } = sprint.progress
  const openQuestion = status === 'needs-human' ? humanNeeded : undefined
  const isOpen = and(eq(questions.sprintId, sprint.id), eq(questions.status, 'open'))
  const [open] = await t.tx.db.select().from(questions).where(isOpen)
  if (open && openQuestion && open.askedAt === openQuestion.askedAt) return
  if (open) {
    await t.tx.db.update(questions).set({ status: 'superseded' }).where(eq(questions.id, open.id))
    await recordRowChanges(t, { kind: 'question', agentId: t.agent.id, questionId: open.id })
  }
  if (!openQuestion) return
  const { reason, details, options = null, default: defaultAnswer = null, askedAt } = openQuestion
  const id = t.fleet.newId()
  const iteration = sprint.progress.stats.currentIteration
  const question = { reason, details, options, defaultAnswer, askedAt, iteration }
  await t.tx.db.insert(questions).values({ id, sprintId: sprint.id, agentId: t.agent.id, status: 'open', ...question })
  await recordRowChanges(t, { kind: 'question', agentId: t.agent.id, questionId: id })
}

/** Statuses in which Ralph Mode is on. An agent that is stuck has left it; the answer to its question brings it back. */
const continuingStatuses: readonly SprintStatus[] = ['not-started', 'in-progress', 'parked', 'paused']

/** An existing lock means Ralph Mode, so it is removed at the end, but not while the agent works. */
async function updateRalphMode(t: AgentTransaction, sprint: SprintRow): Promise<void> {
  if (!isNotesProtocol(sprint.protocol) || t.agent.sprintId !== sprint.id) return
  const inRalphMode = continuingStatuses.includes(sprint.status)
  if (inRalphMode === t.agent.inRalphMode) return
  const fields = inRalphMode
    ? { inRalphMode, ralphModeTaskDescription: sprint.progress.goal }
    : { inRalphMode, ralphModeTaskDescription: null, ralphModeLastPromptAt: null }
  await updateAgent(t, fields)
  if (inRalphMode) return
  const id = `ralph-mode-end:${sprint.id}:${sprint.rev}`
  await t.fleet.machines.send(t.tx, t.agent.machineId, { id, type: 'ralph-mode-end', body: { agentId: t.agent.id } })
}

const noticeEvents: Partial<Record<SprintStatus, WebhookEvent>> = {
  'needs-human': 'needs-human',
  completed: 'completed',
  failed: 'failed',
  blocked: 'failed',
  'limit-reached': 'failed',
  parked: 'parked',
  paused: 'stopped',
  interrupted: 'stopped',
}

/** Notifies users whenever a sprint rests, with the reason. */
async function notifyRest(t: AgentTransaction, sprint: SprintRow, before: Progress): Promise<void> {
  const { status, progress } = sprint
  if (status === before.status) return
  const event = before.status === 'parked' && status === 'in-progress' ? 'resumed' : noticeEvents[status]
  if (!event) return
  const why = progress.reason ?? progress.parked?.reason ?? progress.ralphExit.finalSummary ?? ''
  const text = `${t.agent.name}: ${status}${why === '' ? '' : `: ${why}`}`
  await t.fleet.notifier.notify(t.tx, { event, text, sprintId: sprint.id, agentId: t.agent.id })
}
