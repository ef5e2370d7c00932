import { errorMessage } from '../../contract/errors.ts'
import { isNotesProtocol } from '../../contract/way.ts'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { formatTimestamp } from '../../contract/time.ts'
import { placements, type AgentRow } from '../database/agent.ts'
import { machineOutbox, machines, type MachineRow } from '../database/machine.ts'
import { sprintOrders, type SprintRow } from '../database/sprint.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { appendSprintEvents } from '../feed/sprint-events.ts'
import { defaultAccount, chooseMachine } from './placement.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { dispatchNext } from '../sprints/dispatch.ts'
import { applyFact } from '../sprints/facts.ts'
import {
  endAttempt,
  endOrder,
  endUserPrompt,
  toAttemptFact,
  createFailedFact,
  rescheduleAbortedAttempt,
} from '../prompts/reports.ts'
import {
  agentTransaction,
  findRunningPrompt,
  readSprintRow,
  updateAgent,
  type AgentTransaction,
} from '../fleet/transaction.ts'

/** Only one replica at a time may move an agent. */
const moveTimeoutMs = 60_000

/**
 * Moves sprints away from machines that have been silent for longer than their lease plus a margin, after which those
 * machines start nothing. If the files were pushed, another machine continues from there; otherwise the sprint waits
 * and says why. `since`: when this backend started; machines could not reach it before.
 */
export async function moveLostSprints(fleet: Fleet, since: number): Promise<void> {
  for (const agentId of await listLostSprints(fleet, since)) {
    const lost = await claimMove(fleet, agentId)
    if (!lost) continue
    const why = await moveToAnotherMachine(fleet, lost).catch(errorMessage)
    if (why !== undefined) await recordWhyWaiting(fleet, lost, why)
  }
}

const silentBefore = ({ clock, settings }: Fleet): number => clock.now() - settings.leaseMs - settings.silentMs

async function listLostSprints(fleet: Fleet, since: number): Promise<string[]> {
  if (since > silentBefore(fleet)) return []
  const { rows } = await fleet.database.db.execute<{ id: string }>(sql`
    select agent.id from machine join agent on agent.machine_id = machine.id join sprint on sprint.id = agent.sprint_id
    where machine.connected_to is null and machine.last_seen_at < ${new Date(silentBefore(fleet)).toISOString()}::timestamptz
      and agent.state in ('idle', 'running') and sprint.status in ('in-progress', 'parked') and not sprint.observed
      and (agent.moving_until is null or agent.moving_until < ${new Date(fleet.clock.now()).toISOString()}::timestamptz)
    limit 20`)
  return rows.map(({ id }) => id)
}

type LostSprint = { readonly agent: AgentRow; readonly sprint: SprintRow; readonly machine: MachineRow }

const claimMove = (fleet: Fleet, agentId: string): Promise<LostSprint | undefined> =>
  agentTransaction(fleet, agentId, async (t) => {
    const now = fleet.clock.now()
    if ((t.agent.movingUntil ?? 0) > now || t.agent.sprintId === null) return undefined
    const machine = await findLostMachine(t)
    if (!machine) return undefined
    await updateAgent(t, { movingUntil: now + moveTimeoutMs })
    return { agent: t.agent, machine, sprint: await readSprintRow(t, t.agent.sprintId) }
  })

async function findLostMachine(t: AgentTransaction): Promise<MachineRow | undefined> {
  const [machine] = await t.tx.db.select().from(machines).where(eq(machines.id, t.agent.machineId))
  const isLost = machine?.connectedTo === null && (machine.lastSeenAt ?? 0) < silentBefore(t.fleet)
  return isLost ? machine : undefined
}

/** Returns why the sprint stays; undefined if it was moved or its machine is back. */
async function moveToAnotherMachine(fleet: Fleet, lost: LostSprint): Promise<string | undefined> {
  const { agent, sprint } = lost
  const { id: agentId, name, workspace, program, labels } = agent
  if (workspace.kind !== 'clone') return 'its files exist only on that machine'
  if (workspace.push === undefined) return 'its workspace has no push target'
  if (sprint.pushed === null) return 'its last work was not pushed'
  const before = await fleet.database.db.select().from(placements).where(eq(placements.agentId, agentId))
  const not = [agent.machineId, ...before.map(({ machineId }) => machineId)]
  const { id: machineId, name: machineName } = await chooseMachine(fleet, { program, labels, excluded: not })
  const from = { sprintId: sprint.id, commit: sprint.pushed }
  await fleet.machines.ask(machineId, 'create-workspace', { agentId, name, workspace, from })
  const notesFolder = await setUpNotesOn(fleet, machineId, lost)
  const to = { id: machineId, name: machineName, notesFolder }
  const isMoved = await agentTransaction(fleet, agentId, (t) => moveAgent(t, lost, to))
  // Its machine has come back since.
  if (!isMoved) await fleet.machines.ask(machineId, 'archive-workspace', { agentId })
  return undefined
}

async function setUpNotesOn(fleet: Fleet, machineId: string, { agent, sprint }: LostSprint): Promise<string | null> {
  if (!isNotesProtocol(sprint.protocol)) return agent.notesFolder
  const setup = { agentId: agent.id, taskDescription: sprint.progress.goal }
  return (await fleet.machines.ask(machineId, 'ralph-mode-setup', setup)).directory
}

type MoveTarget = { readonly id: string; readonly name: string; readonly notesFolder: string | null }

/**
 * Hands the agent to another machine. Running work is ended and retried, queued orders are sent to the new machine.
 * Later reports of the old machine change nothing.
 */
async function moveAgent(t: AgentTransaction, lost: LostSprint, to: MoveTarget): Promise<boolean> {
  const { id: agentId, machineId: from, program, account: before } = t.agent
  const machine = from === lost.machine.id ? await findLostMachine(t) : undefined
  const sprint = await readSprintRow(t, lost.sprint.id)
  if (!machine || t.agent.sprintId !== sprint.id || sprint.pushed !== lost.sprint.pushed) return false
  const account = before === defaultAccount(program, from) ? defaultAccount(program, to.id) : before
  const kept = { reason: null, movingUntil: null, inConversation: false, eventsSeq: 0 }
  await updateAgent(t, { machineId: to.id, account, notesFolder: to.notesFolder, ...kept })
  await t.tx.db.insert(placements).values({ agentId, machineId: from, endedAt: t.fleet.clock.now() })
  const unsent = sql`${machineOutbox.message} -> 'body' ->> 'agentId' = ${agentId}`
  await t.tx.db.delete(machineOutbox).where(and(eq(machineOutbox.machineId, from), unsent))
  const why = `its machine ${machine.name} was lost`
  await requeueOrders(t, sprint, why)
  const text = `${why}; ${to.name} has taken over from the last push`
  await notifyMove(t, lost, text)
  await dispatchNext(t)
  return true
}

async function requeueOrders(t: AgentTransaction, sprint: SprintRow, why: string): Promise<void> {
  const prompt = await findRunningPrompt(t)
  let now = prompt ? await endLostPrompt(t, sprint, { prompt, why }) : sprint
  const isOpen = and(eq(sprintOrders.agentId, t.agent.id), inArray(sprintOrders.status, ['open']))
  for (const { id, type, order } of await t.tx.db.select().from(sprintOrders).where(isOpen)) {
    if (type === 'wait' || type === 'run-attempt') continue
    const fact = type === 'run-hook' ? createFailedFact(order, why) : undefined
    if (!fact) await t.tx.db.update(sprintOrders).set({ status: 'queued' }).where(eq(sprintOrders.id, id))
    else {
      await endOrder(t, id)
      now = await applyFact(t, now, { id: `order:${id}`, fact: { ...fact, at: t.fleet.clock.now() } })
    }
  }
}

type LostPrompt = { readonly prompt: NonNullable<Awaited<ReturnType<typeof findRunningPrompt>>>; readonly why: string }

/** Retries a prompt of the loop, but not one of a user, because its effects are unknown. */
async function endLostPrompt(t: AgentTransaction, sprint: SprintRow, { prompt, why }: LostPrompt): Promise<SprintRow> {
  await recordRowChanges(t, { kind: 'prompt', agentId: t.agent.id, promptId: prompt.id })
  const ending = { status: 'failed' as const, error: why }
  const fact = toAttemptFact(t.fleet, prompt, { kind: 'cancelled' })
  if (!fact || prompt.sprintId !== sprint.id) {
    await endUserPrompt(t, { prompt, ending })
    return sprint
  }
  await endAttempt(t, { prompt, ending, fact })
  const after = await applyFact(t, sprint, { id: `lost:${prompt.id}`, fact })
  await rescheduleAbortedAttempt(t, after, fact)
  return after
}

/** The sprint waits for its machine; its agent shows why. */
const recordWhyWaiting = (fleet: Fleet, lost: LostSprint, why: string): Promise<void> =>
  agentTransaction(fleet, lost.agent.id, async (t) => {
    const machine = t.agent.machineId === lost.machine.id ? await findLostMachine(t) : undefined
    if (!machine) return
    const { name, lastSeenAt } = machine
    const reason = `waiting for its machine ${name}, last seen at ${formatTimestamp(lastSeenAt ?? 0)}: ${why}`
    if (t.agent.reason === reason) return
    await updateAgent(t, { reason })
    await notifyMove(t, lost, reason)
  })

async function notifyMove(t: AgentTransaction, { sprint, machine }: LostSprint, text: string): Promise<void> {
  const { id: agentId, name } = t.agent
  const event = { type: 'note' as const, level: 'warning' as const, text }
  await appendSprintEvents(t, { sprintId: sprint.id, newEvents: [{ at: t.fleet.clock.now(), event }] })
  await recordRowChanges(t, { kind: 'agent', agentId }, { kind: 'sprint', agentId, sprintId: sprint.id })
  const notice = { event: 'machine-lost' as const, text: `${name}: ${text}`, agentId, sprintId: sprint.id }
  await t.fleet.notifier.notify(t.tx, { ...notice, machineId: machine.id })
}
