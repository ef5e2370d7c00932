import { spawnSync } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { ralphProgram } from '../support/paths.ts'
import { createTestSprint } from '../support/sprint.ts'

const goalComplete = JSON.stringify({ status: 'goal-complete', summary: 'done', goalCompleteSummary: 'it is there' })

it('any program that reads a prompt and prints a report can work on a sprint', async () => {
  const sprint = await createTestSprint({
    sprint: { agent: 'command:sh agent.sh --greeting', 'done-when': [{ run: 'grep hello greeting.txt' }] },
    files: {
      'agent.sh': `
        cat > prompt.txt
        if grep -q "Refused: grep" prompt.txt; then echo hello > greeting.txt; fi
        echo "I was started with $1."
        printf '\`\`\`json\\n%s\\n\`\`\`\\n' '${goalComplete}'
      `,
    },
  })

  const { exitCode, stdout } = await sprint.run()

  expect(exitCode).toBe(0)
  expect(stdout).toContain('I was started with --greeting.')
  expect((await sprint.iterations()).map(({ verdict, attempts }) => `${verdict} ${attempts}`)).toEqual([
    'refused 1',
    'accepted 1',
  ])
})

it('has no price if its tokens are unknown, even if its model has one', async () => {
  const sprint = await createTestSprint({
    sprint: { agent: 'command:sh agent.sh', model: 'opus' },
    files: { 'agent.sh': `printf '\`\`\`json\\n%s\\n\`\`\`\\n' '${goalComplete}'` },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect((await sprint.progress()).stats['cost-usd']).toBeNull()
})

it('a program that takes its prompt as an argument, and prints our own events, can work on a sprint', async () => {
  const script = `
    const [prompt] = process.argv.slice(2)
    const say = (event) => console.log(JSON.stringify(event))
    say({ kind: 'session', id: 's-1', model: 'none' })
    say({ kind: 'tool', phase: 'start', id: '1', name: 'count', argument: prompt.length + ' characters' })
    say({ kind: 'tool', phase: 'end', id: '1', ok: true })
    say({ kind: 'text', text: '\`\`\`json\\n' + ${JSON.stringify(goalComplete)} + '\\n\`\`\`' })
    say({ kind: 'usage', usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 } })
    say({ kind: 'terminal', ok: true })
  `
  const sprint = await createTestSprint({
    sprint: { agent: `command:${process.execPath} agent.mjs {prompt}` },
    files: { 'agent.mjs': script },
  })

  const { exitCode, stdout } = await sprint.run()

  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/→ count \d{4} characters/)
  expect((await sprint.progress()).stats.usage).toMatchObject({ 'input-tokens': 7, 'output-tokens': 3 })
})

it('turns a permission that Ralph cannot grant into a question, and passes the answer to the agent', async () => {
  const script = `
    import { createInterface } from 'node:readline'
    const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
    const say = (text) => send({ method: 'session/update', params: { sessionId: 's-1', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } })
    const options = [{ optionId: 'skip', name: 'Skip it', kind: 'reject_once' }, { optionId: 'no', name: 'Never', kind: 'reject_always' }]
    let prompt
    const answers = {
      initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
      'session/new': () => ({ sessionId: 's-1' }),
      'session/prompt': () => { send({ id: 'ask', method: 'session/request_permission', params: { sessionId: 's-1', toolCall: { toolCallId: 't', title: 'Deploy' }, options } }) },
    }
    createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, result } = JSON.parse(line)
      if (method === 'session/prompt') prompt = id
      const answer = answers[method]?.()
      if (answer) send({ id, result: answer })
      if (id !== 'ask') return
      const skipped = result.outcome.optionId === 'skip'
      if (skipped) say('\`\`\`json\\n' + ${JSON.stringify(goalComplete)} + '\\n\`\`\`')
      send({ id: prompt, result: { stopReason: skipped ? 'end_turn' : 'cancelled' } })
    })
  `
  const sprint = await createTestSprint({
    sprint: { agent: `acp:${process.execPath} agent.mjs` },
    files: { 'agent.mjs': script },
  })

  const { exitCode, stdout } = await sprint.run()
  expect(exitCode).toBe(2)
  expect(stdout).toContain('? The agent asks for a permission that Ralph cannot grant: Deploy')
  expect((await sprint.progress())['human-needed']).toMatchObject({ options: ['Skip it', 'Never'] })

  expect(await sprint.ralph('answer', 's', 'Skip it')).toMatchObject({ exitCode: 0 })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
})

it('a missing program is named before anything happens', async () => {
  const sprint = await createTestSprint({ sprint: { agent: 'command:./no-such-agent' } })

  expect(await sprint.run()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('the program "./no-such-agent" is not in the project'),
  })
})

describe('a program that is named by a path', () => {
  const sh = `#!/bin/sh\nprintf '\`\`\`json\\n%s\\n\`\`\`\\n' '${goalComplete}'\n`
  const acp = `#!${process.execPath}
    const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
    process.stdin.on('data', (data) => {
      for (const { id, method } of String(data).trim().split('\\n').map((line) => JSON.parse(line))) {
        if (method === 'initialize') send({ id, result: { protocolVersion: 1 } })
        if (method === 'session/new') send({ id, result: { sessionId: 's-1' } })
        if (method !== 'session/prompt') continue
        const text = '\`\`\`json\\n' + ${JSON.stringify(goalComplete)} + '\\n\`\`\`'
        const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
        send({ method: 'session/update', params: { sessionId: 's-1', update } })
        send({ id, result: { stopReason: 'end_turn' } })
      }
    })\n`

  it.each([
    ['as it is', 'command:./tools/agent', sh],
    ['with the prompt as an argument', 'command:./tools/agent {prompt}', sh],
    ['over the protocol', 'acp:./tools/agent', acp],
  ])('is taken from the project, no matter where ralph starts: %s', async (_, agent, program) => {
    const folder = '.claude/sprints/2026-01-18_x'
    const sprint = await createTestSprint({
      files: {
        [`${folder}/SPRINT.yaml`]: `workflow: ralph\ngoal: g\nagent: '${agent}'\n`,
        'tools/agent': program,
        'elsewhere/tools/agent': '#!/bin/sh\nexit 9\n',
      },
    })
    for (const name of ['tools/agent', 'elsewhere/tools/agent']) await chmod(sprint.at(name), 0o755)

    const run = spawnSync(process.execPath, [ralphProgram, 'run', sprint.at(folder), '--workflows', sprint.at('wf')], {
      cwd: sprint.at('elsewhere'),
      env: { PATH: process.env['PATH'], HOME: sprint.at('../home') },
      encoding: 'utf8',
    })

    expect(run).toMatchObject({ status: 0, stdout: expect.stringContaining('goal reached') })
  })
})
