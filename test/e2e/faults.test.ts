import { chmod, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { scaleForLoad } from '../support/pace.ts'
import { createTestSprint, waitUntil, type Answers, type Setup, type TestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'still at it' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'all tests pass' }
const question = {
  status: 'needs-human',
  summary: 's',
  humanNeeded: { reason: 'Which database?', details: 'staging or production', options: ['staging', 'production'] },
}
const events = (...lines: readonly unknown[]) => lines.map((line) => JSON.stringify(line))
const refusal = { type: 'result', subtype: 'success', is_error: true, api_error_status: 429, result: 'limit reached' }
const limit = (resetsAt: number) => ({
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', resetsAt, rateLimitType: 'five_hour', isUsingOverage: false },
})

type Fault = {
  readonly agent: string
  readonly answers: Answers
  readonly setup?: Setup['sprint']
  readonly starts: number
  readonly exitCode: number
  readonly status: string
  readonly reason?: RegExp
}

/** What a newcomer would try first (DESIGN §8), each with the shortest configurable timeouts. */
const faults: readonly Fault[] = [
  {
    agent: 'lies for ever',
    answers: { '*': goalComplete },
    setup: { 'done-when': [{ run: 'echo 3 of 4 are red; exit 1' }], limits: { 'no-progress': 2 } },
    starts: 3,
    exitCode: 2,
    status: 'needs-human',
    reason: /^No progress in 3 iterations/,
  },
  {
    agent: 'echoes its prompt for ever',
    answers: { '*': { echoes: true } },
    setup: { limits: { 'no-progress': 2 } },
    starts: 6,
    exitCode: 2,
    status: 'needs-human',
    reason: /^No progress in 3 iterations/,
  },
  {
    agent: 'answers nothing for ever',
    answers: { '*': '' },
    setup: { limits: { 'no-progress': 2 } },
    starts: 6,
    exitCode: 2,
    status: 'needs-human',
    reason: /^No progress in 3 iterations/,
  },
  {
    agent: 'hangs for ever',
    answers: { '*': { run: 'sleep 600' } },
    setup: { timeouts: { idle: scaleForLoad(0.5) } },
    starts: 3,
    exitCode: 1,
    status: 'failed',
    reason: /^hang: it printed nothing for too long, 3 times in a row$/,
  },
  {
    agent: 'gives its result, then hangs',
    answers: { '*': { report: goalComplete, lingers: true } },
    setup: { timeouts: { 'after-result': '500ms' } },
    starts: 1,
    exitCode: 0,
    status: 'completed',
  },
  {
    agent: 'asks a question',
    answers: { '*': question },
    starts: 1,
    exitCode: 2,
    status: 'needs-human',
    reason: /^Which database\?$/,
  },
  {
    agent: 'is not logged in',
    answers: { '*': { lines: events({ ...refusal, api_error_status: 401, result: 'Please run /login' }), exit: 1 } },
    starts: 1,
    exitCode: 2,
    status: 'needs-human',
    reason: /login/,
  },
]

it.each(faults)('an agent that $agent: $starts starts, exit code $exitCode, $status', async (fault) => {
  const sprint = await createTestSprint({ sprint: fault.setup ?? {}, answers: fault.answers })

  const { exitCode, stderr } = await sprint.run()

  expect({ exitCode, stderr }).toEqual({ exitCode: fault.exitCode, stderr: '' })
  expect(await sprint.calls()).toHaveLength(fault.starts)
  expect(sprint.processes()).toEqual([])
  const { status, reason } = await sprint.progress()
  expect(status).toBe(fault.status)
  expect(reason ?? '').toMatch(fault.reason ?? /^$/)
})

it('an agent that names unknown steps: they are ignored and recorded, the rest applies', async () => {
  const sprint = await createTestSprint({
    answers: {
      1: { ...proceed, pendingSteps: [{ id: null, prompt: 'alpha' }] },
      2: {
        ...proceed,
        completedStepIds: ['step-99', '<id of alpha>', '__proto__'],
        pendingSteps: [{ id: 'step-7', prompt: 'x' }],
      },
      3: { ...goalComplete, completedStepIds: ['<id of alpha>'] },
    },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const { iterations = [], ...progress } = await sprint.progress()
  expect(progress['dynamic-steps'].map(({ prompt, status }) => [prompt, status])).toEqual([['alpha', 'completed']])
  expect(iterations.map(({ rejected }) => rejected)).toEqual([
    undefined,
    [
      'completedStepIds names step-99, which is not pending',
      'completedStepIds names __proto__, which is not pending',
      'pendingSteps names step-7, which is not pending',
    ],
    ['completedStepIds names step-0, which is not pending'],
  ])
})

it('an agent at its usage limit: one start, parked, no iteration consumed, in this run and the next', async () => {
  const resetsAt = Math.ceil(Date.now() / 1000) + 7200
  const sprint = await createTestSprint({ answers: { '*': { lines: events(limit(resetsAt), refusal), exit: 1 } } })

  const first = sprint.startRun('--max-iterations', '1')
  await parked(sprint)
  first.signal('SIGINT')
  expect(await first.ended).toMatchObject({ exitCode: 4, stdout: expect.stringContaining('usage limit') })
  expect(await sprint.progress()).toMatchObject({
    status: 'paused',
    parked: { until: new Date(resetsAt * 1000).toISOString() },
    iterations: [],
    stats: { 'current-iteration': 1 },
  })

  const second = sprint.startRun('--max-iterations', '1')
  await waitUntil('it to say that it waits', () => second.printed().includes('waits until'))
  second.signal('SIGTERM')
  expect(await second.ended).toMatchObject({ exitCode: 130 })

  expect(await sprint.calls()).toHaveLength(1)
  expect((await sprint.ralph('status', 's')).stdout).toMatch(/resumes in (1 h 59 min|2 h 0 min)/)
})

it('an agent that keeps crashing is restarted with growing pauses', async () => {
  const sprint = await createTestSprint({ answers: { '*': { stderr: 'API Error 500\n', exit: 1 } } })
  const run = sprint.startRun()

  await waitUntil('it to wait for the third attempt', () => /next attempt in [45]/.test(run.printed()))
  run.signal('SIGTERM')

  expect(await run.ended).toMatchObject({
    exitCode: 130,
    stdout: expect.stringMatching(/crash: .*exit code 1.*500; next attempt in 2[\s\S]*500; next attempt in [45]/),
  })
  const [first, second, third] = (await sprint.calls()).map(({ startedAt }) => startedAt)
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(2000)
  expect(third).toBeUndefined()
  expect(await sprint.progress()).toMatchObject({
    status: 'interrupted',
    failure: { class: 'crash', count: 2 },
    stats: { 'current-iteration': 1 },
  })
})

it.each([
  ['short lines', 'exec yes'],
  ['one endless line', 'exec cat /dev/zero'],
  ['errors', 'exec yes >&2'],
])('an agent that floods us with %s is killed at 1 GiB, quickly and with little memory', async (_, flood) => {
  const sprint = await createTestSprint()
  await sprint.write('../bin/claude', `#!/bin/sh\ncat >/dev/null\n${flood}\n`)
  await chmod(sprint.at('../bin/claude'), 0o755)
  const run = sprint.startRun()
  const usage = measureProcess(run.pid)

  expect(await run.ended).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('printed more than allowed') })

  expect(await sprint.progress()).toMatchObject({ status: 'failed', stats: { 'current-iteration': 1 } })
  // Of its own CPU: what else the computer does is not its doing.
  expect((await usage).cpuSeconds).toBeLessThan(20)
  expect((await usage).megabytes).toBeLessThan(200)
  expect(sprint.processes()).toEqual([])
})

const parked = (sprint: TestSprint) =>
  waitUntil(
    'it to be parked',
    async () => sprint.has('s/PROGRESS.yaml') && (await sprint.progress()).status === 'parked',
  )

/** The peak memory of a process and its CPU time, sampled until it exits. */
async function measureProcess(pid: number): Promise<{ megabytes: number; cpuSeconds: number }> {
  let peak = { megabytes: 0, cpuSeconds: 0 }
  for (;;) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    const kilobytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN)
    if (Number.isNaN(kilobytes)) return peak
    const ticks = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')).replace(/^.*\) /s, '').split(' ')
    peak = { megabytes: kilobytes / 1024, cpuSeconds: (Number(ticks[11]) + Number(ticks[12])) / 100 }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
