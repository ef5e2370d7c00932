import type { Agent, Conversation, SprintGlance } from '../../contract/fleet/agent.ts'
import type { StoredEvent } from '../../contract/fleet/event.ts'
import type { Machine } from '../../contract/fleet/machine.ts'
import type { AgentPrompt } from '../../contract/fleet/prompt.ts'
import type { SprintQuestion } from '../../contract/fleet/question.ts'
import type { FleetSprint } from '../../contract/fleet/sprint.ts'
import type { Progress } from '../../contract/progress.ts'
import { summarizeSprint, type SummarySource } from '../../contract/sprint-summary.ts'
import type { AgentRow, conversations } from '../database/agent.ts'
import type { PromptRow } from '../database/agent-prompt.ts'
import type { EventRow } from '../database/event.ts'
import { machineSilentMs, type MachineRow } from '../database/machine.ts'
import type { QuestionRow } from '../database/question.ts'
import type { SprintRow } from '../database/sprint.ts'

/** Converts a row to its API shape: same names, no secrets, no nulls. */
export const showAgent = (row: AgentRow): Agent => ({
  ...pick(row, ['id', 'name', 'machineId', 'workspace', 'program', 'state', 'inRalphMode', 'createdAt']),
  ralphModeTaskDescription: row.ralphModeTaskDescription,
  ralphModeLastPromptAt: row.ralphModeLastPromptAt,
  ...pickNonNull(row, ['model', 'reason', 'sprintId', 'archivedAt']),
})

export const showPrompt = (row: PromptRow): AgentPrompt => ({
  ...pick(row, ['id', 'agentId', 'prompt', 'status', 'by', 'attempt', 'position', 'createdAt']),
  ...pickNonNull(row, [
    'model',
    'sprintId',
    'iteration',
    'leaseUntil',
    'error',
    'answer',
    'costUsd',
    'startedAt',
    'endedAt',
  ]),
})

export const showQuestion = (row: QuestionRow, about: { agentName: string; goal: string }): SprintQuestion => ({
  ...pick(row, ['id', 'sprintId', 'agentId', 'status', 'reason', 'details', 'askedAt']),
  ...about,
  ...pickNonNull(row, ['options', 'iteration', 'answer', 'answeredBy', 'answeredAt']),
  ...(row.defaultAnswer !== null && { default: row.defaultAnswer }),
})

export const isReachable = ({ status, connectedTo, lastSeenAt }: MachineRow, now: number): boolean =>
  status !== 'revoked' && status !== 'pending' && connectedTo !== null && now - (lastSeenAt ?? 0) < machineSilentMs

export const showMachine = (row: MachineRow, { running, now }: { running: number; now: number }): Machine => ({
  ...pick(row, ['id', 'name', 'status', 'local', 'slots', 'shared', 'createdAt']),
  labels: [...row.labels],
  programs: [...row.programs],
  roots: [...row.roots],
  running,
  reachable: isReachable(row, now),
  ...pickNonNull(row, ['lastSeenAt', 'version', 'platform', 'diskFreeBytes', 'clockSkewMs', 'alarm', 'ownerId']),
  ...(row.certificateSerial !== null &&
    row.certificateExpiresAt !== null && {
      certificate: { serial: row.certificateSerial, expiresAt: row.certificateExpiresAt },
    }),
})

export const showSprint = (row: SprintRow): FleetSprint => ({
  ...pick(row, ['id', 'agentId', 'protocol', 'rev', 'progress', 'observed', 'createdAt']),
  ...pickNonNull(row, ['diff', 'branch', 'lastEventAt']),
})

export const showConversation = (row: typeof conversations.$inferSelect): Conversation => ({
  ...pick(row, ['id', 'agentId', 'startedAt', 'messages']),
  endedAt: row.endedAt ?? row.startedAt,
  ...pickNonNull(row, ['sprintId', 'iteration']),
})

export const showEvent = (row: EventRow & { payload: NonNullable<EventRow['payload']> }): StoredEvent => ({
  id: `${row.id}`,
  agentId: row.agentId ?? '',
  seq: row.seq ?? 0,
  at: row.at,
  event: row.payload,
  ...pickNonNull(row, ['sprintId', 'promptId']),
  ...(row.clipped !== null && { clipped: true }),
})

/** The part of a progress that a glance needs; the rest is not read. */
export type Glimpse = Pick<Progress, 'goal'> & Omit<SummarySource, 'status'>

export type GlanceRow = Pick<SprintRow, 'id' | 'status' | 'diff' | 'branch' | 'updatedAt'> & {
  readonly glimpse: Glimpse
  readonly question: Pick<QuestionRow, 'id' | 'reason' | 'askedAt'> | null
}

export function showGlance({ glimpse, question, ...row }: GlanceRow): SprintGlance {
  const { runLimits, limits, stats, goal } = glimpse
  const { status, iteration, verdicts, ...summary } = summarizeSprint({ ...glimpse, status: row.status })
  return {
    ...pick(row, ['id', 'updatedAt']),
    goal,
    status,
    iteration,
    verdicts: [...verdicts],
    spentUsd: stats.costUsd ?? stats.spentUsd ?? null,
    ...pickNonNull(row, ['diff', 'branch']),
    ...omitUndefinedFields({
      ...summary,
      capUsd: runLimits?.usd ?? (limits.usd === 'off' ? undefined : limits.usd),
      question: question ?? undefined,
    }),
  }
}

function pick<T extends object, const K extends keyof T>(row: T, names: readonly K[]): Pick<T, K> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- exactly these names
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<T, K>
}

type NonNullFields<T> = { [P in keyof T]?: NonNullable<T[P]> }

/** The fields that are not null. */
function pickNonNull<T extends object, const K extends keyof T>(
  row: T,
  names: readonly K[],
): NonNullFields<Pick<T, K>> {
  const there = names.filter((name) => row[name] !== null && row[name] !== undefined).map((name) => [name, row[name]])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- exactly these names, without nulls
  return Object.fromEntries(there) as NonNullFields<Pick<T, K>>
}

function omitUndefinedFields<T extends object>(fields: T): { [P in keyof T]?: NonNullable<T[P]> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fields, without the undefined ones
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
