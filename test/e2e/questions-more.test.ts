import { mkdir, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createTestSprint, waitUntil } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'on' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }
const question = {
  status: 'needs-human',
  summary: 's',
  humanNeeded: {
    reason: 'Which database?',
    details: 'It decides the schema.',
    options: ['staging', 'production'],
    default: 'staging',
  },
}
const shown = [
  '? Which database?',
  '  It decides the schema.',
  '    1. staging (default)',
  '    2. production',
  '',
].join('\n')

describe('a question', () => {
  it('is shown with its details, options and default wherever the sprint is shown', async () => {
    const sprint = await createTestSprint({ answers: { 1: question } })

    expect(await sprint.run()).toMatchObject({ exitCode: 2, stdout: expect.stringContaining(`\n${shown}`) })
    expect(await sprint.run()).toMatchObject({ exitCode: 2, stdout: expect.stringContaining(`\n${shown}`) })
    expect((await sprint.ralph('status', 's')).stdout).toContain(`\n${shown}`)
    expect((await sprint.progress())['human-needed']).toMatchObject(question.humanNeeded)
    expect(await sprint.calls()).toHaveLength(1)
  })

  it('is one event with all its details for programs', async () => {
    const sprint = await createTestSprint({ answers: { 1: question } })

    const { stdout } = await sprint.run('--json')

    const events = stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'question-asked', iteration: 1, ...question.humanNeeded }),
    )
  })

  it('without details or options is one line', async () => {
    const humanNeeded = { reason: 'No key', details: '' }
    const sprint = await createTestSprint({ answers: { 1: { ...question, humanNeeded } } })

    expect((await sprint.run()).stdout).toMatch(/\n\? No key\n\nanswer with: ralph answer s/)
  })

  it('of Ralph itself is answered in the same way; a run without an answer asks the agent again', async () => {
    const refusal = { type: 'result', is_error: true, api_error_status: 401, result: 'Please run /login' }
    const refused = { lines: [JSON.stringify(refusal)], exit: 1 }
    const sprint = await createTestSprint({ answers: { 1: refused, 2: refused, 3: goalComplete } })

    const signIn = { exitCode: 2, stdout: expect.stringMatching(/\? .*\/login/) }
    expect(await sprint.run()).toMatchObject(signIn)
    expect(await sprint.run()).toMatchObject(signIn)
    expect(await sprint.calls()).toHaveLength(2)
    await sprint.ralph('answer', 's', 'I have logged in')

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await sprint.iterations()).toMatchObject([{ number: 1, attempts: 3, verdict: 'accepted' }])
    expect((await sprint.calls())[2]?.prompt).toContain('Answer: I have logged in')
  })
})

describe('ralph tell', () => {
  it('is in the next prompt, once, while the agent keeps working', async () => {
    const sprint = await createTestSprint({
      answers: { 1: { waits: 'go', report: proceed }, 2: proceed, 3: goalComplete },
    })
    const run = sprint.startRun()
    await sprint.called(1)

    expect(await sprint.ralph('tell', 's', 'Use argon2, not $(bcrypt)')).toMatchObject({ exitCode: 0 })
    await sprint.requestsTaken()
    await sprint.release('go')

    expect(await run.ended).toMatchObject({ exitCode: 0 })
    const withMessage = (await sprint.calls()).map(({ prompt }) => prompt.includes('Use argon2, not $(bcrypt)'))
    expect(withMessage).toEqual([false, true, false])
    expect(await sprint.iterations()).toMatchObject([{ attempts: 1 }, { attempts: 1 }, { attempts: 1 }])
  })

  it('is kept for the next run if the sprint is not running', async () => {
    const sprint = await createTestSprint({ answers: { '*': goalComplete } })
    await sprint.compile()
    await sprint.ralph('tell', 's', 'Mind the tests')

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect((await sprint.calls())[0]?.prompt).toContain('Mind the tests')
  })

  it('that came too late for one run is sent in the next', async () => {
    const sprint = await createTestSprint({ answers: { 1: { waits: 'go', report: proceed }, 2: goalComplete } })
    const late = { type: 'tell', text: 'Better late than never', now: false }
    await sprint.compile()
    await mkdir(sprint.state('requests'))
    await writeFile(sprint.state('requests/1-late.json'), JSON.stringify(late))
    const stop = { type: 'stop', as: 'paused', when: 'now' }
    await writeFile(sprint.state('requests/2-late.json'), JSON.stringify(stop))
    const run = sprint.startRun()
    await sprint.called(1)
    await sprint.requestsTaken()
    await sprint.release('go')

    expect(await run.ended).toMatchObject({ exitCode: 0 })
    expect((await sprint.calls())[1]?.prompt).toContain('Better late than never')
  })

  it('--now interrupts the agent: the next attempt of the same iteration has the message', async () => {
    const sprint = await createTestSprint({ answers: { 1: { run: 'sleep 600' }, 2: goalComplete } })
    const run = sprint.startRun()
    await sprint.called(1)
    const [first] = sprint.processes()

    expect(await sprint.ralph('tell', 's', 'Stop touching the schema', '--now')).toMatchObject({ exitCode: 0 })

    expect(await run.ended).toMatchObject({ exitCode: 0 })
    expect(first).toBeDefined()
    expect(sprint.processes()).toEqual([])
    const calls = await sprint.calls()
    expect(calls).toHaveLength(2)
    expect(calls[1]?.prompt).toContain('Stop touching the schema')
    expect(await sprint.iterations()).toMatchObject([{ number: 1, attempts: 2, verdict: 'accepted' }])
  })

  it('--now without a running agent is for the next prompt', async () => {
    const sprint = await createTestSprint({ answers: { 1: { exit: 1 }, 2: goalComplete } })
    const run = sprint.startRun()
    await waitUntil('it to wait for the next attempt', () => run.printed().includes('next attempt in'))
    await sprint.ralph('tell', 's', 'Take your time', '--now')

    expect(await run.ended).toMatchObject({ exitCode: 0 })
    expect((await sprint.calls())[1]?.prompt).toContain('Take your time')
  })
})
