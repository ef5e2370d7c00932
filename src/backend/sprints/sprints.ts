import { isNotesProtocol } from '../../contract/way.ts'
import { and, desc, eq, inArray, isNotNull } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import type { StartSprint, StopWhen } from '../../contract/fleet/sprint.ts'
import type { Progress, SprintStatus } from '../../contract/progress.ts'
import type { Check } from '../../contract/check.ts'
import type { Fact } from '../../loop/core/fact.ts'
import { agents, type AgentRow } from '../database/agent.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { questions } from '../database/question.ts'
import { sprintOrders, sprints, type SprintRow } from '../database/sprint.ts'
import { accountLimits } from '../database/usage.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { interruptPrompt } from './orders.ts'
import { createPlannedProgress } from './new-progress.ts'
import { forwardRequest } from './observed-sprints.ts'
import type { Requester, Fleet } from '../fleet/fleet.ts'
import type { ObservedRequest } from '../fleet/observed.ts'
import { confinePlan, mayLeaveCell } from '../fleet/sprint-rights.ts'
import { dispatchNext } from './dispatch.ts'
import { assertAnswerable, type QuestionAnswer } from './questions.ts'
import { endOpenWaits } from './waits.ts'
import { applyFact } from './facts.ts'
import {
  agentTransaction,
  findRunningPrompt,
  notFoundError,
  readAgentRow,
  readSprintRow,
  sprintTransaction,
  transaction,
  updateAgent,
  type AgentTransaction,
  type Transaction,
} from '../fleet/transaction.ts'

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
  const detectedChecks = await detectProjectChecks(fleet, await readAgentRow(fleet, agentId), progress)
  return createFleetSprint(fleet, agentId, { id, progress, detectedChecks, by, ...options })
}

/** Detects the checks of the project if the sprint names none. Returns none if the machine cannot tell. */
export async function detectProjectChecks(
  fleet: Fleet,
  { id: agentId, machineId }: AgentRow,
  { doneWhen }: Progress,
): Promise<readonly Check[] | undefined> {
  if (doneWhen) return undefined
  const found = await fleet.machines.ask(machineId, 'detect-checks', { agentId }).catch((error: unknown) => {
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
  agentTransaction(fleet, agentId, async (t) => {
    const { id, by, startAt, fields = {}, ifBusy = 'interrupt' } = sprintStart
    await preemptOrRefuse(t, ifBusy)
    const isFree = await mayLeaveCell(t.tx.db, by.userId, t.agent.machineId)
    const allowed = isFree ? sprintStart.progress : confinePlan(sprintStart.progress)
    const progress = await withLastModel(t, allowed)
    const sprint = await insertSprint(t, {
      id,
      agentId,
      progress,
      startedBy: by.name,
      startAt: startAt ?? null,
    })
    await updateAgent(t, { ...fields, sprintId: id })
    await recordRowChanges(t, { kind: 'agent', agentId }, { kind: 'sprint', agentId, sprintId: id })
    const at = fleet.clock.now()
    const { detectedChecks } = sprintStart
    const fact = createStartedFact(at, progress.agent?.[0] ?? t.agent.program, detectedChecks)
    if (startAt !== undefined && startAt > at) {
      const input = { sprintId: id, fact }
      await fleet.engine.enqueue(t.tx, { id: `start:${id}`, kind: 'start-sprint', input, at: startAt })
      return sprint
    }
    const started = await applyFact(t, sprint, { id: 'start', fact })
    await dispatchNext(t)
    return started
  })

type NewSprintRow = Pick<SprintRow, 'id' | 'agentId' | 'progress' | 'startedBy' | 'startAt'>

async function insertSprint(t: Transaction, row: NewSprintRow): Promise<SprintRow> {
  const at = t.fleet.clock.now()
  const { rev, status } = row.progress
  const protocol = isNotesProtocol(row.progress.protocol) ? 'notes' : 'report'
  const [sprint] = await t.tx.db
    .insert(sprints)
    .values({ ...row, protocol, rev, status, createdAt: at, updatedAt: at })
    .returning()
  if (!sprint) throw new RalphError('INTERNAL', 'the sprint was not inserted')
  return sprint
}

/** The seed's rule: use the model of the agent's last prompt unless one is given. */
async function withLastModel(t: AgentTransaction, progress: Progress): Promise<Progress> {
  if (progress.model !== undefined) return progress
  const [last] = await t.tx.db
    .select({ model: agentPrompts.model })
    .from(agentPrompts)
    .where(and(eq(agentPrompts.agentId, t.agent.id), isNotNull(agentPrompts.model)))
    .orderBy(desc(agentPrompts.createdAt))
    .limit(1)
  const chosen = last?.model ?? t.agent.model
  return chosen === null ? progress : { ...progress, model: chosen }
}

type StartedFact = Extract<Fact, { type: 'started' }>
const createStartedFact = (at: number, program: string, detectedChecks?: readonly Check[]): StartedFact => ({
  type: 'started',
  at,
  agents: [program],
  ...(detectedChecks && { detectedChecks }),
})

/** Preempts the active sprint or refuses the start; interrupts a running prompt if the caller wants that. */
async function preemptOrRefuse(t: AgentTransaction, ifBusy: NonNullable<SprintStart['ifBusy']>): Promise<void> {
  if (t.agent.state !== 'idle' && t.agent.state !== 'running') {
    throw new RalphError(
      'AGENT_BUSY',
      `the agent is ${t.agent.state}${t.agent.reason === null ? '' : `: ${t.agent.reason}`}`,
    )
  }
  const before = t.agent.sprintId === null ? undefined : await readSprintRow(t, t.agent.sprintId)
  const isActive = before !== undefined && activeSprintStatuses.includes(before.status)
  if (isActive && before.observed) {
    throw new RalphError('AGENT_BUSY', 'a sprint of this folder runs in a terminal', {
      hint: 'stop it, or wait until it ends',
    })
  }
  const running = await findRunningPrompt(t)
  if (ifBusy === 'refuse' && (isActive || running)) throw new RalphError('AGENT_BUSY', 'the agent is busy')
  if (isActive && ifBusy === 'queue') {
    throw new RalphError('ALREADY_RUNNING', 'a sprint is in progress', {
      hint: 'stop it, or start with ifBusy: interrupt',
    })
  }
  if (isActive) {
    const fact = createStopFact(t.fleet, { as: 'interrupted', when: 'now' })
    await applyFact(t, before, { id: t.fleet.newId(), fact })
  } else if (running && ifBusy === 'interrupt') await interruptPrompt(t, running.id)
}

const createStopFact = (fleet: Fleet, { as, when, by }: StopRequest): Fact => ({
  type: 'stop-requested',
  at: fleet.clock.now(),
  as,
  when,
  ...(by && { by: by.name }),
})

export const pauseSprint = (fleet: Fleet, sprintId: string, when: StopWhen, by: Requester): Promise<SprintRow> =>
  changeSprint(fleet, sprintId, { request: { type: 'stop', as: 'paused', when } }, (t, sprint) =>
    applyStop(t, sprint, { as: 'paused', when, by }),
  )

export const stopSprint = (fleet: Fleet, sprintId: string, when: StopWhen, by: Requester): Promise<SprintRow> =>
  changeSprint(fleet, sprintId, { request: { type: 'stop', as: 'interrupted', when } }, (t, sprint) =>
    applyStop(t, sprint, { as: 'interrupted', when, by }),
  )

type StopRequest = { readonly as: 'paused' | 'interrupted'; readonly when: StopWhen; readonly by?: Requester }

/** Does not wait for work that has not started. */
export async function applyStop(
  t: AgentTransaction,
  sprint: SprintRow,
  { when, ...request }: StopRequest,
): Promise<SprintRow> {
  const isOpen = and(eq(sprintOrders.sprintId, sprint.id), eq(sprintOrders.status, 'open'))
  const openOrders = await t.tx.db.select({ type: sprintOrders.type }).from(sprintOrders).where(isOpen)
  const isAtWork = openOrders.some(({ type }) => type !== 'wait')
  const fact = createStopFact(t.fleet, { ...request, when: isAtWork ? when : 'now' })
  return applyFact(t, await setResumeRequest(t, sprint, null), { id: t.fleet.newId(), fact })
}

type ResumeChoice = {
  /** Replaces the program that the sprint was started with. */
  readonly useAgentProgram?: boolean
}

/** Resumes with the next iteration; if the machine has not yet confirmed the stop, as soon as it does. */
export async function resumeSprint(fleet: Fleet, sprintId: string, choice: ResumeChoice = {}): Promise<SprintRow> {
  await forgetMachineLimit(fleet, sprintId)
  return changeSprint(fleet, sprintId, { request: { type: 'resume' } }, (t, sprint) => applyResume(t, sprint, choice))
}

/** The machine of a parked sprint remembers the limit too. Without its answer it may wait again, which it then reports. */
async function forgetMachineLimit({ database: { db }, machines }: Fleet, sprintId: string): Promise<void> {
  const isParked = and(eq(sprints.id, sprintId), eq(sprints.status, 'parked'), eq(sprints.observed, false))
  const [parked] = await db
    .select({ machineId: agents.machineId, program: agents.program })
    .from(sprints)
    .innerJoin(agents, eq(agents.id, sprints.agentId))
    .where(isParked)
  if (parked) await machines.ask(parked.machineId, 'forget-limit', { program: parked.program }).catch(() => undefined)
}

async function applyResume(
  t: AgentTransaction,
  sprint: SprintRow,
  { useAgentProgram = false }: ResumeChoice = {},
): Promise<SprintRow> {
  const { agent: chosen, runAgents = chosen } = sprint.progress
  const program = (useAgentProgram || !chosen ? undefined : runAgents?.[0]) ?? t.agent.program
  if (sprint.status === 'parked' && sprint.progress.runAgents?.[0] !== program) return switchParked(t, sprint, program)
  if (sprint.status === 'parked') return tryNow(t, sprint)
  if (activeSprintStatuses.includes(sprint.status)) return sprint
  if (sprint.status === 'completed') throw new RalphError('NOT_RUNNING', 'the sprint is completed')
  if (sprint.status === 'needs-human') throw new RalphError('NOT_RUNNING', 'the sprint is waiting for an answer')
  const running = await findRunningPrompt(t)
  await reattachSprint(t, sprint)
  if (running?.sprintId === sprint.id) return setResumeRequest(t, sprint, t.fleet.clock.now())
  return applyFact(t, sprint, { id: t.fleet.newId(), fact: createStartedFact(t.fleet.clock.now(), program) })
}

/** The wait belongs to the program that has reached its limit: a new run begins with the other one. */
async function switchParked(t: AgentTransaction, sprint: SprintRow, program: string): Promise<SprintRow> {
  const stopped = await applyStop(t, sprint, { as: 'interrupted', when: 'now' })
  return applyFact(t, stopped, { id: t.fleet.newId(), fact: createStartedFact(t.fleet.clock.now(), program) })
}

/** A user does not want to wait for the usage limit: the key, the account or the program may have changed. */
async function tryNow(t: AgentTransaction, sprint: SprintRow): Promise<SprintRow> {
  await t.tx.db.delete(accountLimits).where(eq(accountLimits.account, t.agent.account))
  const tried = await endOpenWaits(t, sprint)
  await dispatchNext(t)
  return tried
}

async function setResumeRequest(
  t: AgentTransaction,
  sprint: SprintRow,
  resumeAskedAt: number | null,
): Promise<SprintRow> {
  if (sprint.resumeAskedAt === resumeAskedAt) return sprint
  await t.tx.db.update(sprints).set({ resumeAskedAt }).where(eq(sprints.id, sprint.id))
  await recordRowChanges(t, { kind: 'sprint', agentId: t.agent.id, sprintId: sprint.id })
  return { ...sprint, resumeAskedAt }
}

/** The machine has confirmed the stop: resume if a user asked for it in between. */
export async function resumeIfRequested(t: AgentTransaction, sprint: SprintRow): Promise<SprintRow> {
  const { resumeAskedAt, status, id } = sprint
  if (resumeAskedAt === null) return sprint
  const quiet = await setResumeRequest(t, sprint, null)
  const isStopped = status === 'interrupted' || status === 'paused'
  return isStopped && t.agent.sprintId === id ? applyResume(t, quiet) : quiet
}

/** Makes it the agent's sprint again. Refuses while another one is in progress. */
async function reattachSprint(t: AgentTransaction, sprint: SprintRow): Promise<void> {
  if (t.agent.sprintId === sprint.id) return
  const other = t.agent.sprintId === null ? undefined : await readSprintRow(t, t.agent.sprintId)
  if (other && activeSprintStatuses.includes(other.status))
    throw new RalphError('AGENT_BUSY', 'another sprint is in progress')
  await updateAgent(t, { sprintId: sprint.id })
  await recordRowChanges(t, { kind: 'agent', agentId: t.agent.id })
}

/** Applies the answer and its consequences in one transaction, so restarts in between do not matter. */
export const answerSprint = (
  fleet: Fleet,
  sprintId: string,
  { answer, questionId }: QuestionAnswer,
  by: Requester,
): Promise<SprintRow> =>
  changeSprint(fleet, sprintId, { request: { type: 'answer', answer, questionId }, by }, async (t, sprint) => {
    await assertAnswerable(t.tx.db, sprintId, questionId)
    if (sprint.status !== 'needs-human') throw new RalphError('NOT_RUNNING', 'there is no open question')
    const at = fleet.clock.now()
    const isOpen = and(eq(questions.sprintId, sprintId), eq(questions.status, 'open'))
    const answered = { status: 'answered' as const, answer, answeredBy: by.name, answeredAt: at }
    const [question] = await t.tx.db.update(questions).set(answered).where(isOpen).returning({ id: questions.id })
    if (question) await recordRowChanges(t, { kind: 'question', agentId: t.agent.id, questionId: question.id })
    const id = `answer:${question?.id ?? fleet.newId()}`
    const known = await applyFact(t, sprint, { id, fact: { type: 'answered', at, answer, by: by.name } })
    // A user may complete the sprint by accepting the claim that the question is about.
    return known.status === 'completed' ? known : applyResume(t, known)
  })

/** Delivers a message with the next prompt, or by interrupting the agent now. */
export const messageSprint = (
  fleet: Fleet,
  sprintId: string,
  { text, now }: { readonly text: string; readonly now: boolean },
  by: Requester,
): Promise<SprintRow> =>
  changeSprint(fleet, sprintId, { request: { type: 'tell', text, now }, by }, (t, sprint) =>
    applyFact(t, sprint, {
      id: fleet.newId(),
      fact: { type: 'told', at: uniqueTime(t, sprint), text, now, by: by.name },
    }),
  )

/** The time identifies a message, so no two of a sprint have the same. */
const uniqueTime = ({ fleet }: AgentTransaction, { progress: { messages = [] } }: SprintRow): number =>
  Math.max(fleet.clock.now(), ...messages.map(({ at }) => at + 1))

/** Takes a message back that no prompt contains yet. */
export const withdrawMessage = (fleet: Fleet, sprintId: string, messageAt: number, by: Requester): Promise<SprintRow> =>
  sprintTransaction(fleet, sprintId, async (t, sprint) => {
    const fact = { type: 'message-withdrawn' as const, at: fleet.clock.now(), messageAt, by: by.name }
    const after = await applyFact(t, sprint, { id: fleet.newId(), fact })
    if (after !== sprint) return after
    throw new RalphError('NOT_RUNNING', 'the agent has that message already', { hint: 'send it another one' })
  })

/** Dismisses a question without an answer; the sprint keeps its state. */
export const dismissQuestion = (fleet: Fleet, questionId: string): Promise<typeof questions.$inferSelect> =>
  transaction(fleet, async (t) => {
    const isOpen = and(eq(questions.id, questionId), inArray(questions.status, ['open', 'dismissed']))
    const [question] = await t.tx.db.update(questions).set({ status: 'dismissed' }).where(isOpen).returning()
    if (!question) throw notFoundError('question')
    await recordRowChanges(t, { kind: 'question', agentId: question.agentId, questionId })
    return question
  })

type SprintChangeRequest = { readonly request: ObservedRequest; readonly by?: Requester }

/**
 * Runs one transaction on a sprint, then dispatches what the agent can start. A sprint that `ralph run` controls is
 * only sent the request.
 */
async function changeSprint(
  fleet: Fleet,
  sprintId: string,
  { request, by }: SprintChangeRequest,
  run: (t: AgentTransaction, sprint: SprintRow) => Promise<SprintRow>,
): Promise<SprintRow> {
  const changed = await sprintTransaction(fleet, sprintId, async (t, sprint) => {
    if (sprint.observed) return undefined
    const after = await run(t, sprint)
    await dispatchNext(t)
    return after
  })
  return changed ?? forwardRequest(fleet, sprintId, request, by)
}
