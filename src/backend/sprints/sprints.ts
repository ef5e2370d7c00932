import { and, desc, eq, inArray, isNotNull } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import type { StartSprint, StopWhen } from '../../contract/fleet/sprint.ts'
import type { Progress, SprintStatus } from '../../contract/progress.ts'
import type { Check } from '../../contract/settings.ts'
import type { Fact } from '../../loop/core/fact.ts'
import { agents, type AgentRow } from '../database/agent.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import type { Tx } from '../database/database.ts'
import { questions } from '../database/question.ts'
import { sprintOrders, sprints, type SprintRow } from '../database/sprint.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { interruptPrompt } from './orders.ts'
import { createPlannedProgress } from './new-progress.ts'
import { requireObserved, forwardRequest } from './observed-sprints.ts'
import type { Requester, Fleet, ObservedRequest } from '../fleet/ports.ts'
import { dispatchNext } from './dispatch.ts'
import {
  type LockedSprint,
  lockAgent,
  lockSprintAgent,
  notFoundError,
  findRunningPrompt,
  readSprintRow,
} from '../database/locked-rows.ts'
import { applyFact } from './facts.ts'

/** Statuses in which work is running or will resume by itself. */
const activeSprintStatuses: readonly SprintStatus[] = ['in-progress', 'parked']

/** Starts a planned sprint. With `startAt`, it is stored now and started then. */
export async function startSprint(
  fleet: Fleet,
  agentId: string,
  options: StartSprint,
  by: Requester,
): Promise<SprintRow> {
  const id = fleet.newId()
  const progress = createPlannedProgress(fleet, id, options)
  const detectedChecks = await detectProjectChecks(fleet, agentId, progress)
  return createFleetSprint(fleet, agentId, { id, progress, detectedChecks, by, ...options })
}

/** Detects the checks of the project if the sprint names none. Returns none if the machine cannot tell. */
export async function detectProjectChecks(
  fleet: Fleet,
  agentId: string,
  { doneWhen }: Progress,
): Promise<readonly Check[] | undefined> {
  if (doneWhen) return undefined
  const [agent] = await fleet.database.db.select().from(agents).where(eq(agents.id, agentId))
  if (!agent) throw notFoundError('agent')
  const found = await fleet.machines.ask(agent.machineId, 'detect-checks', { agentId }).catch((error: unknown) => {
    fleet.logError(error, `checks of agent ${agentId}`)
    return undefined
  })
  return found?.checks
}

export type SprintStart = {
  readonly id: string
  readonly progress: Progress
  readonly detectedChecks?: readonly Check[] | undefined
  readonly by: Requester
  readonly ifBusy?: StartSprint['ifBusy'] | undefined
  readonly startAt?: number | undefined
  /** Fields of the agent to update. */
  readonly fields?: Partial<AgentRow>
}

/** Inserts the sprint and starts it, in one transaction. */
export const createFleetSprint = (fleet: Fleet, agentId: string, sprintStart: SprintStart): Promise<SprintRow> =>
  fleet.database.transaction(async (tx) => {
    const { id, by, startAt, fields = {}, ifBusy = 'interrupt' } = sprintStart
    const free = await preemptOrRefuse(fleet, tx, await lockAgent(tx, agentId), ifBusy)
    const progress = await withLastModel(tx, free, sprintStart.progress)
    const sprint = await insertSprint(fleet, tx, {
      id,
      agentId,
      progress,
      startedBy: by.name,
      startAt: startAt ?? null,
    })
    const chosen = { ...fields, sprintId: id }
    await tx.db.update(agents).set(chosen).where(eq(agents.id, agentId))
    await recordRowChanges(fleet, tx, { kind: 'agent', agentId }, { kind: 'sprint', agentId, sprintId: id })
    const at = fleet.clock.now()
    const { detectedChecks } = sprintStart
    const fact = createStartedFact(at, progress.agent?.[0] ?? free.program, detectedChecks)
    const held: LockedSprint = { agent: { ...free, ...chosen }, sprint }
    if (startAt === undefined || startAt <= at) return (await applyStart(fleet, tx, held, { id: 'start', fact })).sprint
    const input = { sprintId: id, fact }
    await fleet.engine.enqueue(tx, { id: `start:${id}`, kind: 'start-sprint', input, at: startAt })
    return sprint
  })

type NewSprintRow = Pick<SprintRow, 'id' | 'agentId' | 'progress' | 'startedBy' | 'startAt'>

async function insertSprint(fleet: Fleet, tx: Tx, row: NewSprintRow): Promise<SprintRow> {
  const at = fleet.clock.now()
  const { protocol = 'report', rev, status } = row.progress
  const [sprint] = await tx.db
    .insert(sprints)
    .values({ ...row, protocol, rev, status, createdAt: at, updatedAt: at })
    .returning()
  if (!sprint) throw new RalphError('INTERNAL', 'the sprint was not inserted')
  return sprint
}

/** The seed's rule: use the model of the agent's last prompt unless one is given. */
async function withLastModel(tx: Tx, { id, model }: AgentRow, progress: Progress): Promise<Progress> {
  if (progress.model !== undefined) return progress
  const [last] = await tx.db
    .select({ model: agentPrompts.model })
    .from(agentPrompts)
    .where(and(eq(agentPrompts.agentId, id), isNotNull(agentPrompts.model)))
    .orderBy(desc(agentPrompts.createdAt))
    .limit(1)
  const chosen = last?.model ?? model
  return chosen === null ? progress : { ...progress, model: chosen }
}

type StartedFact = Extract<Fact, { type: 'started' }>
const createStartedFact = (at: number, program: string, detectedChecks?: readonly Check[]): StartedFact => ({
  type: 'started',
  at,
  agents: [program],
  ...(detectedChecks && { detectedChecks }),
})

export async function applyStart(
  fleet: Fleet,
  tx: Tx,
  locked: LockedSprint,
  happened: { readonly id: string; readonly fact: StartedFact },
): Promise<LockedSprint> {
  const started = await applyFact(fleet, tx, locked, happened)
  return { ...started, agent: await dispatchNext(fleet, tx, started.agent) }
}

/** Preempts the active sprint or refuses the start; interrupts a running prompt if the caller wants that. */
async function preemptOrRefuse(
  fleet: Fleet,
  tx: Tx,
  agent: AgentRow,
  ifBusy: NonNullable<SprintStart['ifBusy']>,
): Promise<AgentRow> {
  if (agent.state !== 'idle' && agent.state !== 'running') {
    throw new RalphError('AGENT_BUSY', `the agent is ${agent.state}${agent.reason === null ? '' : `: ${agent.reason}`}`)
  }
  const before = agent.sprintId === null ? undefined : await readSprintRow(tx, agent.sprintId)
  const isActive = before !== undefined && activeSprintStatuses.includes(before.status)
  if (isActive && before.observed) {
    throw new RalphError('AGENT_BUSY', 'a sprint of this folder runs in a terminal', {
      hint: 'stop it, or wait until it ends',
    })
  }
  const running = await findRunningPrompt(tx, agent.id)
  if (ifBusy === 'refuse' && (isActive || running)) throw new RalphError('AGENT_BUSY', 'the agent is busy')
  if (isActive && ifBusy === 'queue') {
    throw new RalphError('ALREADY_RUNNING', 'a sprint is in progress', {
      hint: 'stop it, or start with ifBusy: interrupt',
    })
  }
  if (isActive) {
    const fact = createStopFact(fleet, 'interrupted', 'now')
    return (await applyFact(fleet, tx, { agent, sprint: before }, { id: fleet.newId(), fact })).agent
  }
  if (running && ifBusy === 'interrupt') await interruptPrompt(fleet, tx, agent, running.id)
  return agent
}

const createStopFact = (fleet: Fleet, as: 'paused' | 'interrupted', when: StopWhen): Fact => ({
  type: 'stop-requested',
  at: fleet.clock.now(),
  as,
  when,
})

export const pauseSprint = (fleet: Fleet, sprintId: string, when: StopWhen): Promise<SprintRow> =>
  changeSprint(fleet, sprintId, { asked: { type: 'stop', as: 'paused', when } }, (tx, held) =>
    applyStop(fleet, tx, held, { as: 'paused', when }),
  )

export const stopSprint = (fleet: Fleet, sprintId: string, when: StopWhen): Promise<SprintRow> =>
  changeSprint(fleet, sprintId, { asked: { type: 'stop', as: 'interrupted', when } }, (tx, held) =>
    applyStop(fleet, tx, held, { as: 'interrupted', when }),
  )

type StopRequest = { readonly as: 'paused' | 'interrupted'; readonly when: StopWhen }

/** Does not wait for work that has not started. */
export async function applyStop(
  fleet: Fleet,
  tx: Tx,
  locked: LockedSprint,
  { as, when }: StopRequest,
): Promise<LockedSprint> {
  const isOpen = and(eq(sprintOrders.sprintId, locked.sprint.id), eq(sprintOrders.status, 'open'))
  const begun = await tx.db.select({ type: sprintOrders.type }).from(sprintOrders).where(isOpen)
  const isAtWork = begun.some(({ type }) => type !== 'wait')
  const fact = createStopFact(fleet, as, isAtWork ? when : 'now')
  return applyFact(fleet, tx, await setResumeRequest(fleet, tx, locked, null), { id: fleet.newId(), fact })
}

/** Resumes with the next iteration; if the machine has not yet confirmed the stop, as soon as it does. */
export const resumeSprint = (fleet: Fleet, sprintId: string): Promise<SprintRow> =>
  changeSprint(fleet, sprintId, { asked: { type: 'resume' } }, (tx, held) => applyResume(fleet, tx, held))

async function applyResume(fleet: Fleet, tx: Tx, locked: LockedSprint): Promise<LockedSprint> {
  const { agent, sprint } = locked
  if (activeSprintStatuses.includes(sprint.status)) return locked
  if (sprint.status === 'completed') throw new RalphError('NOT_RUNNING', 'the sprint is completed')
  if (sprint.status === 'needs-human') throw new RalphError('NOT_RUNNING', 'the sprint is waiting for an answer')
  const running = await findRunningPrompt(tx, agent.id)
  if (running?.sprintId === sprint.id)
    return setResumeRequest(fleet, tx, await reattachSprint(fleet, tx, locked), fleet.clock.now())
  const taken = await reattachSprint(fleet, tx, locked)
  const fact = createStartedFact(fleet.clock.now(), sprint.progress.agent?.[0] ?? agent.program)
  return applyFact(fleet, tx, taken, { id: fleet.newId(), fact })
}

async function setResumeRequest(
  fleet: Fleet,
  tx: Tx,
  { agent, sprint }: LockedSprint,
  resumeAskedAt: number | null,
): Promise<LockedSprint> {
  if (sprint.resumeAskedAt === resumeAskedAt) return { agent, sprint }
  await tx.db.update(sprints).set({ resumeAskedAt }).where(eq(sprints.id, sprint.id))
  await recordRowChanges(fleet, tx, { kind: 'sprint', agentId: agent.id, sprintId: sprint.id })
  return { agent, sprint: { ...sprint, resumeAskedAt } }
}

/** The machine has confirmed the stop: resume if a user asked for it in between. */
export async function resumeIfRequested(fleet: Fleet, tx: Tx, locked: LockedSprint): Promise<LockedSprint> {
  const { resumeAskedAt, status, id } = locked.sprint
  if (resumeAskedAt === null) return locked
  const quiet = await setResumeRequest(fleet, tx, locked, null)
  const isStopped = status === 'interrupted' || status === 'paused'
  return isStopped && locked.agent.sprintId === id ? applyResume(fleet, tx, quiet) : quiet
}

/** Makes it the agent's sprint again. Refuses while another one is in progress. */
async function reattachSprint(fleet: Fleet, tx: Tx, { agent, sprint }: LockedSprint): Promise<LockedSprint> {
  if (agent.sprintId === sprint.id) return { agent, sprint }
  const other = agent.sprintId === null ? undefined : await readSprintRow(tx, agent.sprintId)
  if (other && activeSprintStatuses.includes(other.status))
    throw new RalphError('AGENT_BUSY', 'another sprint is in progress')
  await tx.db.update(agents).set({ sprintId: sprint.id }).where(eq(agents.id, agent.id))
  await recordRowChanges(fleet, tx, { kind: 'agent', agentId: agent.id })
  return { agent: { ...agent, sprintId: sprint.id }, sprint }
}

/** Applies the answer and its consequences in one transaction, so restarts in between do not matter. */
export const answerSprint = (fleet: Fleet, sprintId: string, answer: string, by: Requester): Promise<SprintRow> =>
  changeSprint(fleet, sprintId, { asked: { type: 'answer', answer }, by }, async (tx, held) => {
    if (held.sprint.status !== 'needs-human') throw new RalphError('NOT_RUNNING', 'there is no open question')
    const at = fleet.clock.now()
    const isOpen = and(eq(questions.sprintId, sprintId), eq(questions.status, 'open'))
    const answered = { status: 'answered' as const, answer, answeredBy: by.name, answeredAt: at }
    const [question] = await tx.db.update(questions).set(answered).where(isOpen).returning({ id: questions.id })
    if (question)
      await recordRowChanges(fleet, tx, { kind: 'question', agentId: held.agent.id, questionId: question.id })
    const id = `answer:${question?.id ?? fleet.newId()}`
    const known = await applyFact(fleet, tx, held, { id, fact: { type: 'answered', at, answer } })
    return applyResume(fleet, tx, known)
  })

/** Delivers a message with the next prompt, or by interrupting the agent now. */
export const messageSprint = (
  fleet: Fleet,
  sprintId: string,
  { text, now }: { readonly text: string; readonly now: boolean },
): Promise<SprintRow> =>
  changeSprint(fleet, sprintId, { asked: { type: 'tell', text, now } }, (tx, held) =>
    applyFact(fleet, tx, held, { id: fleet.newId(), fact: { type: 'told', at: fleet.clock.now(), text, now } }),
  )

/** Dismisses a question without an answer; the sprint keeps its state. */
export const dismissQuestion = (fleet: Fleet, questionId: string): Promise<typeof questions.$inferSelect> =>
  fleet.database.transaction(async (tx) => {
    const isOpen = and(eq(questions.id, questionId), inArray(questions.status, ['open', 'dismissed']))
    const [question] = await tx.db.update(questions).set({ status: 'dismissed' }).where(isOpen).returning()
    if (!question) throw notFoundError('question')
    await recordRowChanges(fleet, tx, { kind: 'question', agentId: question.agentId, questionId })
    return question
  })

/** Restores the files as they were after an iteration. The machine saves the current ones. */
export async function restoreSprint(fleet: Fleet, sprintId: string, iteration: number): Promise<{ saved: string }> {
  const agent = await fleet.database.transaction(async (tx) => {
    const held = await lockSprintAgent(tx, sprintId)
    if (held.sprint.observed) return undefined
    if (await findRunningPrompt(tx, held.agent.id)) throw new RalphError('AGENT_BUSY', 'the agent is busy')
    return held.agent
  })
  if (!agent) return { saved: await requireObserved(fleet).restore(sprintId, iteration) }
  const { saved } = await fleet.machines.ask(agent.machineId, 'restore', { agentId: agent.id, sprintId, iteration })
  return { saved }
}

type SprintChangeRequest = { readonly asked: ObservedRequest; readonly by?: Requester }

/**
 * Runs one transaction on a sprint, then dispatches what the agent can start. A sprint that `ralph run` controls is
 * only sent the request.
 */
async function changeSprint(
  fleet: Fleet,
  sprintId: string,
  { asked, by }: SprintChangeRequest,
  run: (tx: Tx, held: LockedSprint) => Promise<LockedSprint>,
): Promise<SprintRow> {
  const changed = await fleet.database.transaction(async (tx) => {
    const held = await lockSprintAgent(tx, sprintId)
    if (held.sprint.observed) return undefined
    const after = await run(tx, held)
    await dispatchNext(fleet, tx, after.agent)
    return after.sprint
  })
  return changed ?? forwardRequest(fleet, sprintId, asked, by)
}
