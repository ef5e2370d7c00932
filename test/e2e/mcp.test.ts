import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { ralphProgram, root } from '../support/paths.ts'
import { createPhasesSprint } from '../support/phases-sprint.ts'
import { createTestSprint, waitUntil, type Setup, type TestSprint } from '../support/sprint.ts'

const claim = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }
const question = { status: 'needs-human', summary: 's', humanNeeded: { reason: 'Which?', details: 'a or b' } }

describe('for a user', () => {
  it('starts a sprint, shows its question, answers it and resumes', async () => {
    const { call } = await createAssistant({ answers: { 1: question, 2: claim } })

    expect(await call('list_sprints')).toEqual({
      sprints: [{ folder: '.claude/sprints/x', sprintId: 'x', status: 'not compiled' }],
    })
    expect(await call('start', { sprint: 'x', maxIterations: 9 })).toMatchObject({ folder: '.claude/sprints/x' })
    await waitUntil('the question', async () => (await call('status', { sprint: 'x' })).status === 'needs-human')
    expect(await call('status', { sprint: '.claude/sprints/x' })).toMatchObject({
      status: 'needs-human',
      question: { reason: 'Which?', details: 'a or b' },
      iterations: [{ number: 1, verdict: 'needs-human' }],
      costUsd: 0.01,
    })
    await waitUntil('the end of the run', async () => (await call('status', { sprint: 'x' })).running === false)
    expect(await call('answer', { sprint: 'x', answer: '--a, of course' })).toEqual({
      question: 'Which?',
      answer: '--a, of course',
    })
    await call('start', { sprint: 'x' })
    await waitUntil('the end of the run', async () => (await call('status', { sprint: 'x' })).running === false)
    expect(await call('status', { sprint: 'x' })).toMatchObject({ status: 'completed' })
  })

  it('messages and stops a running sprint', async () => {
    const { call, sprint } = await createAssistant({ answers: { 1: { waits: 'go', report: claim }, '*': claim } })

    expect(await call('start', { sprint: 'x' })).toMatchObject({ running: true })
    await sprint.called(1)
    expect(await call('start', { sprint: 'x' })).toMatchObject({ error: { code: 'SPRINT_LOCKED' } })
    expect(await call('tell', { sprint: 'x', text: 'hurry' })).toEqual({ told: 'hurry', now: false })
    expect(await call('stop', { sprint: 'x', when: 'now', pause: true })).toEqual({ requested: 'paused', when: 'now' })
    await waitUntil('it to rest', async () => (await call('status', { sprint: 'x' })).running === false)
    expect(await call('status', { sprint: 'x' })).toMatchObject({ status: 'paused' })
  })

  it('creates a sprint for a goal', async () => {
    const { call } = await createAssistant({ answers: { '*': claim } })

    const { folder } = await call('start', { goal: 'Say "hi"; rm -rf', agent: 'claude', budgetUsd: 3 })

    expect(folder).toMatch(/^\.claude\/sprints\/\d{4}-\d\d-\d\d_say-hi-rm-rf$/)
    await waitUntil('the end of the run', async () => (await call('status', { sprint: folder })).running === false)
    expect(await call('status', { sprint: folder })).toMatchObject({ status: 'completed' })
  })

  it('reports errors', async () => {
    const { call } = await createAssistant()
    const replies = []
    for (const [name, input] of [
      ['start', { sprint: 'x', agent: 'absent' }],
      ['start', {}],
      ['start', { sprint: 'x', maxIterations: -1 }],
      ['status', { sprint: 'nowhere' }],
      ['status', { sprint: 'x' }],
      ['stop', { sprint: 'x' }],
      ['finish', { summary: 's', evidence: 'e' }],
    ] as const)
      replies.push(await call(name, input))

    const error = (code: string, message = /./) => ({
      error: expect.objectContaining({ code, message: expect.stringMatching(message) }),
    })
    expect(replies).toEqual([
      expect.objectContaining({ running: false, exitCode: 1, output: expect.stringContaining('AGENT_UNKNOWN') }),
      error('USAGE', /missing sprint or goal/),
      error('USAGE', /maxIterations/),
      error('SPRINT_NOT_FOUND'),
      error('PROGRESS_NOT_FOUND'),
      error('NOT_RUNNING'),
      error('USAGE', /finish/),
    ])
  })
})

describe('for the agent of an attempt', () => {
  it('accepts a claim with evidence as the report, and still runs the checks', async () => {
    const sprint = await createTestSprint({ sprint: { 'done-when': [{ run: 'test -f done' }] } })
    const finish = toolCallCommand(sprint, 'finish', { summary: 'All done', evidence: 'make test: ok' })
    await sprint.answer({ 1: { run: finish, text: 'Bye.' }, 2: { run: `touch done; ${finish}`, text: 'Bye.' } })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect((await sprint.iterations()).map(({ verdict }) => verdict)).toEqual(['refused', 'accepted'])
    expect((await sprint.progress())['ralph-exit']).toMatchObject({
      'final-summary': 'All done\n\nEvidence: make test: ok',
    })
    const [first, second] = await readAnswers(sprint)
    expect(first).toMatchObject({
      tools: ['report_progress', 'ask_human', 'finish'],
      isError: false,
      answer: { recorded: 'goal-complete' },
    })
    expect(second?.token).not.toBe(first?.token)
  })

  it('adds steps, and asks the user', async () => {
    const sprint = await createTestSprint()
    const steps = { summary: 'planned', pendingSteps: [{ id: null, prompt: 'Dig' }] }
    const ask = { reason: 'Which?', details: 'a or b', options: ['a', 'b'] }
    await sprint.answer({
      1: { run: toolCallCommand(sprint, 'report_progress', steps), text: 'Bye.' },
      2: { run: toolCallCommand(sprint, 'ask_human', ask), text: 'Bye.' },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 2 })

    expect(await sprint.progress()).toMatchObject({
      'dynamic-steps': [{ prompt: 'Dig', status: 'pending' }],
      'human-needed': ask,
    })
  })

  it('ends a phase, which has no steps to report', async () => {
    const sprint = await createPhasesSprint([{ id: 'a', prompt: 'Task A.' }])
    const report = toolCallCommand(sprint, 'report_progress', { summary: 'half' })
    const finish = toolCallCommand(sprint, 'finish', { summary: 'All done', evidence: 'seen' })
    await sprint.answer({ 1: { run: `${report}; ${finish}`, text: 'Bye.' } })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect((await sprint.progress()).phases).toMatchObject([
      { status: 'completed', summary: 'All done\n\nEvidence: seen' },
    ])
    expect((await readAnswers(sprint)).map(({ isError }) => isError)).toEqual([true, false])
  })

  it('expires with the attempt, and reaches no other attempt', async () => {
    const sprint = await createTestSprint()
    const report = toolCallCommand(sprint, 'report_progress', { summary: 's' })
    await sprint.answer({ 1: { run: report, text: 'Bye.' }, 2: { waits: 'go', report: claim } })
    const run = sprint.startRun()
    await sprint.called(2)
    const [first] = await readAnswers(sprint)
    const token = first?.token ?? ''
    const [, secret = ''] = token.split('.')
    const other = `${Buffer.from(sprint.state('attempts/2-1')).toString('base64url')}.${secret}`

    expect([await startRefusal(token), await startRefusal(other), await startRefusal('x')]).toEqual([
      expect.stringContaining('error NOT_RUNNING'),
      expect.stringContaining('error TOKEN_INVALID'),
      expect.stringContaining('error TOKEN_INVALID'),
    ])
    await sprint.release('go')
    expect(await run.ended).toMatchObject({ exitCode: 0 })
  })

  it('has no tools for other sprints, even if started without --attempt', async () => {
    const { ralph } = await createTestSprint({ env: { RALPH_MCP_TOKEN: 'any' } })
    const { stdout } = await ralph('mcp', '--json')

    const { tools } = z.object({ tools: z.array(z.object({ name: z.string() })) }).parse(JSON.parse(stdout))
    expect(tools.map(({ name }) => name)).toEqual(['report_progress', 'ask_human', 'finish'])
  })
})

it.each(['ignore', 'pipe'] as const)('ends when the client is gone (%s)', (stdin) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [ralphProgram, 'mcp'], {
    stdio: [stdin, 'pipe', 'pipe'],
    encoding: 'utf8',
  })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
})

it('adds no cost to other commands: only the server loads the SDK', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const having = (pattern: RegExp) =>
    files.filter((file) => pattern.test(readFileSync(join(root, 'src', file), 'utf8')))

  expect(having(/'@modelcontextprotocol\//)).toEqual(['cli/mcp/serve.ts'])
  expect(having(/from '[./]*(mcp\/)?serve\.ts'/)).toEqual([])
})

/** A client of `ralph mcp` in a project with the sprint `x`. */
async function createAssistant(setup: Setup = {}) {
  const text = 'workflow: ralph\ngoal: g\ndone-when: []\n'
  const sprint = await createTestSprint({ ...setup, files: { '.claude/sprints/x/SPRINT.yaml': text } })
  const client = new Client({ name: 'assistant', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ralphProgram, 'mcp'],
    cwd: sprint.at(),
    env: attemptEnvironment(sprint),
  })
  onTestFinished(() => client.close())
  await client.connect(transport)
  const call = async (name: string, input: Readonly<Record<string, unknown>> = {}) => {
    const result = await client.callTool({ name, arguments: { ...input } })
    return parseAnswer(result)
  }
  return { sprint, call }
}

const Answer = z.looseObject({
  status: z.string().optional(),
  running: z.unknown().optional(),
  folder: z.string().optional(),
})

function parseAnswer(result: unknown) {
  const { content } = z.object({ content: z.tuple([z.object({ text: z.string() })]) }).parse(result)
  return Answer.parse(JSON.parse(content[0].text))
}

const attemptEnvironment = (sprint: TestSprint): Record<string, string> => ({
  PATH: [sprint.at('..', 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
  HOME: sprint.at('..', 'home'),
  IS_SANDBOX: '1',
})

/** A shell command that calls a tool, for the fake agent. */
function toolCallCommand(sprint: TestSprint, name: string, input: object): string {
  const words = [process.execPath, join(root, 'test/fixtures/agents/mcp-call.mjs'), ralphProgram, sprint.at('answers')]
  return [...words, name, JSON.stringify(input)].map((word) => `'${word}'`).join(' ')
}

const AnsweredCalls = z.looseObject({ token: z.string() })

const readAnswers = async (sprint: TestSprint) =>
  (await sprint.read('answers'))
    .trimEnd()
    .split('\n')
    .map((line) => AnsweredCalls.parse(JSON.parse(line)))

/** The output of `ralph mcp --attempt` when it refuses to start. */
async function startRefusal(token: string): Promise<string> {
  try {
    execFileSync(process.execPath, [ralphProgram, 'mcp', '--attempt'], {
      env: { RALPH_MCP_TOKEN: token },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return 'it starts'
  } catch (error) {
    return z.object({ stderr: z.string() }).parse(error).stderr
  }
}
