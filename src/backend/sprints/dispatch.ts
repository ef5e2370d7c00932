import { meters } from '../meters/meters.ts'
import { isNotesProtocol } from '../../contract/way.ts'
import { and, asc, eq, inArray, isNull, lte, sql, type SQL } from 'drizzle-orm'
import { MachineOrder } from '../../contract/fleet/machine-work.ts'
import { noUsage } from '../../contract/outcome.ts'
import type { Progress } from '../../contract/progress.ts'
import type { AgentRow } from '../database/agent.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import { timestampMs } from '../database/columns.ts'
import { sprintOrders, type OrderRow, type SprintRow } from '../database/sprint.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { findSpentBudget } from '../budgets/budgets.ts'
import { mayLeaveCell } from '../fleet/sprint-rights.ts'
import { forecastPrompt, scheduleDispatch } from './orders.ts'
import { applyFact } from './facts.ts'
import { notFoundError, readSprintRow, updateAgent, type AgentTransaction } from '../fleet/transaction.ts'

/**
 * Dispatches everything the agent can start now: checks and hooks first, then the next prompt of its queue. Call it at
 * the end of every transaction that may have unblocked the agent, which must be locked. `known`: a sprint that was just
 * read.
 */
export async function dispatchNext(t: AgentTransaction, known?: SprintRow): Promise<void> {
  if (t.agent.state !== 'idle' && t.agent.state !== 'running') return
  const first = await readDispatchState(t)
  const state = first.hasParked && (await unparkDuePrompts(t)) ? await readDispatchState(t) : first
  if (state.isRunning) return updateAgentState(t, 'running')
  const blockingOrders = state.hasOrders ? await dispatchOrders(t) : []
  if (blockingOrders.length > 0) return updateAgentState(t, isBetweenPrompts(t, blockingOrders) ? 'idle' : 'running')
  const prompt = nextPrompt(state)
  if (!prompt || !(await hasFreeSlot(t, prompt, state))) return updateAgentState(t, 'idle')
  const { limitUntil: until, limitReason: reason } = state
  if (until !== null) return parkPrompt(t, { prompt, until, reason: reason ?? '' })
  const spent = state.hasBudgets ? await findSpentBudget(t) : undefined
  if (spent) return parkPrompt(t, { prompt, ...spent })
  const { sprintId } = prompt
  const sprint = known?.id === sprintId || sprintId === null ? known : await readSprintRow(t, sprintId)
  return startPrompt(t, sprint, prompt)
}

type DispatchState = {
  readonly isRunning: boolean
  /** Whether the machine has orders besides prompts. */
  readonly hasOrders: boolean
  /** Whether a user's parked prompt is due. */
  readonly hasParked: boolean
  readonly isOpen: boolean
  readonly slots: number
  /** Whether the machine has more agents than slots: only then do they compete. */
  readonly isCrowded: boolean
  readonly taken: number
  readonly limitUntil: number | null
  readonly limitReason: string | null
  readonly hasBudgets: boolean
} & (NextPrompt | { readonly [K in keyof NextPrompt]: null })

/** The prompt at the head of the queue. */
type NextPrompt = Pick<
  PromptRow,
  'id' | 'sprintId' | 'iteration' | 'orderId' | 'attempt' | 'prompt' | 'model' | 'createdAt'
>

const nextPrompt = (state: DispatchState): NextPrompt | undefined => (state.id === null ? undefined : state)

/** Reads everything that decides what can start, in one round trip. */
async function readDispatchState(t: AgentTransaction): Promise<DispatchState> {
  const { id, machineId, account } = t.agent
  const now = timestampMs.literal(t.fleet.clock.now())
  const { rows } = await t.tx.db.execute<DispatchState>(sql`
    select
      exists (select 1 from agent_prompt where agent_id = ${id} and status = 'running') as "isRunning",
      exists (select 1 from sprint_order where agent_id = ${id} and status in ('queued', 'open')
        and type not in ('wait', 'run-attempt')) as "hasOrders",
      exists (select 1 from agent_prompt where agent_id = ${id} and status = 'parked' and sprint_id is null
        and not_before <= ${now}) as "hasParked",
      next.*,
      machine.connected_to is not null and machine.status in ('active', 'cordoned') as "isOpen",
      machine.slots,
      room.*,
      case when room."isCrowded" then (${countRunningPrompts(machineId)}) else 0 end as taken,
      (extract(epoch from account_limit.until) * 1000)::float8 as "limitUntil",
      account_limit.reason as "limitReason",
      exists (select 1 from budget) as "hasBudgets"
    from machine
    cross join lateral (
      select exists (select 1 from agent where machine_id = machine.id and archived_at is null offset machine.slots) as "isCrowded"
    ) as room
    left join account_limit on account_limit.account = ${account} and account_limit.until > ${now}
    left join (
      select id, sprint_id as "sprintId", iteration, order_id as "orderId", attempt, prompt, model,
        (extract(epoch from created_at) * 1000)::float8 as "createdAt"
      from agent_prompt where agent_id = ${id} and status = 'queued' and (not_before is null or not_before <= ${now})
      order by position limit 1
    ) as next on true
    where machine.id = ${machineId}`)
  const [seen] = rows
  if (!seen) throw notFoundError('machine')
  return seen
}

const countRunningPrompts = (machineId: string): SQL => sql`
  select count(*)::int from agent join agent_prompt on agent_prompt.agent_id = agent.id
  where agent.machine_id = ${machineId} and agent_prompt.status = 'running'`

/** As in the seed's diagram, an agent in Ralph Mode is idle between two prompts: only the checkpoint of the last one remains. */
const isBetweenPrompts = ({ agent }: AgentTransaction, orders: readonly OrderRow[]): boolean =>
  agent.inRalphMode && orders.every(({ type }) => type === 'make-checkpoint')

/** Dispatches queued orders. Returns those that prompts must wait for. */
async function dispatchOrders(t: AgentTransaction): Promise<OrderRow[]> {
  const isLive = and(eq(sprintOrders.agentId, t.agent.id), inArray(sprintOrders.status, ['queued', 'open']))
  const live = await t.tx.db.select().from(sprintOrders).where(isLive).orderBy(asc(sprintOrders.createdAt))
  const { leaseMs } = t.fleet.settings
  const { id: agentId, program, machineId } = t.agent
  for (const { id, sprintId, ...row } of live) {
    if (row.status !== 'queued' || row.type === 'run-attempt') continue
    const progress = withoutHistory((await readSprintRow(t, sprintId)).progress)
    const order = MachineOrder.parse(row.order)
    const body = { orderId: id, agentId, program, sprintId, order, progress, leaseMs }
    await t.fleet.machines.send(t.tx, machineId, { id: `order:${id}`, type: 'carry-out', body })
    await t.tx.db.update(sprintOrders).set({ status: 'open' }).where(eq(sprintOrders.id, id))
  }
  return live.filter(({ blocking }) => blocking)
}

/** Machines do not need the finished iterations. */
const withoutHistory = (progress: Progress): Progress => ({
  ...progress,
  iterations: progress.iterations.slice(-1),
  hookTasks: progress.hookTasks.filter(({ status }) => status === 'running'),
})

/** Returns true if prompts were queued again. */
async function unparkDuePrompts(t: AgentTransaction): Promise<boolean> {
  const now = t.fleet.clock.now()
  const isDue = and(isNull(agentPrompts.sprintId), eq(agentPrompts.status, 'parked'), lte(agentPrompts.notBefore, now))
  const again = { status: 'queued' as const, notBefore: null, error: null }
  const { rowCount } = await t.tx.db
    .update(agentPrompts)
    .set(again)
    .where(and(eq(agentPrompts.agentId, t.agent.id), isDue))
  return rowCount !== 0
}

/** Upper bound on transactions that may race for the same slot. */
const maxRacingTransactions = 32

/**
 * Whether the machine is reachable, accepts work and has a free slot. The last slots are granted one at a time, to the
 * agents that have waited longest; otherwise an agent in a loop would keep its slot forever.
 */
async function hasFreeSlot(t: AgentTransaction, prompt: NextPrompt, state: DispatchState): Promise<boolean> {
  const { isOpen, isCrowded, slots, taken } = state
  if (!isOpen || taken >= slots) return false
  if (!isCrowded || slots - taken > maxRacingTransactions) return true
  const { id, machineId } = t.agent
  // The embedded database has one connection, so no other transaction is open.
  const isAlone = t.fleet.database.kind === 'embedded'
  if (!isAlone) await t.tx.db.execute(sql`select 1 from machine where id = ${machineId} for no key update`)
  const { rows } = await t.tx.db.execute<{ taken: number; waiting: number }>(sql`
    select ${isAlone ? sql`${taken}::int` : sql`(${countRunningPrompts(machineId)})`} as taken, (
      select count(distinct agent.id)::int from agent join agent_prompt on agent_prompt.agent_id = agent.id
      where agent.machine_id = ${machineId} and agent.id <> ${id} and agent.state = 'idle'
        and agent_prompt.status = 'queued' and agent_prompt.created_at < ${timestampMs.literal(prompt.createdAt)}
        and (not_before is null or not_before <= ${timestampMs.literal(t.fleet.clock.now())})) as waiting`)
  const [now] = rows
  return now !== undefined && now.taken + now.waiting < slots
}

/** The usage limit of an account, or a spent budget. */
type LimitHit = { readonly until: number; readonly reason: string }

/**
 * Another agent of the account has hit the usage limit, or a budget is spent, so this agent does not try. A sprint
 * receives the limit as a fact and waits by its own rules.
 */
async function parkPrompt(
  t: AgentTransaction,
  { prompt, until, reason }: LimitHit & { readonly prompt: NextPrompt },
): Promise<void> {
  const parked = { status: 'parked' as const, notBefore: until, error: reason }
  await t.tx.db.update(agentPrompts).set(parked).where(eq(agentPrompts.id, prompt.id))
  await recordRowChanges(t, { kind: 'prompt', agentId: t.agent.id, promptId: prompt.id })
  await scheduleDispatch(t, until)
  const { sprintId, iteration, orderId, attempt } = prompt
  if (sprintId === null || iteration === null || orderId === null) return dispatchNext(t)
  const at = t.fleet.clock.now()
  await t.tx.db.update(sprintOrders).set({ status: 'done', endedAt: at }).where(eq(sprintOrders.id, orderId))
  const why = { class: 'usage_limit', reason, retryable: true, resetsAt: until, notStarted: true } as const
  const ended = { iteration, attempt, end: { kind: 'failed' as const, ...why }, usage: noUsage, costUsd: 0, random: 0 }
  const sprint = await readSprintRow(t, sprintId)
  const fact = { type: 'attempt-ended' as const, at, ...ended }
  return dispatchNext(t, await applyFact(t, sprint, { id: `limit:${orderId}`, fact }))
}

/** Hands the prompt to the machine: it waits in the outbox and starts once, even if this process crashes. */
async function startPrompt(t: AgentTransaction, sprint: SprintRow | undefined, prompt: NextPrompt): Promise<void> {
  const now = t.fleet.clock.now()
  const { leaseMs } = t.fleet.settings
  t.tx.afterCommit(() => meters.promptWaitSeconds.observe({}, Math.max(0, now - prompt.createdAt) / 1000))
  const { asked, text } = await buildPromptSource(t, sprint, prompt)
  const attempt = prompt.sprintId === null ? prompt.attempt + 1 : prompt.attempt
  const isRalph = asked.kind === 'order' && isNotesProtocol(asked.protocol)
  const ralphModeLastPromptAt = isRalph ? now : t.agent.ralphModeLastPromptAt
  await t.tx.db.execute(sql`
    with begun as (
      update agent_prompt set status = 'running', prompt = ${text}, attempt = ${attempt}, started_at = ${timestampMs.literal(now)},
        lease_until = ${timestampMs.literal(now + leaseMs)}, not_before = null, error = null
      where id = ${prompt.id}
    ), opened as (update sprint_order set status = 'open' where id = ${prompt.orderId})
    update agent set state = 'running', ralph_mode_last_prompt_at = ${isRalph ? timestampMs.literal(now) : sql`ralph_mode_last_prompt_at`}
    where id = ${t.agent.id}`)
  const { id: agentId, program } = t.agent
  const body = { promptId: prompt.id, agentId, program, asked, leaseMs }
  await t.fleet.machines.send(t.tx, t.agent.machineId, { id: `prompt:${prompt.id}`, type: 'prompt', body })
  await recordRowChanges(t, { kind: 'prompt', agentId, promptId: prompt.id }, { kind: 'agent', agentId })
  t.agent = { ...t.agent, state: 'running', ralphModeLastPromptAt }
}

async function buildPromptSource({ agent, tx }: AgentTransaction, sprint: SprintRow | undefined, next: NextPrompt) {
  const { id, sprintId, iteration, attempt, prompt, model } = next
  if (sprintId === null || iteration === null || !sprint) {
    const resume = agent.inConversation
    const [row] = await tx.db.select({ by: agentPrompts.userId }).from(agentPrompts).where(eq(agentPrompts.id, id))
    const cell = (await mayLeaveCell(tx.db, row?.by, agent.machineId)) ? ('auto' as const) : ('required' as const)
    const source = { kind: 'text' as const, text: prompt, resume, cell, ...(model !== null && { model }) }
    return { text: prompt, asked: source }
  }
  const { progress, protocol } = sprint
  const live = progress.live.find(({ number }) => number === iteration)
  const order = { type: 'run-attempt' as const, iteration, attempt }
  return {
    text: live ? forecastPrompt(agent, progress, live) : prompt,
    asked: { kind: 'order' as const, sprintId, protocol, order, progress: withoutHistory(progress) },
  }
}

async function updateAgentState(t: AgentTransaction, state: AgentRow['state']): Promise<void> {
  if (state === t.agent.state) return
  await updateAgent(t, { state })
  await recordRowChanges(t, { kind: 'agent', agentId: t.agent.id })
}
