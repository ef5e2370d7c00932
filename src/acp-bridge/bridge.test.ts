import { describe, expect, it } from 'vitest'
import { bridge } from './bridge.ts'
import { parseBridgeOptions } from './options.ts'
import { createWireLog } from './wire-log.ts'

/** An agent of a few lines: answers each request with the result of the given functions. */
const writeAgent = (answers: string) => `
  const answers = ${answers}
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  const update = (update) => send({ method: 'session/update', params: { sessionId: 's-1', update } })
  const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
  const waiting = new Map()
  const ask = (method, params) => new Promise((done) => { waiting.set(String(waiting.size), done); send({ id: String(waiting.size - 1), method, params }) })
  let rest = ''
  process.stdin.on('data', async (data) => {
    const lines = (rest + data).split('\\n')
    rest = lines.pop()
    for (const line of lines) {
      const { id, method, params, result } = JSON.parse(line)
      if (method === undefined) waiting.get(id)?.(result)
      else if (answers[method]) void Promise.resolve(answers[method](params, { send, say, ask, update })).then((result) => id !== undefined && send({ id, ...result }))
    }
  })
  process.stdin.on('end', () => process.exit())`

const greeting = `
  initialize: () => ({ result: { protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] } }),
  'session/new': () => ({ result: { sessionId: 's-1' } }),`

/** An agent that asks for a permission with these options, and reports which one it got. */
const asking = (options: string) =>
  writeAgent(`{ ${greeting} 'session/prompt': async (_, { ask, say }) => {
    const { outcome } = await ask('session/request_permission', { sessionId: 's-1', toolCall: { toolCallId: 't', title: 'rm -rf', rawInput: { path: '/' } }, options: ${options} })
    say(outcome.optionId ?? outcome.outcome); return { result: { stopReason: outcome.optionId ? 'end_turn' : 'cancelled' } } },
    'session/cancel': () => ({}) }`)

/** `stopAt`: stops the bridge as soon as this is on the wire. */
async function run(script: string, { args = [], stopAt }: { args?: readonly string[]; stopAt?: string } = {}) {
  const lines: string[] = []
  const stop = new AbortController()
  const write = (line: string) => {
    lines.push(line)
    if (stopAt !== undefined && line.includes(stopAt)) setImmediate(() => stop.abort())
  }
  const where = ['--cwd', process.cwd(), '--grace-ms', '200']
  const options = parseBridgeOptions([...where, ...args, '--', process.execPath, '-e', script])
  const code = await bridge(
    options,
    'Hello',
    createWireLog(write, () => 0),
    stop.signal,
  )
  return { code, log: lines.map((line) => JSON.parse(line)) }
}

describe('a turn over the protocol', () => {
  it('is logged message by message', async () => {
    const { code, log } = await run(
      writeAgent(
        `{ ${greeting} 'session/prompt': async ({ prompt }, { say }) => { say(prompt[0].text + '!'); return { result: { stopReason: 'end_turn' } } } }`,
      ),
    )

    expect(code).toBe(0)
    expect(log.map(({ dir, m }) => `${dir} ${m.method ?? `answer ${m.id}`}`)).toEqual([
      '-> initialize',
      '<- answer 0',
      '-> session/new',
      '<- answer 1',
      '-> session/prompt',
      '<- session/update',
      '<- answer 2',
    ])
    expect(log[5].m.params.update.content.text).toBe('Hello!')
  })

  it('allows what the agent asks for', async () => {
    const { log } = await run(
      writeAgent(`{ ${greeting} 'session/prompt': async (_, { ask, say }) => {
        const { outcome } = await ask('session/request_permission', { sessionId: 's-1', toolCall: { toolCallId: 't' }, options: [
          { optionId: 'no', name: 'No', kind: 'reject_once' }, { optionId: 'always', name: 'Always', kind: 'allow_always' }, { optionId: 'yes', name: 'Yes', kind: 'allow_once' }] })
        say(outcome.optionId); return { result: { stopReason: 'end_turn' } } } }`),
    )

    expect(log.at(-2).m.params.update.content.text).toBe('yes')
  })

  it('chooses the option that the user chose', async () => {
    const { log } = await run(
      asking(
        `[{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }, { optionId: 'no', name: 'No, explain', kind: 'reject_once' }]`,
      ),
      {
        args: ['--answer', 'no, explain '],
      },
    )

    expect(log.at(-2).m.params.update.content.text).toBe('no')
  })

  it('ends with a question, after a while, if no option allows the call', async () => {
    const { code, log } = await run(
      asking(
        `[{ optionId: 'no', name: 'No', kind: 'reject_once' }, { optionId: 'never', name: 'Never', kind: 'reject_always' }]`,
      ),
      { args: ['--ask-after-ms', '50'] },
    )

    expect(code).toBe(0)
    expect(log.find((entry) => 'bridge' in entry)).toEqual({
      t: 0,
      bridge: 'question',
      reason: 'The agent asks for a permission that Ralph cannot grant: rm -rf',
      details: 'None of its options allows it. It would be called with {"path":"/"}.',
      options: ['No', 'Never'],
    })
    expect(log.some(({ m }) => m?.method === 'session/cancel')).toBe(true)
    expect(log.at(-1).m.result.stopReason).toBe('cancelled')
  })

  it('ends with a question even if the agent does not end the turn', async () => {
    const deaf = asking(`[{ optionId: 'no', name: 'No', kind: 'reject_once' }]`).replace(
      "'session/cancel':",
      "'nothing':",
    )
    const { code, log } = await run(deaf.replace('return { result', 'await new Promise(() => {}); return { result'), {
      args: ['--ask-after-ms', '50'],
    })

    expect(code).toBe(0)
    expect(log.filter((entry) => entry.bridge === 'question')).toHaveLength(1)
  })

  it('does not become a question if the agent continues without an answer', async () => {
    const impatient = `{ ${greeting} 'session/prompt': async (_, { ask }) => {
      void ask('session/request_permission', { sessionId: 's-1', toolCall: { toolCallId: 't' }, options: [] })
      return { result: { stopReason: 'end_turn' } } } }`
    const { code, log } = await run(writeAgent(impatient), { args: ['--ask-after-ms', '5000'] })

    expect(code).toBe(0)
    expect(log.filter((entry) => 'bridge' in entry)).toEqual([])
  })

  it('loads the session to resume', async () => {
    const { log } = await run(
      writeAgent(
        `{ ${greeting} 'session/load': () => ({ result: {} }), 'session/prompt': () => ({ result: { stopReason: 'end_turn' } }) }`,
      ),
      { args: ['--resume', 's-7'] },
    )

    expect(log[2].m).toMatchObject({ method: 'session/load', params: { sessionId: 's-7', cwd: process.cwd() } })
    expect(log[4].m.params.sessionId).toBe('s-7')
  })

  it('refuses a model that the agent does not have', async () => {
    const { code, log } = await run(
      writeAgent(
        `{ ${greeting} 'session/new': () => ({ result: { sessionId: 's-1', configOptions: [{ id: 'm', name: 'Model', category: 'model', type: 'select', currentValue: 'a', options: [{ value: 'a', name: 'A' }] }] } }) }`,
      ),
      { args: ['--model', 'b'] },
    )

    expect(code).toBe(1)
    expect(log.at(-1)).toEqual({ t: 0, bridge: 'refused', reason: 'the agent has no model "b"; it has a' })
  })

  it('refuses another version of the protocol', async () => {
    const { log } = await run(writeAgent(`{ initialize: () => ({ result: { protocolVersion: 9 } }) }`))

    expect(log.at(-1)).toMatchObject({ bridge: 'refused' })
  })

  it('ends when the agent does', async () => {
    const { code, log } = await run(writeAgent(`{ ${greeting} 'session/prompt': () => process.exit(3) }`))

    expect(code).toBe(1)
    expect(log.at(-1)).toEqual({ t: 0, bridge: 'agent-exited', reason: 'the agent ended with exit code 3' })
  })

  it('reports that the program cannot be started', async () => {
    const lines: string[] = []
    const options = parseBridgeOptions(['--', '/no/such/agent'])
    const code = await bridge(
      options,
      '',
      createWireLog(
        (line) => void lines.push(line),
        () => 0,
      ),
      new AbortController().signal,
    )

    expect(code).toBe(127)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ bridge: 'not-found' })
  })

  it('cancels the turn on a stop signal', async () => {
    const { log } = await run(
      writeAgent(
        `{ ${greeting} 'session/prompt': () => new Promise((done) => (answers.stop = done)), 'session/cancel': () => answers.stop({ result: { stopReason: 'cancelled' } }) }`,
      ),
      { stopAt: 'session/prompt' },
    )

    expect(log.at(-1).m.result.stopReason).toBe('cancelled')
  })

  it('ends an agent that neither cancels nor exits', async () => {
    const { code } = await run(
      `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); ${writeAgent(`{ ${greeting} 'session/prompt': () => new Promise(() => {}) }`).replace("process.stdin.on('end', () => process.exit())", '')}`,
      { stopAt: 'session/prompt' },
    )

    expect(code).toBe(143)
  })
})
