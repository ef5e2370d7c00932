import { isNotesProtocol } from '../../contract/way.ts'
import { and, eq } from 'drizzle-orm'
import type { WebhookEvent } from '../../contract/fleet/webhook.ts'
import type { Progress, SprintStatus } from '../../contract/progress.ts'
import { agents, type AgentRow } from '../database/agent.ts'
import type { Tx } from '../database/database.ts'
import { questions } from '../database/question.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import type { Fleet } from '../fleet/ports.ts'
import type { LockedSprint } from '../database/locked-rows.ts'

/** Updates the tables that clients read from the progress, which is authoritative. */
export async function updateReadModels(
  fleet: Fleet,
  tx: Tx,
  locked: LockedSprint,
  before: Progress,
): Promise<LockedSprint> {
  const { sprint } = locked
  const isAsking = sprint.status === 'needs-human' || before.status === 'needs-human'
  if (isAsking) await updateQuestion(fleet, tx, locked)
  const agent = await updateRalphMode(fleet, tx, locked)
  await notifyRest(fleet, tx, { agent, sprint }, before)
  await recordRowChanges(
    fleet,
    tx,
    { kind: 'sprint', agentId: agent.id, sprintId: sprint.id },
    { kind: 'agent', agentId: agent.id },
  )
  return { agent, sprint }
}

/** A sprint has at most one open question, the one in its progress. */
async function updateQuestion(fleet: Fleet, tx: Tx, { agent, sprint }: LockedSprint): Promise<void> {
  const { humanNeeded, status } = sprint.progress
  const asked = status === 'needs-human' ? humanNeeded : undefined
  const isOpen = and(eq(questions.sprintId, sprint.id), eq(questions.status, 'open'))
  const [open] = await tx.db.select().from(questions).where(isOpen)
  if (open && asked && open.askedAt === asked.askedAt) return
  if (open) {
    await tx.db.update(questions).set({ status: 'superseded' }).where(eq(questions.id, open.id))
    await recordRowChanges(fleet, tx, { kind: 'question', agentId: agent.id, questionId: open.id })
  }
  if (!asked) return
  const { reason, details, options = null, default: defaultAnswer = null, askedAt } = asked
  const id = fleet.newId()
  const iteration = sprint.progress.stats.currentIteration
  const question = { reason, details, options, defaultAnswer, askedAt, iteration }
  await tx.db.insert(questions).values({ id, sprintId: sprint.id, agentId: agent.id, status: 'open', ...question })
  await recordRowChanges(fleet, tx, { kind: 'question', agentId: agent.id, questionId: id })
}

/** Statuses from which Ralph Mode can continue, on its own or after user input. */
const continuingStatuses: readonly SprintStatus[] = ['not-started', 'in-progress', 'parked', 'paused', 'needs-human']

/** An existing lock means Ralph Mode, so it is removed at the end, but not while the agent works. */
async function updateRalphMode(fleet: Fleet, tx: Tx, { agent, sprint }: LockedSprint): Promise<AgentRow> {
  if (!isNotesProtocol(sprint.protocol) || agent.sprintId !== sprint.id) return agent
  const inRalphMode = continuingStatuses.includes(sprint.status)
  if (inRalphMode === agent.inRalphMode) return agent
  const fields = inRalphMode
    ? { inRalphMode, ralphModeTaskDescription: sprint.progress.goal }
    : { inRalphMode, ralphModeTaskDescription: null, ralphModeLastPromptAt: null }
  await tx.db.update(agents).set(fields).where(eq(agents.id, agent.id))
  if (!inRalphMode) {
    const id = `ralph-mode-end:${sprint.id}:${sprint.rev}`
    await fleet.machines.send(tx, agent.machineId, { id, type: 'ralph-mode-end', body: { agentId: agent.id } })
  }
  return { ...agent, ...fields }
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
async function notifyRest(fleet: Fleet, tx: Tx, { agent, sprint }: LockedSprint, before: Progress): Promise<void> {
  const { status, progress } = sprint
  if (status === before.status) return
  const event = before.status === 'parked' && status === 'in-progress' ? 'resumed' : noticeEvents[status]
  if (!event) return
  const why = progress.reason ?? progress.parked?.reason ?? progress.ralphExit.finalSummary ?? ''
  const text = `${agent.name}: ${status}${why === '' ? '' : `: ${why}`}`
  await fleet.notifications.notify(tx, { event, text, sprintId: sprint.id, agentId: agent.id })
}
