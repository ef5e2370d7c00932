import type { FleetRow } from '../../src/contract/fleet/agent.ts'
import type { StoredEvent } from '../../src/contract/fleet/event.ts'
import type { Machine } from '../../src/contract/fleet/machine.ts'
import type { AgentPrompt } from '../../src/contract/fleet/prompt.ts'
import type { SprintQuestion } from '../../src/contract/fleet/question.ts'
import type { FleetSprint } from '../../src/contract/fleet/sprint.ts'
import type { IterationRecord, Progress } from '../../src/contract/progress.ts'
import { buildProgress } from './builders.ts'

export type Fleet = {
  machines: Machine[]
  agents: FleetRow[]
  sprints: FleetSprint[]
  iterations: Map<string, readonly IterationRecord[]>
  events: Map<string, EventSource>
  prompts: AgentPrompt[]
  questions: SprintQuestion[]
}

/** Events of a sprint, oldest first, without keeping all of them in memory. */
export type EventSource = { readonly count: number; readonly at: (seq: number) => StoredEvent }

/** The same id for the same name in every run. */
export const createFakeId = (name: string): string => {
  let hash = 0xcbf29ce484222325n
  for (const letter of name) hash = ((hash ^ BigInt(letter.codePointAt(0) ?? 0)) * 0x100000001b3n) & 0xffffffffffffffffn
  const hex = hash.toString(16).padStart(16, '0')
  return `0198b6a0-${hex.slice(0, 4)}-7${hex.slice(4, 7)}-8${hex.slice(7, 10)}-${hex}`.slice(0, 36).padEnd(36, '0')
}

const minute = 60_000

export const buildMachine = (name: string, overrides: Partial<Machine> = {}): Machine => ({
  id: createFakeId(`machine ${name}`),
  name,
  status: 'active',
  local: false,
  reachable: true,
  lastSeenAt: Date.now() - 2000,
  version: '0.2.0',
  platform: 'linux x64',
  labels: [],
  slots: 4,
  running: 1,
  diskFreeBytes: 182e9,
  programs: [
    { name: 'claude', version: '2.9.4', tested: true, loggedIn: 'yes' },
    { name: 'codex', version: '0.98.0', tested: true, loggedIn: 'no', problem: 'not signed in' },
  ],
  roots: ['/srv/agents'],
  certificate: { serial: '5c:1f:90:aa:02', expiresAt: Date.now() + 20 * 3_600_000 },
  createdAt: Date.now() - 9 * 86_400_000,
  ...overrides,
})

type RowOverrides = Omit<Partial<FleetRow>, 'agent'> & { readonly agent?: Partial<FleetRow['agent']> }

export function buildAgentRow(name: string, machine: Machine, { agent, ...overrides }: RowOverrides = {}): FleetRow {
  return {
    machine: {
      id: machine.id,
      name: machine.name,
      reachable: machine.reachable,
      ...(machine.lastSeenAt !== undefined && { lastSeenAt: machine.lastSeenAt }),
    },
    queued: 0,
    lastEventAt: Date.now() - 4000,
    access: 'owner',
    ...overrides,
    agent: {
      id: createFakeId(`agent ${name}`),
      name,
      machineId: machine.id,
      workspace: { kind: 'worktree', path: `/srv/agents/${name}`, branch: 'main' },
      program: 'claude',
      model: 'opus',
      state: overrides.sprint?.status === 'in-progress' ? 'running' : 'idle',
      inRalphMode: overrides.sprint?.status === 'in-progress',
      ralphModeTaskDescription: overrides.sprint?.goal ?? null,
      ralphModeLastPromptAt: null,
      ...(overrides.sprint && { sprintId: overrides.sprint.id }),
      createdAt: Date.now() - 86_400_000,
      ...agent,
    },
  }
}

export const buildGlance = (
  name: string,
  overrides: Partial<NonNullable<FleetRow['sprint']>> = {},
): NonNullable<FleetRow['sprint']> => ({
  id: createFakeId(`sprint ${name}`),
  status: 'in-progress',
  goal: name,
  iteration: 1,
  verdicts: [{ number: 1 }],
  spentUsd: 0.42,
  updatedAt: Date.now() - 4000,
  ...overrides,
})

export const buildIteration = (number: number, overrides: Partial<IterationRecord> = {}): IterationRecord => ({
  number,
  mode: 'executing',
  verdict: 'continue',
  changed: true,
  attempts: 1,
  agent: 'claude',
  model: 'opus',
  startedAt: Date.now() - (60 - number * 5) * minute,
  endedAt: Date.now() - (60 - number * 5 - 4) * minute,
  costUsd: 0.3 + ((number * 7) % 5) / 10,
  usage: { inputTokens: 38_000, outputTokens: 4100 + number * 90, cacheReadTokens: 212_000, cacheWriteTokens: 9000 },
  checkpoint: `${number}a5f0c1d2e3b4a5968778695a4b3c2d1e0f9a8b7`,
  ...overrides,
})

type SprintOverrides = Omit<Partial<FleetSprint>, 'progress'> & {
  readonly progress?: Parameters<typeof buildProgress>[0]
}

export function buildSprint(
  name: string,
  agentId: string,
  { progress, ...overrides }: SprintOverrides = {},
): FleetSprint {
  const whole: Progress = buildProgress({ goal: name, status: 'in-progress', ...progress })
  return {
    id: createFakeId(`sprint ${name}`),
    agentId,
    protocol: 'report',
    rev: whole.rev,
    observed: false,
    lastEventAt: Date.now() - 4000,
    createdAt: Date.now() - 41 * minute,
    ...overrides,
    progress: whole,
  }
}

export const buildQuestion = (
  sprint: FleetSprint,
  agentName: string,
  overrides: Partial<SprintQuestion> = {},
): SprintQuestion => ({
  id: createFakeId(`question of ${sprint.id}`),
  sprintId: sprint.id,
  agentId: sprint.agentId,
  agentName,
  goal: sprint.progress.goal,
  status: 'open',
  reason: 'Which database should sessions live in?',
  details: 'The spec names Redis, the repository has only Postgres.',
  options: ['Postgres', 'Redis'],
  default: 'Postgres',
  iteration: 9,
  askedAt: Date.now() - 2 * minute,
  ...overrides,
})

export const buildPrompt = (agentId: string, text: string, overrides: Partial<AgentPrompt> = {}): AgentPrompt => ({
  id: createFakeId(`prompt ${agentId} ${text}`),
  agentId,
  prompt: text,
  status: 'queued',
  by: 'Ada',
  attempt: 0,
  position: 1,
  createdAt: Date.now() - 5 * minute,
  ...overrides,
})

export const listed = (events: readonly StoredEvent[]): EventSource => ({
  count: events.length,
  at: (seq) => {
    const event = events[seq]
    if (!event) throw new Error(`there is no event ${seq}`)
    return event
  },
})
