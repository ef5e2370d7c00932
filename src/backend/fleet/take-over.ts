import { and, eq, inArray, sql } from 'drizzle-orm'
import { formatTimestamp } from '../../contract/time.ts'
import { agents, placements, type AgentRow } from '../database/agent.ts'
import type { Tx } from '../database/database.ts'
import { machineOutbox, machines, type MachineRow } from '../database/machine.ts'
import { sprintOrders, type SprintRow } from '../database/sprint.ts'
import { announce } from './announce.ts'
import { appendToSprint } from './append-to-sprint.ts'
import { accountOn, placeFor } from './place.ts'
import type { Fleet } from './ports.ts'
import { pump } from './pump.ts'
import { type Held, lockAgent, runningPrompt, sprintIn } from './rows.ts'
import { takeFact } from './take-fact.ts'
import { endAttempt, endOrder, endTalk, factOf, failedFact, tryAgain } from './take-report.ts'

/** Only one replica at a time may move an agent. */
const movingMs = 60_000

/**
 * Moves sprints away from machines that have been silent for longer than their lease plus a margin, after which those
 * machines start nothing. If the files were pushed, another machine continues from there; otherwise the sprint waits
 * and says why. `since`: when this backend started; machines could not reach it before.
 */
export async function takeOverLost(fleet: Fleet, since: number): Promise<void> {
  for (const agentId of await lostAgents(fleet, since)) {
    const lost = await claim(fleet, agentId)
    if (!lost) continue
    const why = await moveAway(fleet, lost).catch((error: unknown) => wordsOf(error))
    if (why !== undefined) await sayWhy(fleet, lost, why)
  }
}

const longAgo = ({ clock, settings }: Fleet): number => clock.now() - settings.leaseMs - settings.silentMs

async function lostAgents(fleet: Fleet, since: number): Promise<string[]> {
  if (since > longAgo(fleet)) return []
  const { rows } = await fleet.database.db.execute<{ id: string }>(sql`
    select agent.id from machine join agent on agent.machine_id = machine.id join sprint on sprint.id = agent.sprint_id
    where machine.connected_to is null and machine.last_seen_at < ${new Date(longAgo(fleet)).toISOString()}::timestamptz
      and agent.state in ('idle', 'running') and sprint.status in ('in-progress', 'parked') and not sprint.observed
      and (agent.moving_until is null or agent.moving_until < ${new Date(fleet.clock.now()).toISOString()}::timestamptz)
    limit 20`)
  return rows.map(({ id }) => id)
}

type Lost = { readonly agent: AgentRow; readonly sprint: SprintRow; readonly machine: MachineRow }

const claim = (fleet: Fleet, agentId: string): Promise<Lost | undefined> =>
  fleet.database.transaction(async (tx) => {
    const agent = await lockAgent(tx, agentId)
    const now = fleet.clock.now()
    if ((agent.movingUntil ?? 0) > now || agent.sprintId === null) return undefined
    const machine = await lostMachine(fleet, tx, agent.machineId)
    if (!machine) return undefined
    await tx.db
      .update(agents)
      .set({ movingUntil: now + movingMs })
      .where(eq(agents.id, agentId))
    return { agent, machine, sprint: await sprintIn(tx, agent.sprintId) }
  })

async function lostMachine(fleet: Fleet, tx: Tx, machineId: string): Promise<MachineRow | undefined> {
  const [machine] = await tx.db.select().from(machines).where(eq(machines.id, machineId))
  const isLost = machine?.connectedTo === null && (machine.lastSeenAt ?? 0) < longAgo(fleet)
  return isLost ? machine : undefined
}

/** Returns why the sprint stays; undefined if it was moved or its machine is back. */
async function moveAway(fleet: Fleet, lost: Lost): Promise<string | undefined> {
  const { agent, sprint } = lost
  const { id: agentId, name, workspace, program, labels } = agent
  if (workspace.kind !== 'clone') return 'its files exist only on that machine'
  if (workspace.push === undefined) return 'its workspace has no push target'
  if (sprint.pushed === null) return 'its last work was not pushed'
  const before = await fleet.database.db.select().from(placements).where(eq(placements.agentId, agentId))
  const not = [agent.machineId, ...before.map(({ machineId }) => machineId)]
  const { id: machineId, name: machineName } = await placeFor(fleet, { program, labels, not })
  const from = { sprintId: sprint.id, commit: sprint.pushed }
  await fleet.machines.ask(machineId, 'create-workspace', { agentId, name, workspace, from })
  const notesFolder = await setUpNotes(fleet, machineId, lost)
  const to = { id: machineId, name: machineName, notesFolder }
  const isMoved = await fleet.database.transaction((tx) => move(fleet, tx, lost, to))
  // Its machine has come back since.
  if (!isMoved) await fleet.machines.ask(machineId, 'archive-workspace', { agentId })
  return undefined
}

async function setUpNotes(fleet: Fleet, machineId: string, { agent, sprint }: Lost): Promise<string | null> {
  if (sprint.protocol !== 'notes') return agent.notesFolder
  const setup = { agentId: agent.id, taskDescription: sprint.progress.goal }
  return (await fleet.machines.ask(machineId, 'ralph-mode-setup', setup)).directory
}

type Target = { readonly id: string; readonly name: string; readonly notesFolder: string | null }

/**
 * Hands the agent to another machine. Running work is ended and retried, queued orders are sent to the new machine.
 * Later reports of the old machine change nothing.
 */
async function move(fleet: Fleet, tx: Tx, lost: Lost, to: Target): Promise<boolean> {
  const before = await lockAgent(tx, lost.agent.id)
  const { id: agentId, machineId: from, program } = before
  const machine = from === lost.machine.id ? await lostMachine(fleet, tx, from) : undefined
  const sprint = await sprintIn(tx, lost.sprint.id)
  if (!machine || before.sprintId !== sprint.id || sprint.pushed !== lost.sprint.pushed) return false
  const account = before.account === accountOn(program, from) ? accountOn(program, to.id) : before.account
  const kept = { reason: null, movingUntil: null, inConversation: false, eventsSeq: 0 }
  const fields = { machineId: to.id, account, notesFolder: to.notesFolder, ...kept }
  await tx.db.update(agents).set(fields).where(eq(agents.id, agentId))
  await tx.db.insert(placements).values({ agentId, machineId: from, endedAt: fleet.clock.now() })
  const unsent = sql`${machineOutbox.message} -> 'body' ->> 'agentId' = ${agentId}`
  await tx.db.delete(machineOutbox).where(and(eq(machineOutbox.machineId, from), unsent))
  const why = `its machine ${machine.name} was lost`
  const after = await giveAgain(fleet, tx, { agent: { ...before, ...fields }, sprint }, why)
  const text = `${why}; ${to.name} has taken over from the last push`
  await tellAll(fleet, tx, { ...lost, agent: after.agent }, text)
  await pump(fleet, tx, after.agent)
  return true
}

async function giveAgain(fleet: Fleet, tx: Tx, held: Held, why: string): Promise<Held> {
  const prompt = await runningPrompt(tx, held.agent.id)
  const started = prompt ? await endLost(fleet, tx, held, { prompt, why }) : held
  const isOpen = and(eq(sprintOrders.agentId, held.agent.id), inArray(sprintOrders.status, ['open']))
  let now = started
  for (const { id, type, order } of await tx.db.select().from(sprintOrders).where(isOpen)) {
    if (type === 'wait' || type === 'run-attempt') continue
    const fact = type === 'run-hook' ? failedFact(order, why) : undefined
    if (!fact) await tx.db.update(sprintOrders).set({ status: 'queued' }).where(eq(sprintOrders.id, id))
    else {
      await endOrder(fleet, tx, id)
      now = await takeFact(fleet, tx, now, { id: `order:${id}`, fact: { ...fact, at: fleet.clock.now() } })
    }
  }
  return now
}

type LostPrompt = { readonly prompt: NonNullable<Awaited<ReturnType<typeof runningPrompt>>>; readonly why: string }

/** Retries a prompt of the loop, but not one of a user, because its effects are unknown. */
async function endLost(fleet: Fleet, tx: Tx, held: Held, { prompt, why }: LostPrompt): Promise<Held> {
  const { agent, sprint } = held
  await announce(fleet, tx, { kind: 'prompt', agentId: agent.id, promptId: prompt.id })
  const ending = { status: 'failed' as const, error: why }
  const fact = factOf(fleet, prompt, { kind: 'cancelled' })
  if (!fact || prompt.sprintId !== sprint.id)
    return { sprint, agent: await endTalk(fleet, tx, agent, { prompt, ending }) }
  await endAttempt(fleet, tx, agent, { prompt, ending, fact })
  const after = await takeFact(fleet, tx, held, { id: `lost:${prompt.id}`, fact })
  await tryAgain(fleet, tx, after, fact)
  return after
}

/** The sprint waits for its machine; its agent shows why. */
const sayWhy = (fleet: Fleet, lost: Lost, why: string): Promise<void> =>
  fleet.database.transaction(async (tx) => {
    const agent = await lockAgent(tx, lost.agent.id)
    const machine = agent.machineId === lost.machine.id ? await lostMachine(fleet, tx, agent.machineId) : undefined
    if (!machine) return
    const { name, lastSeenAt } = machine
    const reason = `waiting for its machine ${name}, last seen at ${formatTimestamp(lastSeenAt ?? 0)}: ${why}`
    if (agent.reason === reason) return
    await tx.db.update(agents).set({ reason }).where(eq(agents.id, agent.id))
    await tellAll(fleet, tx, { ...lost, agent }, reason)
  })

async function tellAll(fleet: Fleet, tx: Tx, { agent, sprint, machine }: Lost, text: string): Promise<void> {
  const { id: agentId, name } = agent
  const event = { type: 'note' as const, level: 'warning' as const, text }
  await appendToSprint(fleet, tx, agentId, { sprintId: sprint.id, own: [{ at: fleet.clock.now(), event }] })
  await announce(fleet, tx, { kind: 'agent', agentId }, { kind: 'sprint', agentId, sprintId: sprint.id })
  const notice = { event: 'machine-lost' as const, text: `${name}: ${text}`, agentId, sprintId: sprint.id }
  await fleet.notifications.tell(tx, { ...notice, machineId: machine.id })
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
