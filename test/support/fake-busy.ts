import type { Sprint } from '../../src/contract/fleet/sprint.ts'
import { aCheck, aHook, aHookTask, aLive, aStep, green } from './builders.ts'
import {
  aGlance,
  aMachine,
  anAgentRow,
  anIteration,
  aPrompt,
  aQuestion,
  aSprint,
  type Fleet,
  idOf,
} from './fake-fleet.ts'
import { authEvents } from './fake-transcript.ts'

const minute = 60_000
const goal = 'Build JWT authentication: registration, login, refresh, logout'

/** A fleet in which everything happens that a page can show. */
export function busyFleet(): Fleet {
  const machines = [
    aMachine('vm-1', { running: 2, labels: ['gpu'] }),
    aMachine('vm-3', { running: 1 }),
    aMachine('vm-4', {
      reachable: false,
      lastSeenAt: Date.now() - 11 * minute,
      alarm: 'has not been heard of for 11 minutes',
      diskFreeBytes: 3e9,
    }),
  ]
  const [one, three, four] = machines
  if (!one || !three || !four) throw new Error('three machines')
  const sprint = authSprint(idOf('agent api-server'))
  const question = aQuestion(sprint, 'api-server')
  const verdicts = [...iterations.map(({ number, verdict }) => ({ number, verdict })), { number: 9 }]
  const agents = [
    anAgentRow('api-server', three, {
      sprint: aGlance(goal, {
        iteration: 9,
        maxIterations: 40,
        verdicts,
        checks: { green: 1, all: 2 },
        spentUsd: 3.18,
        capUsd: 10,
        question: { id: question.id, reason: 'Postgres or Redis?', askedAt: question.askedAt },
        branch: 'ralph/auth',
        diff: { added: 412, removed: 96 },
      }),
      queued: 2,
    }),
    anAgentRow('web', one, {
      lastEventAt: Date.now() - 1000,
      sprint: aGlance('Migrate the router', {
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
    anAgentRow('billing', one, {
      lastEventAt: Date.now() - 12 * minute,
      sprint: aGlance('Raise test coverage to 90 %', {
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
    anAgentRow('infra', four, {
      lastEventAt: Date.now() - 11 * minute,
      sprint: aGlance('Terraform 1.9 upgrade', {
        iteration: 2,
        maxIterations: 20,
        verdicts: ok(1),
        spentUsd: 0.6,
        branch: 'ralph/tf19',
      }),
    }),
    anAgentRow('search', three, {
      lastEventAt: Date.now() - 3 * 60 * minute,
      sprint: aGlance('Make the index incremental', {
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
    anAgentRow('docs', one, { lastEventAt: Date.now() - 55 * minute }),
  ]
  const more = aSprint('Raise test coverage to 90 %', idOf('agent billing'))
  return {
    machines,
    agents,
    sprints: [sprint],
    iterations: new Map([[sprint.id, iterations]]),
    events: new Map([[sprint.id, authEvents(sprint, iterations)]]),
    prompts: promptsOf(idOf('agent api-server'), sprint.id),
    questions: [
      question,
      aQuestion(more, 'billing', {
        id: idOf('question 2'),
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

const at = (number: number, parked = 0): { startedAt: number; endedAt: number } => {
  const startedAt = Date.now() - 90 * minute + (number - 1) * 6 * minute + parked
  return { startedAt, endedAt: startedAt + 5.4 * minute }
}

const limit = 38 * minute

const iterations = [
  anIteration(1, { mode: 'planning', ...at(1), checks: checks(false), costUsd: 0.22, summary: 'Planned eight steps' }),
  anIteration(2, { ...at(2), checks: checks(false), costUsd: 0.44, summary: 'Auth module and the user table' }),
  anIteration(3, { ...at(3), checks: checks(true), costUsd: 0.36, summary: 'Registration with validation' }),
  anIteration(4, {
    ...at(4),
    verdict: 'refused',
    checks: checks(false),
    costUsd: 0.62,
    summary: 'Claimed that login is done',
  }),
  anIteration(5, { ...at(5), checks: checks(true), costUsd: 0.31, summary: 'Login returns a token pair' }),
  anIteration(6, {
    mode: 'reflecting',
    ...at(6, limit),
    changed: false,
    costUsd: 0.12,
    summary: 'Looked again at what refresh must do',
  }),
  anIteration(7, { ...at(7, limit), checks: checks(true), costUsd: 0.53, summary: 'Passwords are hashed with argon2' }),
  anIteration(8, {
    ...at(8, limit),
    verdict: 'refused',
    checks: [...checks(false), { name: 'review (codex)', passed: true }],
    review: { passed: true, summary: 'Reads well; the tests are the authority.' },
    costUsd: 0.41,
    summary: 'Refresh rotation; claimed goal-complete',
  }),
]

function authSprint(agentId: string): Sprint {
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
  return aSprint(goal, agentId, {
    branch: 'ralph/auth',
    diff: { added: 412, removed: 96 },
    progress: {
      rev: 214,
      sprintId: '2026-11-15_auth',
      agent: ['claude'],
      model: 'opus',
      doneWhen: [aCheck({ run: 'npm test' }), aCheck({ run: 'npx tsc --noEmit', name: 'tsc' })],
      review: { agent: 'codex' },
      limits: { iterations: 40, usd: 10 },
      checkpoint: true,
      perIterationHooks: [aHook({ id: 'learning' }), aHook({ id: 'docs', parallel: true })],
      hookTasks: [7, 8].flatMap((iteration) => [
        aHookTask({
          iteration,
          hookId: 'learning',
          spawnedAt: Date.now() - 20 * minute,
          completedAt: Date.now() - 19 * minute,
          exitCode: 0,
        }),
        aHookTask({
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
        aStep({
          id: `step-${n}`,
          prompt,
          status: n < 5 ? 'completed' : 'pending',
          ...(n < 5 && { completedInIteration: n + 2 }),
        }),
      ),
      live: [
        aLive({
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
        activeMs: 41 * minute,
        updatedAt: Date.now() - 4000,
      },
    },
  })
}

const promptsOf = (agentId: string, sprintId: string) => [
  aPrompt(agentId, 'Ralph Mode, iteration 9: Refresh rotation: reject reused tokens', {
    status: 'running',
    by: 'the loop',
    sprintId,
    iteration: 9,
    attempt: 1,
    startedAt: Date.now() - 3 * minute,
  }),
  aPrompt(agentId, 'Use the helpers in test/support instead of new ones', { position: 2 }),
  aPrompt(agentId, 'Then write a changelog entry', { position: 3, by: 'Grace' }),
  aPrompt(agentId, 'Ralph Mode, iteration 8', {
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
  aPrompt(agentId, 'Summarise what is left', {
    status: 'failed',
    startedAt: Date.now() - 60 * minute,
    endedAt: Date.now() - 59 * minute,
    attempt: 2,
    error: 'the agent printed nothing for 10 minutes',
  }),
]
