import type { SprintQuestion } from '../../src/contract/fleet/question.ts'
import { RalphError } from '../../src/contract/errors.ts'
import type { FleetRow } from '../../src/contract/fleet/agent.ts'
import type { FleetChange } from '../../src/contract/fleet/event.ts'
import type { RouteName } from '../../src/contract/fleet/routes.ts'
import type { FleetSprint } from '../../src/contract/fleet/sprint.ts'
import type { SprintStatus } from '../../src/contract/progress.ts'
import {
  buildGlance,
  buildMachine,
  buildAgentRow,
  buildPrompt,
  buildSprint,
  type Fleet,
  createFakeId,
  listed,
} from './fake-fleet.ts'
import { ada, budgets, diff, finishable, usageRows, users } from './fake-data.ts'

export type FakeState = {
  readonly fleet: Fleet
  readonly push: (change: FleetChange) => void
  readonly version: () => string
}

/** The input, validated by the route's own schemas: ids, query and body. */
type RouteInput = Record<string, string | number | null | undefined>

/** The answers of the fake backend: just enough for pages to work. */
export function answers(name: RouteName, input: RouteInput, state: FakeState): unknown {
  return (reads[name] ?? writes[name] ?? missing(name))(input, state)
}

type Answer = (input: RouteInput, state: FakeState) => unknown

const missing =
  (name: string): Answer =>
  () => {
    throw new RalphError('NOT_SUPPORTED', `the fake backend has no ${name}`)
  }

const notFoundError = (): never => {
  throw new RalphError('SPRINT_NOT_FOUND', 'there is nothing by that name')
}

const findAgent = ({ fleet }: FakeState, id: unknown): FleetRow =>
  fleet.agents.find(({ agent }) => agent.id === id) ?? notFoundError()
const findSprint = ({ fleet }: FakeState, id: unknown): FleetSprint =>
  fleet.sprints.find((sprint) => sprint.id === id) ?? notFoundError()

const reads: Partial<Record<RouteName, Answer>> = {
  waysToSignIn: () => ({ organisation: true, passkeys: true }),
  listPasskeys: () => ({
    items: [{ id: createFakeId('passkey'), name: 'Laptop', createdAt: Date.UTC(2026, 10, 2) }],
  }),
  listPromptEvents: (_, { fleet }) => eventsPage({ sprintId: fleet.sprints[0]?.id ?? '', limit: 12 }, fleet),
  me: (_, { version }) => ({ user: ada, signedInBy: 'local', version: version() }),
  listUsers: () => ({ items: users }),
  listTokens: () => ({
    items: [
      {
        id: createFakeId('token'),
        name: 'laptop',
        scope: 'write',
        createdAt: Date.now() - 86_400_000,
        expiresAt: Date.now() + 80 * 86_400_000,
        lastUsedAt: Date.now() - 3_600_000,
      },
    ],
  }),
  listWebhooks: () => ({
    items: [
      {
        id: createFakeId('hook'),
        url: 'https://hooks.example.org/ralph',
        events: ['needs-human', 'failed', 'completed'],
        enabled: true,
        createdAt: Date.now() - 86_400_000,
      },
    ],
  }),
  listDeliveries: () => ({
    items: [
      {
        id: createFakeId('d1'),
        webhookId: createFakeId('hook'),
        via: 'webhook',
        to: 'https://hooks.example.org/ralph',
        event: 'needs-human',
        status: 'sent',
        tries: 1,
        createdAt: Date.now() - 120_000,
        sentAt: Date.now() - 119_000,
      },
      {
        id: createFakeId('d2'),
        webhookId: createFakeId('hook'),
        via: 'webhook',
        to: 'https://hooks.example.org/ralph',
        event: 'failed',
        status: 'failed',
        tries: 5,
        error: 'answered 503',
        createdAt: Date.now() - 10_800_000,
      },
      {
        id: createFakeId('d3'),
        via: 'browser',
        to: 'Ada',
        event: 'needs-human',
        status: 'suppressed',
        tries: 1,
        error: 'its page is visible',
        createdAt: Date.now() - 14_400_000,
      },
    ],
  }),
  listAudit: () => ({
    items: [
      {
        id: '3',
        at: Date.now() - 60_000,
        who: 'Ada',
        what: 'startRalphMode',
        target: createFakeId('agent'),
        details: { name: 'api-server' },
      },
      { id: '2', at: Date.now() - 660_000, who: 'vm-4', what: 'join', target: 'vm-4' },
      {
        id: '1',
        at: Date.now() - 4_000_000,
        who: 'Ada',
        what: 'makeJoinToken',
        target: 'vm-4',
        details: { expires: '1 h' },
      },
    ],
  }),
  listMachines: (_, { fleet }) => ({ items: fleet.machines }),
  preflight: (input) => ({
    program: {
      name: String(input['program']),
      version: '2.9.4',
      tested: true,
      loggedIn: input['program'] === 'codex' ? 'no' : 'yes',
      ...(input['program'] === 'codex' && { problem: 'not logged in: run “codex login” on the machine' }),
    },
    diskFreeBytes: 182e9,
    runsAs: 'ralph',
  }),
  listAgents: (_, { fleet }) => ({ items: fleet.agents }),
  getAgent: ({ agentId }, state) => findAgent(state, agentId),
  listPrompts: ({ agentId }, { fleet }) => ({ items: fleet.prompts.filter((prompt) => prompt.agentId === agentId) }),
  listConversations: ({ agentId }) => ({
    items: [8, 7, 6].map((iteration) => ({
      id: `conversation-${iteration}`,
      agentId,
      sprintId: createFakeId('sprint Build JWT authentication: registration, login, refresh, logout'),
      iteration,
      startedAt: Date.now() - (10 - iteration) * 400_000,
      endedAt: Date.now() - (10 - iteration) * 400_000 + 300_000,
      messages: 20 + iteration,
    })),
  }),
  listNotes: () => ({
    folder: '~/.ariana-ralph-notes',
    lock: true,
    notes: [
      {
        name: 'README.md',
        text: '# Task\n\nBuild JWT authentication.\n\n## Validated\n\n- [x] registration\n- [ ] logout revokes the family\n',
        updatedAt: Date.now() - 180_000,
      },
      { name: 'refresh.md', text: 'Tokens rotate; **reuse revokes the family**.', updatedAt: Date.now() - 900_000 },
    ],
  }),
  listAccess: ({ agentId }) => ({
    items: [
      { agentId, userId: ada.id, userName: 'Ada', level: 'owner' },
      { agentId, userId: createFakeId('grace'), userName: 'Grace', level: 'read' },
    ],
  }),
  detectChecks: () => ({
    items: [
      { name: 'npm test', run: 'npm test' },
      { name: 'tsc', run: 'npx tsc --noEmit' },
    ],
  }),
  estimate: () => ({ iterations: 38, medianMs: 372_000, medianUsd: 0.42 }),
  listSprints: ({ agentId }, { fleet }) => ({
    items: fleet.sprints.filter((sprint) => agentId === undefined || sprint.agentId === agentId),
  }),
  getSprint: ({ sprintId }, state) => findSprint(state, sprintId),
  listIterations: ({ sprintId }, { fleet }) => ({ items: (fleet.iterations.get(String(sprintId)) ?? []).toReversed() }),
  listEvents: (input, { fleet }) => eventsPage(input, fleet),
  outlineSprint: ({ sprintId }, { fleet }) => {
    const last = (fleet.events.get(String(sprintId))?.count ?? 0) - 1
    const tools = [{ name: 'Read', calls: 12 }]
    return {
      lastSeq: Math.max(0, last),
      items: last < 0 ? [] : [{ iteration: 8, firstSeq: 0, events: last + 1, errors: 2, edits: 3, tools }],
    }
  },
  readOutput: () => ({ text: 'the whole output\n'.repeat(200), size: 3400 }),
  diffSprint: () => diff,
  previewRestore: () => diff,
  previewFinish: () => ({ repositories: [finishable] }),
  listQuestions: ({ status, cursor, limit }, { fleet }) => {
    const isListed = (question: SprintQuestion): boolean => status === undefined || question.status === status
    const rank = (question: SprintQuestion): number => (question.status === 'open' ? 0 : 1)
    const all = fleet.questions.filter(isListed).toSorted((a, b) => rank(a) - rank(b))
    const [from, count] = [Number(cursor ?? 0), Number(limit ?? 50)]
    const rest = all.length > from + count ? { next: String(from + count) } : {}
    return { items: all.slice(from, from + count), ...rest }
  },
  usage: () => ({ items: usageRows(), todayUsd: 18.4 }),
  listBudgets: () => ({ items: budgets() }),
}

/** Newest first; a cursor is the number of the event after the last one returned. */
function eventsPage({ sprintId, cursor, limit, iteration, search, kind, before, after }: RouteInput, fleet: Fleet) {
  const source = fleet.events.get(String(sprintId))
  if (!source) return { items: [] }
  const items = []
  if (after !== undefined && after !== null) {
    const from = Math.max(0, Number(after) + 1)
    const to = Math.min(source.count, from + Number(limit))
    for (let seq = from; seq < to; seq += 1) items.push(source.at(seq))
    return { items, ...(to < source.count && { next: String(to) }) }
  }
  let seq = Math.min(source.count, Number(cursor ?? before ?? source.count))
  while (seq > 0 && items.length < Number(limit)) {
    seq -= 1
    const stored = source.at(seq)
    const { event } = stored
    if (iteration !== undefined && 'iteration' in event && event.iteration !== iteration) continue
    if (search !== undefined && !JSON.stringify(event).toLowerCase().includes(String(search).toLowerCase())) continue
    if (kind !== undefined && (event.type === 'agent' ? event.event.kind : 'other') !== kind) continue
    items.push(stored)
  }
  return { items, ...(seq > 0 && { next: String(seq) }) }
}

const statusAfter: Partial<Record<RouteName, SprintStatus>> = {
  pauseSprint: 'paused',
  resumeSprint: 'in-progress',
  stopSprint: 'interrupted',
}

const changeStatus =
  (name: RouteName): Answer =>
  ({ sprintId }, state) =>
    changed(state, findSprint(state, sprintId), { status: statusAfter[name] ?? 'paused' })

function changed(
  { fleet, push }: FakeState,
  sprint: FleetSprint,
  progress: Partial<FleetSprint['progress']>,
): FleetSprint {
  const rev = sprint.rev + 1
  const next: FleetSprint = { ...sprint, rev, progress: { ...sprint.progress, ...progress, rev } }
  fleet.sprints = fleet.sprints.map((other) => (other.id === next.id ? next : other))
  fleet.agents = fleet.agents.map((row) =>
    row.sprint?.id === next.id ? { ...row, sprint: { ...row.sprint, status: next.progress.status } } : row,
  )
  push({ type: 'sprint', sprintId: next.id, agentId: next.agentId, rev })
  for (const row of fleet.agents) if (row.sprint?.id === next.id) push({ type: 'agent', row })
  return next
}

const writes: Partial<Record<RouteName, Answer>> = {
  signIn: (_, { version }) => ({ user: ada, signedInBy: 'local', version: version() }),
  signOut: () => ({ success: true }),
  pauseSprint: changeStatus('pauseSprint'),
  resumeSprint: changeStatus('resumeSprint'),
  stopSprint: changeStatus('stopSprint'),
  tellSprint: ({ sprintId, text }, state) =>
    changed(state, findSprint(state, sprintId), { messages: [{ text: String(text), at: Date.now() }] }),
  withdrawMessage: ({ sprintId }, state) => changed(state, findSprint(state, sprintId), { messages: [] }),
  finishSprint: ({ branch }) => ({
    commits: [
      { root: '/home/ada/shop', branch: branch ? String(branch) : 'main', commit: 'c0ffee12345678', staged: [] },
    ],
  }),
  restoreSprint: () => ({ success: true, saved: 'refs/ralph/auth/saved-1' }),
  answerSprint: ({ sprintId, answer }, state) => answerQuestion(String(sprintId), String(answer), state),
  dismissQuestion: ({ questionId }, { fleet, push }) => {
    const question = {
      ...(fleet.questions.find(({ id }) => id === questionId) ?? notFoundError()),
      status: 'dismissed' as const,
    }
    fleet.questions = fleet.questions.map((other) => (other.id === questionId ? question : other))
    push({ type: 'question', question })
    return question
  },
  startRalphMode: ({ agentId, taskDescription }, state) =>
    startRalphMode(String(agentId), String(taskDescription), state),
  stopRalphMode: ({ agentId }, state) => {
    const row = findAgent(state, agentId)
    const agent = { ...row.agent, inRalphMode: false, ralphModeTaskDescription: null, state: 'idle' as const }
    place(state, { ...row, agent })
    return { success: true, agent }
  },
  interruptAgent: () => ({ success: true }),
  resetAgent: () => ({ success: true }),
  queuePrompt: ({ agentId, prompt }, { fleet, push }) => {
    const made = buildPrompt(String(agentId), String(prompt), {
      position: fleet.prompts.length + 1,
      createdAt: Date.now(),
    })
    fleet.prompts.push(made)
    push({ type: 'prompt', prompt: made })
    return made
  },
  cancelPrompt: ({ promptId }, { fleet, push }) => {
    const prompt = {
      ...(fleet.prompts.find(({ id }) => id === promptId) ?? notFoundError()),
      status: 'cancelled' as const,
    }
    fleet.prompts = fleet.prompts.map((other) => (other.id === promptId ? prompt : other))
    push({ type: 'prompt', prompt })
    return prompt
  },
  movePrompt: ({ promptId, before }, { fleet, push }) => {
    const target = fleet.prompts.find(({ id }) => id === before)
    const prompt = {
      ...(fleet.prompts.find(({ id }) => id === promptId) ?? notFoundError()),
      position: (target?.position ?? 100) - 0.5,
    }
    fleet.prompts = fleet.prompts.map((other) => (other.id === promptId ? prompt : other))
    push({ type: 'prompt', prompt })
    return prompt
  },
  createAgent: ({ name, program }, state) => {
    const machine = state.fleet.machines[0] ?? buildMachine('vm-1')
    const row = buildAgentRow(String(name), machine, { agent: { program: String(program ?? 'claude') } })
    place(state, row)
    return row.agent
  },
  makeJoinToken: () => ({
    id: createFakeId('join'),
    token: 'rj_4f1c',
    command: 'ralph agents-server --join https://ralph.example.org#rj_4f1c',
    expiresAt: Date.now() + 900_000,
  }),
  makeToken: ({ name, scope }) => ({
    token: 'rt_9d2e…',
    details: {
      id: createFakeId('new token'),
      name,
      scope,
      createdAt: Date.now(),
      expiresAt: Date.now() + 90 * 86_400_000,
    },
  }),
  recordDelivery: ({ event, status }) => ({
    id: createFakeId('browser'),
    via: 'browser',
    to: 'Ada',
    event,
    status,
    tries: 1,
    createdAt: Date.now(),
  }),
}

function answerQuestion(sprintId: string, answer: string, state: FakeState) {
  const { fleet, push } = state
  for (const question of fleet.questions.filter((other) => other.sprintId === sprintId && other.status === 'open')) {
    const answered = { ...question, status: 'answered' as const, answer, answeredBy: 'Ada', answeredAt: Date.now() }
    fleet.questions = fleet.questions.map((other) => (other.id === question.id ? answered : other))
    push({ type: 'question', question: answered })
  }
  fleet.agents = fleet.agents.map((row) => {
    if (row.sprint?.id !== sprintId) return row
    const { question: _question, ...sprint } = row.sprint
    return { ...row, sprint }
  })
  return changed(state, findSprint(state, sprintId), { status: 'in-progress' })
}

function startRalphMode(agentId: string, task: string, state: FakeState) {
  const row = findAgent(state, agentId)
  const sprint = buildSprint(task, agentId, { protocol: 'notes', progress: { stats: { startedAt: Date.now() } } })
  state.fleet.sprints.push(sprint)
  state.fleet.events.set(sprint.id, listed([]))
  const agent = {
    ...row.agent,
    inRalphMode: true,
    ralphModeTaskDescription: task,
    state: 'running' as const,
    sprintId: sprint.id,
  }
  place(state, { ...row, agent, sprint: buildGlance(task) })
  return { success: true, agent, sprintId: sprint.id }
}

function place({ fleet, push }: FakeState, row: FleetRow): void {
  fleet.agents = [row, ...fleet.agents.filter(({ agent }) => agent.id !== row.agent.id)]
  push({ type: 'agent', row })
}
