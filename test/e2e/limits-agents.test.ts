import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { codexSays, prints, putProgram, reportBlock } from '../support/programs.ts'
import { createTestSprint, waitUntil, type TestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'by codex' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

/** Claude Code's output at its usage limit. */
const limited = (resetsAt: number | string) => ({
  lines: [
    {
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt, rateLimitType: 'five_hour', isUsingOverage: false },
    },
    { type: 'result', subtype: 'success', is_error: true, api_error_status: 429, result: 'limit reached' },
  ].map((event) => JSON.stringify(event)),
  exit: 1,
})
const inSeconds = (seconds: number) => Math.ceil(Date.now() / 1000) + seconds
const isParked = (sprint: TestSprint) =>
  waitUntil(
    'it to be parked',
    async () => sprint.has('s/PROGRESS.yaml') && (await sprint.progress()).status === 'parked',
  )

describe('agent: [claude, codex]', () => {
  it('switches when the first choice is at its limit, and returns to it, with a line each time', async () => {
    const sprint = await createTestSprint({
      sprint: { agent: ['claude', 'codex'] },
      answers: { 1: limited('<in 6 s>'), 2: goalComplete },
    })
    // Codex begins after claude has named the time, so the limit is over when it ends.
    await putProgram(
      sprint,
      'codex',
      ['cat >/dev/null', 'sleep 7.1', prints(...codexSays(reportBlock(proceed)))].join('\n'),
    )

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/! claude has reached its usage limit; codex takes over[\s\S]*claude takes over from codex/)
    expect((await sprint.iterations()).map(({ agent, verdict, attempts }) => [agent, verdict, attempts])).toEqual([
      ['codex', 'continue', 2],
      ['claude', 'accepted', 1],
    ])
  })

  it('parks when both are at their limits', async () => {
    const sprint = await createTestSprint({
      sprint: { agent: ['claude', 'codex'] },
      answers: { '*': limited(inSeconds(7200)) },
    })
    const message = "You've hit your usage limit. Try again in 5 hours."
    await putProgram(
      sprint,
      'codex',
      `cat >/dev/null\n${prints({ type: 'thread.started', thread_id: 't' }, { type: 'turn.failed', error: { message } })}\nexit 1`,
    )
    const run = sprint.startRun()
    await isParked(sprint)
    run.signal('SIGTERM')

    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(await sprint.calls()).toHaveLength(1)
    expect((await sprint.progress())['agent-limits']?.map(({ agent }) => agent)).toEqual(['claude', 'codex'])
  })

  it('warns about a fallback that is not installed, and works with the rest', async () => {
    const sprint = await createTestSprint({ sprint: { agent: ['claude', 'codex'] }, answers: { 1: goalComplete } })

    expect(await sprint.run()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('! fallback codex is not installed; skipping it'),
    })
  })

  it('--agent takes another agent out of a park', async () => {
    const sprint = await createTestSprint({ answers: { '*': limited(inSeconds(7200)) } })
    await putProgram(sprint, 'codex', `cat >/dev/null\n${prints(...codexSays(reportBlock(goalComplete)))}`)
    const run = sprint.startRun()
    await isParked(sprint)
    run.signal('SIGTERM')
    await run.ended

    expect(await sprint.run('--agent', 'codex')).toMatchObject({ exitCode: 0 })
    expect(await sprint.iterations()).toMatchObject([{ number: 1, agent: 'codex', verdict: 'accepted' }])
  })
})

describe('a usage limit', () => {
  const twoSprints = async (keys: readonly [string, string]) => {
    const home = await mkdtemp(join(tmpdir(), 'ralph-home-'))
    onTestFinished(() => rm(home, { recursive: true, force: true }))
    const env = (key: string) => ({ HOME: home, RALPH_HOME: join(home, 'ralph'), ANTHROPIC_API_KEY: key })
    const first = await createTestSprint({ env: env(keys[0]), answers: { '*': limited(inSeconds(7200)) } })
    const second = await createTestSprint({ env: env(keys[1]), answers: { '*': goalComplete } })
    const run = first.startRun()
    await isParked(first)
    return { first, second, run }
  }

  it('that one sprint hits parks the other sprints of the account without a start', async () => {
    const { second, run } = await twoSprints(['same', 'same'])
    const other = second.startRun()
    await isParked(second)

    await waitUntil('it to say why', () => other.printed().includes('as reported by another sprint'))
    expect(await second.calls()).toEqual([])
    run.signal('SIGTERM')
    other.signal('SIGTERM')
    await Promise.all([run.ended, other.ended])
  })

  it('does not affect another account', async () => {
    const { second, run } = await twoSprints(['mine', 'yours'])

    expect(await second.run()).toMatchObject({ exitCode: 0 })
    run.signal('SIGTERM')
    await run.ended
  })
})

describe('a missing report', () => {
  it('is requested once, in the same session, and that is not an iteration', async () => {
    const sprint = await createTestSprint({ answers: { 1: 'I did a lot.', 2: goalComplete } })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const [first, repair] = await sprint.calls()
    expect(first?.argv).not.toContain('--resume')
    expect(repair?.argv.slice(repair.argv.indexOf('--resume'))).toEqual([
      '--resume',
      `fake-${first?.pid}`,
      '--json-schema',
      expect.any(String),
    ])
    expect(repair?.prompt).toMatch(/^Your last message had no valid report/)
    expect(repair?.prompt).not.toContain('## Goal')
    expect(await sprint.iterations()).toMatchObject([
      { number: 1, verdict: 'accepted', attempts: 2, 'cost-usd': 0.02, usage: { 'input-tokens': 20 } },
    ])
  })

  it('twice is counted, with two starts for each of five iterations (C6)', async () => {
    const sprint = await createTestSprint({ answers: { '*': 'I did a lot.' } })

    expect(await sprint.run('--max-iterations', '5')).toMatchObject({ exitCode: 3 })

    const calls = await sprint.calls()
    expect(calls.map(({ argv }) => argv.includes('--resume'))).toEqual(
      Array.from({ length: 10 }, (_, index) => index % 2 === 1),
    )
    expect((await sprint.progress())['dynamic-steps']).toEqual([])
  })
})
