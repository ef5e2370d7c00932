import { expect, it } from 'vitest'
import { scaleForLoad } from '../support/pace.ts'
import { readPacked } from '../support/packed.ts'
import { createTestSprint, waitUntil } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'still at it' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'all tests pass' }

it("refuses an agent that lies, and puts the check's output into the next prompt (row 135)", async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [{ run: 'echo "$((1 + 2)) of 4 are red" && test -f fixed', name: 'unit tests' }] },
    answers: { 1: goalComplete, 2: { run: 'touch fixed', report: goalComplete } },
  })

  const { exitCode, stdout } = await sprint.run()

  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/refused by unit tests[\s\S]*accepted by unit tests/)
  const [first, second] = (await sprint.calls()).map(({ prompt }) => prompt)
  expect(first).not.toContain('3 of 4 are red')
  expect(second).toContain('3 of 4 are red')
  expect((await sprint.iterations()).map(({ verdict, checks }) => ({ verdict, checks }))).toEqual([
    { verdict: 'refused', checks: [{ name: 'unit tests', passed: false }] },
    { verdict: 'accepted', checks: [{ name: 'unit tests', passed: true }] },
  ])
})

it('waits out a usage limit: no start before the reset, and no iteration counted', async () => {
  const limit = { status: 'rejected', resetsAt: '<in 5 s>', rateLimitType: 'five_hour', isUsingOverage: false }
  const refusal = { type: 'result', subtype: 'success', is_error: true, api_error_status: 429, result: 'limit reached' }
  const sprint = await createTestSprint({
    answers: {
      1: {
        lines: [{ type: 'rate_limit_event', rate_limit_info: limit }, refusal].map((e) => JSON.stringify(e)),
        exit: 1,
      },
      2: goalComplete,
    },
  })
  const run = sprint.startRun()
  await waitUntil(
    'the sprint to be parked',
    async () => sprint.has('s/PROGRESS.yaml') && (await sprint.progress()).status === 'parked',
  )
  const resetsAt = Number(/"resetsAt":(\d+)/.exec(await sprint.read('s/transcripts/iteration-1.jsonl'))?.[1]) * 1000
  expect((await sprint.progress()).parked?.until).toBe(new Date(resetsAt).toISOString())

  expect(await run.ended).toMatchObject({ exitCode: 0 })

  const calls = await sprint.calls()
  expect(calls).toHaveLength(2)
  expect(calls[1]?.startedAt).toBeGreaterThanOrEqual(resetsAt)
  expect(await sprint.iterations()).toEqual([expect.objectContaining({ number: 1, verdict: 'accepted', attempts: 2 })])
})

it.each([
  ['its prompt', 'g'],
  ['a report that stands in its goal', `End with\n\n\`\`\`json\n${JSON.stringify(goalComplete)}\n\`\`\``],
  ['the older form that stands in its goal', 'Say\nRALPH_COMPLETE: it works\nat the end'],
])('ignores a report from an agent that only echoes %s', async (_, goal) => {
  const sprint = await createTestSprint({ sprint: { goal, steps: ['alpha'] }, answers: { '*': { echoes: true } } })

  expect(await sprint.run('--max-iterations', '1')).toMatchObject({ exitCode: 3 })

  const progress = await sprint.progress()
  expect(progress['dynamic-steps']).toEqual([expect.objectContaining({ prompt: 'alpha', status: 'pending' })])
  expect(progress.iterations).toEqual([expect.objectContaining({ verdict: 'malformed' })])
})

it('asks an agent without progress to reflect, then asks a human', async () => {
  const sprint = await createTestSprint({
    sprint: { limits: { 'no-progress': 2 }, ralph: { 'idle-threshold': 10 } },
    answers: { 1: { run: 'echo x > new.txt', report: proceed }, '*': proceed },
  })

  expect(await sprint.run('--max-iterations', '9')).toMatchObject({ exitCode: 2 })

  const progress = await sprint.progress()
  expect(progress).toMatchObject({
    status: 'needs-human',
    'human-needed': { reason: expect.stringMatching(/progress/) },
  })
  expect(progress.iterations?.map(({ mode }) => mode)).toEqual(['planning', 'planning', 'planning', 'reflecting'])
})

it('kills a hanging agent in time, with everything it started, and retries', async () => {
  const sprint = await createTestSprint({
    sprint: { timeouts: { idle: scaleForLoad(1) } },
    answers: { 1: { run: 'setsid sleep 600 & sleep 600' }, 2: goalComplete },
  })

  const { exitCode, stdout } = await sprint.run()

  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/hang: .*printed nothing/)
  expect(sprint.processes()).toEqual([])
  expect(await sprint.iterations()).toEqual([expect.objectContaining({ number: 1, attempts: 2 })])
})

it('ends an agent that has answered but does not exit, and accepts its answer', async () => {
  const sprint = await createTestSprint({
    sprint: { timeouts: { 'after-result': '1s' } },
    answers: { 1: { report: goalComplete, lingers: true } },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  expect(readPacked(sprint.state()).get('1-1/ended')?.toString()).toBe('after-result\n')
  expect(sprint.processes()).toEqual([])
  expect(await sprint.calls()).toHaveLength(1)
})

it('shows the agent only the allowed environment, and runs it in the project', async () => {
  const sprint = await createTestSprint({
    env: { ANTHROPIC_API_KEY: 'k', FLAVOUR_A: 'x', SECRET_TOKEN: 's', CLAUDECODE: '1' },
    sprint: { env: { pass: ['FLAVOUR_*'] } },
    answers: { 1: goalComplete },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const [call] = await sprint.calls()
  expect(call?.cwd).toBe(sprint.at())
  expect(call?.env).toEqual(expect.arrayContaining(['PATH', 'HOME', 'ANTHROPIC_API_KEY', 'FLAVOUR_A']))
  expect(call?.env).not.toContain('SECRET_TOKEN')
  expect(call?.env).not.toContain('CLAUDECODE')
})
