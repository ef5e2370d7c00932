import { existsSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { scaleForLoad } from '../support/pace.ts'
import { commandLines } from '../support/processes.ts'
import { waitUntil } from '../support/sprint.ts'
import { type Answer, reporting, type Turn } from '../support/stub-model/turn.ts'
import type { RealAgent } from './real-agents.ts'
import { createRealSprint, installed, type RealSprint } from './real-sprint.ts'

/** Installs ahead of the first test; if it fails, each test reports it. */
export const install = ({ installs }: RealAgent) =>
  beforeAll(async () => {
    await installed(installs).catch(() => {})
  }, 300_000)

export const claim = reporting({ status: 'goal-complete', summary: 'done', goalCompleteSummary: 'it works' })
const unauthorized: Turn = { status: 401, message: 'invalid x-api-key' }
const tooMany: Turn = { status: 429, headers: { 'retry-after': '1' } }

/** From the plan to the reached goal, with a false claim in between. */
export const completeSprint = (agent: RealAgent) =>
  it('takes a sprint from the plan to the reached goal, past a claim that a check refuses', async () => {
    const sprint = await createRealSprint(
      agent,
      [
        reporting({
          status: 'continue',
          summary: 'planned',
          pendingSteps: [
            { id: null, prompt: 'write greeting.txt' },
            { id: null, prompt: 'look at it' },
          ],
        }),
        { text: 'I write it.', calls: [{ write: 'greeting.txt', content: 'helo world\n' }] },
        reporting({ status: 'continue', summary: 'written', completedStepIds: ['step-0'] }),
        { calls: [{ run: 'cat greeting.txt' }] },
        reporting({
          status: 'goal-complete',
          summary: 'seen',
          completedStepIds: ['step-1'],
          goalCompleteSummary: 'it is there',
        }),
        { calls: [{ run: 'echo hello world > greeting.txt' }] },
        claim,
      ],
      { sprint: { 'done-when': [{ name: 'greeting', run: 'cat greeting.txt; grep -q "^hello" greeting.txt' }] } },
    )

    const { exitCode, stdout } = await sprint.run()

    expect({ exitCode, surprises: sprint.model.surprises }).toEqual({ exitCode: 0, surprises: [] })
    expect(stdout).toMatch(/refused by greeting[\s\S]*accepted by greeting/)
    expect(await sprint.read('greeting.txt')).toBe('hello world\n')
    expect((await sprint.progress())['dynamic-steps']).toMatchObject([
      { prompt: 'write greeting.txt', status: 'completed' },
      { prompt: 'look at it', status: 'completed' },
    ])
    expect((await sprint.iterations()).map(({ mode, verdict, attempts }) => `${mode} ${verdict} ${attempts}`)).toEqual([
      'planning continue 1',
      'executing continue 1',
      'executing refused 1',
      'planning accepted 1',
    ])
    const refusals = sprint.model.requests.map(({ text }) => /Refused: greeting.*helo world/s.test(text))
    expect(refusals.slice(0, 7)).toEqual([false, false, false, false, false, true, true])
  })

export const tooManyRequests = (agent: RealAgent) =>
  it('leaves two refusals with 429 to the agent, which retries by itself', async () => {
    const sprint = await createRealSprint(agent, [tooMany, tooMany, claim])

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(sprint.model.requests).toHaveLength(3)
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 1 }])
  })

export const notLoggedIn = (agent: RealAgent) =>
  it('asks a human when the key is refused', async () => {
    const sprint = await createRealSprint(agent, [unauthorized])

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(2)
    expect(stdout).toMatch(/ auth: /)
    expect(await sprint.progress()).toMatchObject({ status: 'needs-human', iterations: [] })
    expect(existsSync(sprint.state('attempts/1-2'))).toBe(false)
  })

/** `times`: more often than the agent itself retries. */
export const droppedStream = (agent: RealAgent, times: number) =>
  it('retries when the connection to the model breaks', async () => {
    const drops = Array.from({ length: times }, (): Turn => ({ midway: 'drop' }))
    const sprint = await createRealSprint(agent, [...drops, claim])

    const { exitCode, stdout } = await sprint.run()

    expect({ exitCode, requests: sprint.model.requests.length }).toEqual({ exitCode: 0, requests: times + 1 })
    expect(stdout).toMatch(/ network: .*next attempt in/)
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
  })

export const droppedOnce = (agent: RealAgent) =>
  it('leaves the retry to the agent when the connection to the model breaks once', async () => {
    const sprint = await createRealSprint(agent, [{ midway: 'drop' }, claim])

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(sprint.model.requests).toHaveLength(2)
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 1 }])
  })

/** `idle`: longer than it takes to start. */
export const hangingModel = (agent: RealAgent, seconds = 3) =>
  it('ends a silent attempt, and starts another', async () => {
    const idle = scaleForLoad(seconds)
    const sprint = await createRealSprint(agent, [{ midway: 'hang' }, claim], { sprint: { timeouts: { idle } } })

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/ hang: it printed nothing for too long; next attempt in/)
    expect(sprint.processes()).toEqual([])
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
  })

export const terminatedDuringTool = (agent: RealAgent) =>
  it('leaves no process behind when ralph is terminated while a tool runs', async () => {
    // A number that no other process has, to find even a process that lost its mark.
    const seconds = `98765.${process.pid}`
    const command = `touch begun; setsid sleep ${seconds} & sleep ${seconds}`
    const sprint = await createRealSprint(agent, [{ calls: [{ run: command }] }, claim])
    const run = sprint.startRun()
    await waitUntil('the tool to run', () => sprint.has('begun'))
    run.signal('SIGTERM')

    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(commandLines().filter((line) => line.includes(seconds))).toEqual([])
    expect(sprint.processes()).toEqual([])
    expect((await sprint.progress()).status).toBe('interrupted')

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
  })

type Repair = {
  readonly answer?: Answer
  readonly tokens?: Readonly<Record<string, number>>
  /** What only the second request contains: the question, or the form of the answer. */
  readonly held?: string
}

/** The usage of both attempts must count once, although the program may count from the beginning of the session. */
export const repair = (
  agent: RealAgent,
  {
    answer = claim,
    tokens = { 'input-tokens': 2000, 'output-tokens': 100 },
    held = 'had no valid report',
  }: Repair = {},
) =>
  it('asks for a missing report once more, in the same session', async () => {
    const usage = { input: 1000, output: 50 }
    const sprint = await createRealSprint(agent, [
      { text: 'All is well, I forgot the rest.', usage },
      { ...answer, usage },
    ])

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const [first, second] = sprint.model.requests.map(({ text }) => text)
    expect(first).not.toContain('I forgot the rest')
    expect(second).toContain('I forgot the rest')
    expect([first?.includes(held), second?.includes(held)]).toEqual([false, true])
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
    expect((await sprint.progress()).stats.usage).toMatchObject(tokens)
    expect(sprint.model.surprises).toEqual([])
  })

/** A report in which every field must be present. */
export const strictClaim = {
  status: 'goal-complete',
  summary: 'done',
  completedStepIds: [],
  pendingSteps: [],
  goalCompleteSummary: 'it works',
  humanNeeded: null,
}

/** `remembers`: what the session still knows of its task. */
export const messageDuringAttempt = (agent: RealAgent, remembers = 'touch begun; sleep 600') =>
  it('gets a message of the user at once, in the session that was interrupted for it', async () => {
    const sprint = await createRealSprint(agent, [{ calls: [{ run: 'touch begun; sleep 600' }] }, claim])
    const run = sprint.startRun()
    await waitUntil('the tool to run', () => sprint.has('begun'))

    expect(await sprint.ralph('tell', 's', 'Use argon2', '--now')).toMatchObject({ exitCode: 0 })

    expect(await run.ended).toMatchObject({ exitCode: 0 })
    const second = sprint.model.requests[1]?.text ?? ''
    expect(second).toContain(remembers)
    expect(second).toMatch(/You were interrupted.*Use argon2/s)
    expect(second.split('# Ralph: planning')).toHaveLength(2)
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
  })

export const messageAfterStop = (agent: RealAgent) =>
  it('resumes its session after a stop, if the user has sent a message in between', async () => {
    const sprint = await createRealSprint(agent, [{ calls: [{ run: 'touch begun; sleep 600' }] }, claim])
    const run = sprint.startRun()
    await waitUntil('the tool to run', () => sprint.has('begun'))
    await sprint.ralph('stop', 's', '--now')
    expect(await run.ended).toMatchObject({ exitCode: 130 })
    await sprint.ralph('tell', 's', 'Use argon2')

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(sprint.model.requests[1]?.text).toMatch(/touch begun; sleep 600.*You were interrupted.*Use argon2/s)
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
  })

/** Parked until the reset, started once more after it, and nothing is lost. */
export async function waitsOutTheLimit(sprint: RealSprint, over: number): Promise<void> {
  const run = sprint.startRun()
  await waitUntil(
    'the sprint to be parked',
    async () => sprint.has('s/PROGRESS.yaml') && (await sprint.progress()).status === 'parked',
  )

  const at = new Date(over).toISOString()
  expect(await sprint.progress()).toMatchObject({ iterations: [], parked: { until: at } })
  expect(await run.ended).toMatchObject({ exitCode: 0 })
  expect(sprint.model.requests).toHaveLength(2)
  expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
}

/** For agents that forget a session when they end: the whole prompt is sent again. */
export const repairFromTheStart = (agent: RealAgent) =>
  it('starts over when the session of a missing report is gone', async () => {
    const sprint = await createRealSprint(agent, [{ text: 'All is well, I forgot the rest.' }, claim])

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect(sprint.model.requests[1]?.text).not.toContain('I forgot the rest')
    expect(sprint.model.requests[1]?.text).toContain('# Ralph: planning')
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 3 }])
  })

/** For agents that do not report a reset time: Ralph checks again after a while. */
export const limitWithoutAnEnd = (agent: RealAgent, limit: Turn) =>
  it('parks the sprint for a while when a usage limit has no known end', async () => {
    const sprint = await createRealSprint(agent, [limit])
    const run = sprint.startRun()
    await waitUntil('the first attempt', () => sprint.model.requests.length > 0)
    await waitUntil('the sprint to be parked', async () => (await sprint.progress()).status === 'parked')
    run.signal('SIGTERM')

    expect(await run.ended).toMatchObject({ exitCode: 130, stdout: expect.stringContaining(' usage limit: ') })
    expect(await sprint.progress()).toMatchObject({ status: 'interrupted', iterations: [] })
  })

export const trial = (agent: RealAgent) =>
  it('can be tried before a sprint', async () => {
    const sprint = await createRealSprint(agent, [{ text: 'ready' }, unauthorized])

    const well = await sprint.ralph('agents', 'try', agent.name, '--json')
    expect({ exitCode: well.exitCode, ...JSON.parse(well.stdout) }).toMatchObject({
      exitCode: 0,
      agent: agent.name,
      answered: true,
      status: 'ok',
      class: null,
      text: 'ready',
    })

    const badly = await sprint.ralph('agents', 'try', agent.name)
    expect(badly).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('failed, auth: ') })
  })
