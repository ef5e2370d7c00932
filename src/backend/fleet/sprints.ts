import { and, desc, eq, inArray, isNotNull } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import type { StartSprint, StopWhen } from '../../contract/fleet/sprint.ts'
import type { Progress, SprintStatus } from '../../contract/progress.ts'
import type { Check } from '../../contract/settings.ts'
import type { Fact } from '../../loop/fact.ts'
import { agents, type AgentRow } from '../database/agent.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import type { Tx } from '../database/database.ts'
import { questions } from '../database/question.ts'
import { sprintOrders, sprints, type SprintRow } from '../database/sprint.ts'
import { announce } from './announce.ts'
import { interrupt } from './give-orders.ts'
import { plannedProgress } from './new-progress.ts'
import { observedHere, passOn } from './observed.ts'
import type { Asker, Fleet, ObservedRequest } from './ports.ts'
import { pump } from './pump.ts'
import { type Held, lockAgent, lockSprint, notFound, runningPrompt, sprintIn } from './rows.ts'
import { takeFact } from './take-fact.ts'

/** Statuses in which work is running or will resume by itself. */
const active: readonly SprintStatus[] = ['in-progress', 'parked']

/** Starts a planned sprint. With `startAt`, it is stored now and started then. */
export async function startSprint(fleet: Fleet, agentId: string, wanted: StartSprint, by: Asker): Promise<SprintRow> {
  const id = fleet.newId()
  const progress = plannedProgress(fleet, id, wanted)
  const detectedChecks = await detectChecks(fleet, agentId, progress)
  return beginSprint(fleet, agentId, { id, progress, detectedChecks, by, ...wanted })
}

/** Detects the checks of the project if the sprint names none. Returns none if the machine cannot tell. */
export async function detectChecks(
  fleet: Fleet,
  agentId: string,
  { doneWhen }: Progress,
): Promise<readonly Check[] | undefined> {
  if (doneWhen) return undefined
  const [agent] = await fleet.database.db.select().from(agents).where(eq(agents.id, agentId))
  if (!agent) throw notFound('agent')
  const found = await fleet.machines.ask(agent.machineId, 'detect-checks', { agentId }).catch((error: unknown) => {
    fleet.trouble(error, `checks of agent ${agentId}`)
    return undefined
  })
  return found?.checks
}

export type Beginning = {
  readonly id: string
  readonly progress: Progress
  readonly detectedChecks?: readonly Check[] | undefined
  readonly by: Asker
  readonly ifBusy?: StartSprint['ifBusy'] | undefined
  readonly startAt?: number | undefined
  /** Fields of the agent to update. */
  readonly fields?: Partial<AgentRow>
}

/** Inserts the sprint and starts it, in one transaction. */
export const beginSprint = (fleet: Fleet, agentId: string, beginning: Beginning): Promise<SprintRow> =>
  fleet.database.transaction(async (tx) => {
    const { id, by, startAt, fields = {}, ifBusy = 'interrupt' } = beginning
    const free = await makeFree(fleet, tx, await lockAgent(tx, agentId), ifBusy)
    const progress = await withModel(tx, free, beginning.progress)
    const sprint = await writeSprint(fleet, tx, { id, agentId, progress, startedBy: by.name, startAt: startAt ?? null })
    const chosen = { ...fields, sprintId: id }
    await tx.db.update(agents).set(chosen).where(eq(agents.id, agentId))
    await announce(fleet, tx, { kind: 'agent', agentId }, { kind: 'sprint', agentId, sprintId: id })
    const at = fleet.clock.now()
    const { detectedChecks } = beginning
    const fact = startedFact(at, progress.agent?.[0] ?? free.program, detectedChecks)
    const held: Held = { agent: { ...free, ...chosen }, sprint }
    if (startAt === undefined || startAt <= at) return (await start(fleet, tx, held, { id: 'start', fact })).sprint
    const input = { sprintId: id, fact }
    await fleet.engine.enqueue(tx, { id: `start:${id}`, kind: 'start-sprint', input, at: startAt })
    return sprint
  })

type NewSprint = Pick<SprintRow, 'id' | 'agentId' | 'progress' | 'startedBy' | 'startAt'>

async function writeSprint(fleet: Fleet, tx: Tx, row: NewSprint): Promise<SprintRow> {
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
async function withModel(tx: Tx, { id, model }: AgentRow, progress: Progress): Promise<Progress> {
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
const startedFact = (at: number, program: string, detectedChecks?: readonly Check[]): StartedFact => ({
  type: 'started',
  at,
  agents: [program],
  ...(detectedChecks && { detectedChecks }),
})

export async function start(
  fleet: Fleet,
  tx: Tx,
  held: Held,
  happened: { readonly id: string; readonly fact: StartedFact },
): Promise<Held> {
  const started = await takeFact(fleet, tx, held, happened)
  return { ...started, agent: await pump(fleet, tx, started.agent) }
}

/** Preempts the active sprint or refuses the start; interrupts a running prompt if the caller wants that. */
async function makeFree(
  fleet: Fleet,
  tx: Tx,
  agent: AgentRow,
  ifBusy: NonNullable<Beginning['ifBusy']>,
): Promise<AgentRow> {
  if (agent.state !== 'idle' && agent.state !== 'running') {
    throw new RalphError('AGENT_BUSY', `the agent is ${agent.state}${agent.reason === null ? '' : `: ${agent.reason}`}`)
  }
  const before = agent.sprintId === null ? undefined : await sprintIn(tx, agent.sprintId)
  const isActive = before !== undefined && active.includes(before.status)
  if (isActive && before.observed) {
    throw new RalphError('AGENT_BUSY', 'a sprint of this folder runs in a terminal', {
      hint: 'stop it, or wait until it ends',
    })
  }
  const running = await runningPrompt(tx, agent.id)
  if (ifBusy === 'refuse' && (isActive || running)) throw new RalphError('AGENT_BUSY', 'the agent is busy')
  if (isActive && ifBusy === 'queue') {
    throw new RalphError('ALREADY_RUNNING', 'a sprint is in progress', {
      hint: 'stop it, or start with ifBusy: interrupt',
    })
  }
  if (isActive) {
    const fact = stopFact(fleet, 'interrupted', 'now')
    return (await takeFact(fleet, tx, { agent, sprint: before }, { id: fleet.newId(), fact })).agent
  }
  if (running && ifBusy === 'interrupt') await interrupt(fleet, tx, agent, running.id)
  return agent
}

const stopFact = (fleet: Fleet, as: 'paused' | 'interrupted', when: StopWhen): Fact => ({
  type: 'stop-requested',
  at: fleet.clock.now(),
  as,
  when,
})

export const pauseSprint = (fleet: Fleet, sprintId: string, when: StopWhen): Promise<SprintRow> =>
  change(fleet, sprintId, { asked: { type: 'stop', as: 'paused', when } }, (tx, held) =>
    stop(fleet, tx, held, { as: 'paused', when }),
  )

export const stopSprint = (fleet: Fleet, sprintId: string, when: StopWhen): Promise<SprintRow> =>
  change(fleet, sprintId, { asked: { type: 'stop', as: 'interrupted', when } }, (tx, held) =>
    stop(fleet, tx, held, { as: 'interrupted', when }),
  )

type Stop = { readonly as: 'paused' | 'interrupted'; readonly when: StopWhen }

/** Does not wait for work that has not started. */
export async function stop(fleet: Fleet, tx: Tx, held: Held, { as, when }: Stop): Promise<Held> {
  const isOpen = and(eq(sprintOrders.sprintId, held.sprint.id), eq(sprintOrders.status, 'open'))
  const begun = await tx.db.select({ type: sprintOrders.type }).from(sprintOrders).where(isOpen)
  const isAtWork = begun.some(({ type }) => type !== 'wait')
  const fact = stopFact(fleet, as, isAtWork ? when : 'now')
  return takeFact(fleet, tx, await askResume(fleet, tx, held, null), { id: fleet.newId(), fact })
}

/** Resumes with the next iteration; if the machine has not yet confirmed the stop, as soon as it does. */
export const resumeSprint = (fleet: Fleet, sprintId: string): Promise<SprintRow> =>
  change(fleet, sprintId, { asked: { type: 'resume' } }, (tx, held) => resume(fleet, tx, held))

async function resume(fleet: Fleet, tx: Tx, held: Held): Promise<Held> {
  const { agent, sprint } = held
  if (active.includes(sprint.status)) return held
  if (sprint.status === 'completed') throw new RalphError('NOT_RUNNING', 'the sprint is completed')
  if (sprint.status === 'needs-human') throw new RalphError('NOT_RUNNING', 'the sprint is waiting for an answer')
  const running = await runningPrompt(tx, agent.id)
  if (running?.sprintId === sprint.id) return askResume(fleet, tx, await takeOver(fleet, tx, held), fleet.clock.now())
  const taken = await takeOver(fleet, tx, held)
  const fact = startedFact(fleet.clock.now(), sprint.progress.agent?.[0] ?? agent.program)
  return takeFact(fleet, tx, taken, { id: fleet.newId(), fact })
}

async function askResume(fleet: Fleet, tx: Tx, { agent, sprint }: Held, resumeAskedAt: number | null): Promise<Held> {
  if (sprint.resumeAskedAt === resumeAskedAt) return { agent, sprint }
  await tx.db.update(sprints).set({ resumeAskedAt }).where(eq(sprints.id, sprint.id))
  await announce(fleet, tx, { kind: 'sprint', agentId: agent.id, sprintId: sprint.id })
  return { agent, sprint: { ...sprint, resumeAskedAt } }
}

/** The machine has confirmed the stop: resume if a user asked for it in between. */
export async function resumeIfAsked(fleet: Fleet, tx: Tx, held: Held): Promise<Held> {
  const { resumeAskedAt, status, id } = held.sprint
  if (resumeAskedAt === null) return held
  const quiet = await askResume(fleet, tx, held, null)
  const isStopped = status === 'interrupted' || status === 'paused'
  return isStopped && held.agent.sprintId === id ? resume(fleet, tx, quiet) : quiet
}

/** Makes it the agent's sprint again. Refuses while another one is in progress. */
async function takeOver(fleet: Fleet, tx: Tx, { agent, sprint }: Held): Promise<Held> {
  if (agent.sprintId === sprint.id) return { agent, sprint }
  const other = agent.sprintId === null ? undefined : await sprintIn(tx, agent.sprintId)
  if (other && active.includes(other.status)) throw new RalphError('AGENT_BUSY', 'another sprint is in progress')
  await tx.db.update(agents).set({ sprintId: sprint.id }).where(eq(agents.id, agent.id))
  await announce(fleet, tx, { kind: 'agent', agentId: agent.id })
  return { agent: { ...agent, sprintId: sprint.id }, sprint }
}

/** Applies the answer and its consequences in one transaction, so restarts in between do not matter. */
export const answerSprint = (fleet: Fleet, sprintId: string, answer: string, by: Asker): Promise<SprintRow> =>
  change(fleet, sprintId, { asked: { type: 'answer', answer }, by }, async (tx, held) => {
    if (held.sprint.status !== 'needs-human') throw new RalphError('NOT_RUNNING', 'there is no open question')
    const at = fleet.clock.now()
    const isOpen = and(eq(questions.sprintId, sprintId), eq(questions.status, 'open'))
    const answered = { status: 'answered' as const, answer, answeredBy: by.name, answeredAt: at }
    const [question] = await tx.db.update(questions).set(answered).where(isOpen).returning({ id: questions.id })
    if (question) await announce(fleet, tx, { kind: 'question', agentId: held.agent.id, questionId: question.id })
    const id = `answer:${question?.id ?? fleet.newId()}`
    const known = await takeFact(fleet, tx, held, { id, fact: { type: 'answered', at, answer } })
    return resume(fleet, tx, known)
  })

/** Delivers a message with the next prompt, or by interrupting the agent now. */
export const tellSprint = (
  fleet: Fleet,
  sprintId: string,
  { text, now }: { readonly text: string; readonly now: boolean },
): Promise<SprintRow> =>
  change(fleet, sprintId, { asked: { type: 'tell', text, now } }, (tx, held) =>
    takeFact(fleet, tx, held, { id: fleet.newId(), fact: { type: 'told', at: fleet.clock.now(), text, now } }),
  )

/** Dismisses a question without an answer; the sprint keeps its state. */
export const dismissQuestion = (fleet: Fleet, questionId: string): Promise<typeof questions.$inferSelect> =>
  fleet.database.transaction(async (tx) => {
    const isOpen = and(eq(questions.id, questionId), inArray(questions.status, ['open', 'dismissed']))
    const [question] = await tx.db.update(questions).set({ status: 'dismissed' }).where(isOpen).returning()
    if (!question) throw notFound('question')
    await announce(fleet, tx, { kind: 'question', agentId: question.agentId, questionId })
    return question
  })

/** Restores the files as they were after an iteration. The machine saves the current ones. */
export async function restoreSprint(fleet: Fleet, sprintId: string, iteration: number): Promise<{ saved: string }> {
  const agent = await fleet.database.transaction(async (tx) => {
    const held = await lockSprint(tx, sprintId)
    if (held.sprint.observed) return undefined
    if (await runningPrompt(tx, held.agent.id)) throw new RalphError('AGENT_BUSY', 'the agent is busy')
    return held.agent
  })
  if (!agent) return { saved: await observedHere(fleet).restore(sprintId, iteration) }
  const { saved } = await fleet.machines.ask(agent.machineId, 'restore', { agentId: agent.id, sprintId, iteration })
  return { saved }
}

type Wish = { readonly asked: ObservedRequest; readonly by?: Asker }

/**
 * Runs one transaction on a sprint, then dispatches what the agent can start. A sprint that `ralph run` controls is
 * only sent the request.
 */
async function change(
  fleet: Fleet,
  sprintId: string,
  { asked, by }: Wish,
  run: (tx: Tx, held: Held) => Promise<Held>,
): Promise<SprintRow> {
  const changed = await fleet.database.transaction(async (tx) => {
    const held = await lockSprint(tx, sprintId)
    if (held.sprint.observed) return undefined
    const after = await run(tx, held)
    await pump(fleet, tx, after.agent)
    return after.sprint
  })
  return changed ?? passOn(fleet, sprintId, asked, by)
}
