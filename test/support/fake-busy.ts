import type { FleetSprint } from '../../src/contract/fleet/sprint.ts'
import { buildCheck, buildHook, buildHookTask, buildLive, buildStep, green } from './builders.ts'
import {
  buildGlance,
  buildMachine,
  buildAgentRow,
  buildIteration,
  buildPrompt,
  buildQuestion,
  buildSprint,
  type Fleet,
  createFakeId,
} from './fake-fleet.ts'
import { authEvents } from './fake-transcript.ts'

const minute = 60_000
const goal = 'Build JWT authentication: registration, login, refresh, logout'

/** A fleet in which everything happens that a page can show. */
export function busyFleet(): Fleet {
  const machines = [
    buildMachine('vm-1', { running: 2, labels: ['gpu'] }),
    buildMachine('vm-3', { running: 1 }),
    buildMachine('vm-4', {
      reachable: false,
      lastSeenAt: Date.now() - 11 * minute,
      alarm: 'was last in contact 11 minutes ago',
      diskFreeBytes: 3e9,
    }),
  ]
  const [one, three, four] = machines
  if (!one || !three || !four) throw new Error('three machines')
  const sprint = authSprint(createFakeId('agent api-server'))
  const asking = askingSprint(createFakeId('agent sessions'))
  const question = buildQuestion(asking, 'sessions', { iteration: 3 })
  const verdicts = [...iterations.map(({ number, verdict }) => ({ number, verdict })), { number: 9 }]
  const agents = [
    buildAgentRow('api-server', three, {
      sprint: buildGlance(goal, {
        iteration: 9,
        maxIterations: 40,
        verdicts,
        checks: { green: 1, all: 2 },
        spentUsd: 3.18,
        capUsd: 10,
        mode: 'executing',
        branch: 'ralph/auth',
        diff: { added: 412, removed: 96 },
      }),
      queued: 2,
    }),
    buildAgentRow('sessions', one, {
      lastEventAt: question.askedAt,
      sprint: buildGlance(asking.progress.goal, {
        status: 'needs-human',
        iteration: 3,
        maxIterations: 20,
        verdicts: [...ok(2).slice(0, 2), { number: 3, verdict: 'needs-human' }],
        checks: { green: 1, all: 2 },
        spentUsd: 0.94,
        capUsd: 5,
        question: { id: question.id, reason: 'Postgres or Redis?', askedAt: question.askedAt },
        branch: 'ralph/sessions',
        diff: { added: 57, removed: 12 },
      }),
    }),
    buildAgentRow('web', one, {
      lastEventAt: Date.now() - 1000,
      sprint: buildGlance('Migrate the router', {
        mode: 'executing',
        iteration: 4,
        maxIterations: 30,
        verdicts: ok(3),
        checks: { green: 2, all: 3 },
        spentUsd: 1.02,
        capUsd: 5,
        branch: 'ralph/router',
        diff: { added: 88, removed: 240 },
      }),
    }),
    buildAgentRow('billing', one, {
      lastEventAt: Date.now() - 12 * minute,
      sprint: buildGlance('Raise test coverage to 90 %', {
        status: 'parked',
        iteration: 5,
        verdicts: [...ok(2).slice(0, 2), { number: 3, verdict: 'refused' }, ...ok(5).slice(3, 5)],
        checks: { green: 0, all: 1 },
        spentUsd: 4.77,
        parked: { reason: 'usage limit', until: Date.now() + 38 * minute },
        branch: 'ralph/coverage',
        diff: { added: 1240, removed: 0 },
      }),
    }),
    buildAgentRow('infra', four, {
      lastEventAt: Date.now() - 11 * minute,
      sprint: buildGlance('Terraform 1.9 upgrade', {
        iteration: 2,
        maxIterations: 20,
        verdicts: ok(1),
        spentUsd: 0.6,
        branch: 'ralph/tf19',
      }),
    }),
    buildAgentRow('search', three, {
      lastEventAt: Date.now() - 3 * 60 * minute,
      sprint: buildGlance('Make the index incremental', {
        status: 'failed',
        reason: 'the agent crashed 5 times in a row',
        iteration: 7,
        maxIterations: 20,
        verdicts: [...ok(5).slice(0, 5), { number: 6, verdict: 'failed' }, { number: 7, verdict: 'failed' }],
        spentUsd: 2.31,
        capUsd: 8,
        updatedAt: Date.now() - 3 * 60 * minute,
        branch: 'ralph/index',
        diff: { added: 301, removed: 77 },
      }),
    }),
    buildAgentRow('docs', one, { lastEventAt: Date.now() - 55 * minute }),
  ]
  const more = buildSprint('Raise test coverage to 90 %', createFakeId('agent billing'))
  return {
    machines,
    agents,
    sprints: [sprint, asking],
    iterations: new Map([
      [sprint.id, iterations],
      [asking.id, askingIterations],
    ]),
    events: new Map([[sprint.id, authEvents(sprint, iterations)]]),
    prompts: buildPrompts(createFakeId('agent api-server'), sprint.id),
    questions: [
      question,
      buildQuestion(more, 'billing', {
        id: createFakeId('question 2'),
        status: 'answered',
        reason: 'May I delete the flaky test?',
        details: '',
        options: ['Yes', 'No'],
        answer: 'No',
        answeredBy: 'Ada',
        answeredAt: Date.now() - 90 * minute,
        askedAt: Date.now() - 100 * minute,
      }),
    ],
  }
}

const ok = (count: number) => [
  ...Array.from({ length: count }, (_, n) => ({ number: n + 1, verdict: 'continue' as const })),
  { number: count + 1 },
]

const checks = (npmTest: boolean, tsc = true) => [
  { name: 'npm test', passed: npmTest },
  { name: 'tsc', passed: tsc },
]

const minutesTaken = [3.1, 5.3, 4.4, 7.6, 4.2, 2.2, 6, 6.2]
const limitWait = 38 * minute

/** The iterations follow each other up to the ninth, which has run for 3 minutes; after the fifth they waited for a limit. */
function at(number: number): { startedAt: number; endedAt: number } {
  const left = minutesTaken.slice(number - 1).reduce((sum, taken) => sum + taken, 0)
  const startedAt = Date.now() - (left + 3) * minute - (number <= 5 ? limitWait : 0)
  return { startedAt, endedAt: startedAt + (minutesTaken[number - 1] ?? 0) * minute }
}

/** What an iteration cost, and the tokens for it. */
const spend = (costUsd: number) => ({
  costUsd,
  usage: {
    inputTokens: Math.round(costUsd * 93_000),
    outputTokens: Math.round(costUsd * 10_100),
    cacheReadTokens: Math.round(costUsd * 517_000),
    cacheWriteTokens: Math.round(costUsd * 22_000),
  },
})

const iterations = [
  buildIteration(1, {
    mode: 'planning',
    ...at(1),
    checks: checks(false),
    ...spend(0.22),
    summary: 'Planned eight steps',
  }),
  buildIteration(2, { ...at(2), checks: checks(false), ...spend(0.44), summary: 'Auth module and the user table' }),
  buildIteration(3, { ...at(3), checks: checks(true), ...spend(0.36), summary: 'Registration with validation' }),
  buildIteration(4, {
    ...at(4),
    verdict: 'refused',
    checks: checks(false),
    ...spend(0.62),
    summary: 'Claimed that login is done',
  }),
  buildIteration(5, { ...at(5), checks: checks(true), ...spend(0.31), summary: 'Login returns a token pair' }),
  buildIteration(6, {
    mode: 'reflecting',
    ...at(6),
    changed: false,
    ...spend(0.12),
    summary: 'Looked again at what refresh must do',
  }),
  buildIteration(7, {
    ...at(7),
    checks: checks(true),
    ...spend(0.53),
    summary: 'Passwords are hashed with argon2',
  }),
  buildIteration(8, {
    ...at(8),
    verdict: 'refused',
    checks: [...checks(false), { name: 'review (codex)', passed: true }],
    review: { passed: true, summary: 'Reads well; the tests are the authority.' },
    ...spend(0.41),
    summary: 'Refresh rotation; claimed goal-complete',
  }),
]

function authSprint(agentId: string): FleetSprint {
  const texts = [
    'Auth module structure',
    'User table and migration',
    'Registration endpoint',
    'Login with JWT',
    'Password hashing',
    'Refresh rotation: reject reused tokens',
    'Logout revokes the family',
    'Document the endpoints',
  ]
  return buildSprint(goal, agentId, {
    branch: 'ralph/auth',
    diff: { added: 412, removed: 96 },
    progress: {
      rev: 214,
      sprintId: '2026-11-15_auth',
      agent: ['claude'],
      model: 'opus',
      doneWhen: [buildCheck({ run: 'npm test' }), buildCheck({ run: 'npx tsc --noEmit', name: 'tsc' })],
      review: { agent: 'codex' },
      limits: { iterations: 40, usd: 10 },
      checkpoint: true,
      perIterationHooks: [buildHook({ id: 'learning' }), buildHook({ id: 'docs', parallel: true })],
      hookTasks: [7, 8].flatMap((iteration) => [
        buildHookTask({
          iteration,
          hookId: 'learning',
          spawnedAt: Date.now() - 20 * minute,
          completedAt: Date.now() - 19 * minute,
          exitCode: 0,
        }),
        buildHookTask({
          iteration,
          hookId: 'docs',
          status: iteration === 7 ? 'failed' : 'completed',
          spawnedAt: Date.now() - 20 * minute,
          completedAt: Date.now() - 18 * minute,
          exitCode: iteration === 7 ? 1 : 0,
          ...(iteration === 7 && { error: 'docs/auth.md: 2 dead links' }),
        }),
      ]),
      dynamicSteps: texts.map((prompt, n) =>
        buildStep({
          id: `step-${n}`,
          prompt,
          status: n < 5 ? 'completed' : 'pending',
          ...(n < 5 && { completedInIteration: n + 2 }),
        }),
      ),
      live: [
        buildLive({
          number: 9,
          mode: 'executing',
          step: 'step-5',
          agent: 'claude',
          startedAt: Date.now() - 3 * minute,
          costUsd: 0.17,
        }),
      ],
      iterations,
      refusedBy: [{ ...green('npm test'), passed: false, exitCode: 1, output: '2 failed: logout revokes the family' }],
      stats: {
        startedAt: Date.now() - 90 * minute,
        currentIteration: 9,
        maxIterations: 40,
        totalSteps: 8,
        completedSteps: 5,
        costUsd: 3.18,
        usage: { inputTokens: 310_000, outputTokens: 41_000, cacheReadTokens: 1_530_000, cacheWriteTokens: 70_000 },
        activeMs: 42 * minute,
        updatedAt: Date.now() - 4000,
      },
    },
  })
}

const askingSprint = (agentId: string): FleetSprint =>
  buildSprint('Keep sessions when the server restarts', agentId, {
    branch: 'ralph/sessions',
    diff: { added: 57, removed: 12 },
    lastEventAt: Date.now() - 2 * minute,
    progress: {
      status: 'needs-human',
      agent: ['claude'],
      model: 'opus',
      doneWhen: [buildCheck({ run: 'npm test' }), buildCheck({ run: 'npx tsc --noEmit', name: 'tsc' })],
      limits: { iterations: 20, usd: 5 },
      iterations: askingIterations,
      stats: {
        startedAt: Date.now() - 20 * minute,
        currentIteration: 3,
        maxIterations: 20,
        costUsd: 0.94,
        activeMs: 14.4 * minute,
      },
    },
  })

const askingIterations = [
  buildIteration(1, { ...at(6), checks: checks(false), ...spend(0.31), summary: 'Read how sessions are kept' }),
  buildIteration(2, { ...at(7), checks: checks(false), ...spend(0.35), summary: 'Put the store behind an interface' }),
  buildIteration(3, { ...at(8), verdict: 'needs-human', checks: checks(false), ...spend(0.28), summary: 'Asks' }),
]

const buildPrompts = (agentId: string, sprintId: string) => [
  buildPrompt(agentId, 'Ralph Mode, iteration 9: Refresh rotation: reject reused tokens', {
    status: 'running',
    by: 'the loop',
    sprintId,
    iteration: 9,
    attempt: 1,
    startedAt: Date.now() - 3 * minute,
  }),
  buildPrompt(agentId, 'Use the helpers in test/support instead of new ones', { position: 2 }),
  buildPrompt(agentId, 'Then write a changelog entry', { position: 3, by: 'Grace' }),
  buildPrompt(agentId, 'Ralph Mode, iteration 8', {
    status: 'finished',
    by: 'the loop',
    sprintId,
    iteration: 8,
    attempt: 1,
    startedAt: Date.now() - 12 * minute,
    endedAt: Date.now() - 6 * minute,
    costUsd: 0.41,
    answer: 'All criteria are met; the sprint is complete.',
  }),
  buildPrompt(agentId, 'Summarise what is left', {
    status: 'failed',
    startedAt: Date.now() - 60 * minute,
    endedAt: Date.now() - 59 * minute,
    attempt: 2,
    error: 'the agent printed nothing for 10 minutes',
  }),
]
