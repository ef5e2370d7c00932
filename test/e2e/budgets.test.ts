import { describe, expect, it } from 'vitest'
import { prints, putProgram, reportBlock } from '../support/programs.ts'
import { createTestSprint, type Play, type TestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'still at it' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

/** Each call of the fake agent costs one cent and fifteen tokens, and changes a different file. */
const works: Play = { run: 'echo x >> log.txt', report: proceed }

/** An agent that reports this usage in the middle of its work, and keeps working. */
const spendTokens = (model: string, output: number): Play => ({
  lines: [
    { type: 'system', subtype: 'init', session_id: 's', model },
    { type: 'assistant', message: { id: 'm', content: [], usage: { input_tokens: 1000, output_tokens: output } } },
  ].map((event) => JSON.stringify(event)),
  run: 'touch begun',
  sleep: 0,
  lingers: true,
})

describe('before an attempt', () => {
  it.each([
    ['money', { usd: 0.02 }, [], '$0.02 of $0.02 spent (limits.usd)'],
    ['tokens', { tokens: 30 }, [], '30 of 30 tokens (limits.tokens)'],
    ['iterations', { iterations: 2 }, [], '2 iterations (limits.iterations)'],
    ['money of this run', {}, ['--budget-usd', '0.02'], '$0.02 of $0.02 spent (limits.usd)'],
  ])('ends the sprint when %s is spent, and starts nothing in the next run', async (_, limits, flags, reason) => {
    const sprint = await createTestSprint({ sprint: { limits }, answers: { '*': works } })

    const { exitCode, stdout } = await sprint.run(...flags)

    expect(exitCode).toBe(3)
    expect(stdout).toContain(`limit reached: ${reason}`)
    expect(await sprint.calls()).toHaveLength(2)
    expect(await sprint.run(...flags)).toMatchObject({ exitCode: 3, stdout: expect.stringContaining(reason) })
    expect(await sprint.calls()).toHaveLength(2)
  })

  it('counts working time; a higher limit lets the sprint continue', async () => {
    const sprint = await createTestSprint({ answers: { '*': { sleep: 0.4, ...works }, 3: goalComplete } })

    expect(await sprint.run('--max-duration', '700ms')).toMatchObject({ exitCode: 3 })
    expect((await sprint.calls()).length).toBeLessThanOrEqual(2)
    await sprint.answer({ '*': goalComplete })
    expect(await sprint.run('--max-duration', '1h')).toMatchObject({ exitCode: 0 })
  })
})

describe('during an attempt', () => {
  const endsSoon = async (sprint: TestSprint, ...flags: readonly string[]) => {
    const started = performance.now()
    const ended = await sprint.run(...flags)
    expect(performance.now() - started).toBeLessThan(12_000)
    expect(sprint.processes()).toEqual([])
    return ended
  }

  it('ends the sprint at its token limit', async () => {
    const sprint = await createTestSprint({
      sprint: { limits: { tokens: 5000 } },
      answers: { '*': spendTokens('fake', 9000) },
    })

    expect(await endsSoon(sprint)).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('limit reached: 10000 of 5000 tokens (limits.tokens)'),
    })
    expect(await sprint.calls()).toHaveLength(1)
    expect(await sprint.progress()).toMatchObject({ status: 'limit-reached', live: [{ number: 1, stage: 'waiting' }] })
  })

  it('ends the sprint at its cost limit, estimated from the price of the model', async () => {
    const sprint = await createTestSprint({
      sprint: { limits: { usd: 1 }, prices: { costly: { input: 1000, output: 1000 } } },
      answers: { '*': spendTokens('costly-1', 9000) },
    })

    expect(await endsSoon(sprint)).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('limit reached: $10.00 of $1 spent (limits.usd)'),
    })
  })

  it('ends only the iteration at the token limit of an iteration', async () => {
    const sprint = await createTestSprint({
      sprint: { limits: { 'iteration-tokens': 5000 } },
      answers: { 1: spendTokens('fake', 9000), 2: goalComplete },
    })

    expect(await endsSoon(sprint)).toMatchObject({ exitCode: 0 })
    expect((await sprint.iterations()).map(({ verdict, summary }) => [verdict, summary])).toEqual([
      ['failed', 'it used more than its budget allows'],
      ['accepted', 'f'],
    ])
  })

  it('ends the sprint at its time limit', async () => {
    const sprint = await createTestSprint({ answers: { '*': { run: 'sleep 600' } } })

    expect(await endsSoon(sprint, '--max-duration', '1s')).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('limit reached: 1s of work (limits.duration)'),
    })
    expect(await sprint.calls()).toHaveLength(1)
  })
})

describe('the price', () => {
  /** A program that reports its usage but not its cost. */
  const unpriced = (model: string) =>
    [
      'cat >/dev/null; echo x >> log.txt',
      prints(
        { type: 'system', subtype: 'init', session_id: 's', model },
        {
          type: 'result',
          subtype: 'success',
          result: reportBlock(proceed),
          usage: { input_tokens: 1_000_000, output_tokens: 0 },
        },
      ),
    ].join('\n')

  it('is not zero if it is unknown, and a cost limit warns that it cannot be enforced', async () => {
    const sprint = await createTestSprint({ sprint: { limits: { usd: 5 } } })
    await putProgram(sprint, 'claude', unpriced('mystery-1'))

    const { exitCode, stdout } = await sprint.run('--max-iterations', '3')

    expect(exitCode).toBe(3)
    expect(stdout.match(/! some of the work has no known price/g)).toHaveLength(1)
    expect(stdout).toMatch(/^ {2}time .*, unpriced$/m)
    const progress = await sprint.progress()
    expect(progress.stats['cost-usd']).toBeNull()
    expect(progress.iterations).toMatchObject([{ 'cost-usd': null }, { 'cost-usd': null }, { 'cost-usd': null }])
    expect((await sprint.ralph('status', 's')).stdout).toMatch(
      /^1 +continue +planning +claude mystery-1 +1\.0M +0 +0 +unpriced /m,
    )
  })

  it('is estimated from the price list if the program does not report it, and marked', async () => {
    const sprint = await createTestSprint()
    await putProgram(sprint, 'claude', unpriced('claude-opus-9'))

    expect(await sprint.run('--max-iterations', '1')).toMatchObject({ exitCode: 3 })

    expect(await sprint.iterations()).toMatchObject([{ 'cost-usd': 5, 'cost-estimated': true, model: 'claude-opus-9' }])
    expect((await sprint.ralph('status', 's')).stdout).toContain('≈$5.00')
  })

  it("is the provider's figure if there is one, in the receipt and in the statistics", async () => {
    const sprint = await createTestSprint({ answers: { 1: works, 2: goalComplete } })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const { iterations, stats } = await sprint.progress()
    const receipt = {
      agent: 'claude',
      model: 'fake',
      attempts: 1,
      'cost-usd': 0.01,
      usage: { 'input-tokens': 10, 'output-tokens': 5, 'cache-read-tokens': 0, 'cache-write-tokens': 0 },
    }
    expect(iterations).toMatchObject([
      { ...receipt, verdict: 'continue', changed: true },
      { ...receipt, verdict: 'accepted', changed: false },
    ])
    expect(iterations?.[0]).not.toHaveProperty('cost-estimated')
    expect(stats).toMatchObject({ 'cost-usd': 0.02, usage: { 'input-tokens': 20, 'output-tokens': 10 } })
    const { stdout } = await sprint.ralph('status', 's')
    expect(stdout).toMatch(/^iteration 2 .* {2}\$0\.02 {2}20 in, 10 out$/m)
    expect(stdout).toMatch(/^1 +continue +planning +claude fake +10 +5 +0 +\$0\.01 +\d\.\d s +still at it$/m)
  })
})

it.each([
  ['usd: -1', { usd: -1 }],
  ['usd: 0', { usd: 0 }],
  ['tokens: 1.5', { tokens: 1.5 }],
  ['iterations: 1e300', { iterations: 1e300 }],
  ['duration: forever', { duration: 'forever' }],
  ['no-progress: 0', { 'no-progress': 0 }],
])('reports an invalid limit with its place: %s', async (_, limits) => {
  const sprint = await createTestSprint({ sprint: { limits }, answers: { '*': goalComplete } })

  expect(await sprint.run()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/SPRINT\.yaml:\d+:\d+ .*limits/),
  })
  expect(await sprint.calls()).toEqual([])
})
