import { describe, expect, it } from 'vitest'
import { recorded, replay } from '../../../test/fixtures/transcripts/recorded.ts'
import { acpDriver } from './acp.ts'
import { getDriver } from './registry.ts'

const spec = { cwd: '/project', folder: '/attempt', sprintDir: '/sprint' }
const buildCommand = (name: string, more: object = {}) => {
  const { args } = getDriver(name).command({ ...spec, ...more })
  expect(args[0]).toMatch(/\/acp-bridge\/main\.js$/)
  return args.slice(1).join(' ')
}
const line = (dir: '->' | '<-', m: object) => JSON.stringify({ t: 1, dir, m })
const update = (fields: object) => line('<-', { method: 'session/update', params: { update: fields } })
const say = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
const cost = (amount: number) => update({ sessionUpdate: 'usage_update', cost: { amount, currency: 'USD' } })
const bridge = (what: string) => JSON.stringify({ t: 1, bridge: what, reason: 'because' })
const readOutcome = (lines: readonly string[]) =>
  replay(acpDriver(''), { lines, exit: { code: 0, signal: null, stderrTail: '' } }).outcome

describe('the command of an agent', () => {
  it('is preset for known agents', () => {
    expect(buildCommand('acp:claude')).toBe('--cwd /project -- claude-agent-acp')
    expect(buildCommand('acp:opencode')).toBe('--cwd /project -- opencode acp')
    expect(buildCommand('acp:gemini')).toBe(
      '--cwd /project --auth gemini-api-key=GEMINI_API_KEY -- gemini --acp --skip-trust',
    )
  })

  it('is given by the user for any other', () => {
    expect(buildCommand('acp: my-agent --stdio', { model: 'big', resume: 'abc' })).toBe(
      '--cwd /project --model big --resume abc -- my-agent --stdio',
    )
    expect(getDriver('acp:my-agent --stdio')).toMatchObject({
      name: 'acp:my-agent --stdio',
      program: 'my-agent',
      env: [],
    })
  })

  it('takes a program that is named by a path from the project', () => {
    expect(buildCommand('acp:./my-agent --stdio', { cwd: '/worktree', project: '/project' })).toBe(
      '--cwd /worktree -- /project/my-agent --stdio',
    )
  })

  it('passes the answer of the user, even if it looks like an option', () => {
    expect(buildCommand('acp:my-agent', { answer: '-y' })).toBe('--cwd /project --answer=-y -- my-agent')
  })

  it('is required to start an agent, but not to read its output', () => {
    expect(() => acpDriver('').command(spec)).toThrowError(expect.objectContaining({ code: 'USAGE' }))
  })
})

describe('the output of an agent over the protocol', () => {
  const prompt = line('->', { id: 2, method: 'session/prompt', params: {} })
  const answer = (result: object) => line('<-', { id: 2, result })

  it('becomes text, and tools once their input is known', () => {
    const tool = recorded('acp').find(({ name }) => name === 'claude-tool.jsonl')!
    const { events } = replay(acpDriver(''), tool)

    expect(events.filter(({ kind }) => kind === 'tool')).toMatchObject([
      { phase: 'start', name: 'Write', argument: '/sandbox/acp-claude-tool/work/hello.txt' },
      { phase: 'end', name: 'Write', ok: true },
      { phase: 'start', name: 'Bash', argument: 'cat hello.txt && echo "pwd=$PWD" && exit 0' },
      { phase: 'end', name: 'Bash', ok: true, output: 'hello from the stubpwd=/sandbox/acp-claude-tool/work' },
    ])
  })

  it('leaves out the history that a loaded session replays', () => {
    const loaded = line('->', { id: 1, method: 'session/load', params: { sessionId: 's-1' } })

    expect(readOutcome([loaded, say('old'), prompt, say('new'), answer({ stopReason: 'end_turn' })])).toMatchObject({
      status: 'ok',
      text: 'new',
      sessionId: 's-1',
    })
  })

  it.each([
    ['max_tokens', { status: 'failed', class: 'context' }],
    ['max_turn_requests', { status: 'failed', class: 'max_turns' }],
    ['refusal', { status: 'failed', class: 'unknown', retryable: false }],
    ['cancelled', { status: 'aborted' }],
    ['something_new', { status: 'failed', class: 'protocol' }],
  ])('ends with %s', (stopReason, expected) => {
    expect(readOutcome([prompt, answer({ stopReason })])).toMatchObject(expected)
  })

  it('costs what is new, and is unpriced if the difference is unknown', () => {
    const resumed = line('->', { id: 1, method: 'session/resume', params: { sessionId: 's-1' } })
    const end = answer({ stopReason: 'end_turn' })

    expect(readOutcome([prompt, cost(0.5), cost(0.75), end]).costUsd).toBe(0.75)
    expect(readOutcome([resumed, cost(0.5), prompt, cost(0.75), end]).costUsd).toBe(0.25)
    expect(readOutcome([resumed, prompt, cost(0.75), end]).costUsd).toBeUndefined()
  })

  it('reports what the bridge could not do', () => {
    expect(readOutcome([bridge('not-found')])).toMatchObject({ class: 'not_found', reason: 'because' })
    expect(readOutcome([bridge('refused')])).toMatchObject({ class: 'unknown', retryable: false })
  })

  it.each(['cancelled', 'end_turn'])(
    'can be something that only a person can decide, whatever it says then: %s',
    (stopReason) => {
      const question = { reason: 'May it?', details: 'It would.', options: ['No', 'Never'] }
      const questionLine = JSON.stringify({ t: 1, bridge: 'question', ...question })

      expect(readOutcome([prompt, questionLine, answer({ stopReason })])).toMatchObject({
        status: 'failed',
        class: 'tool_denied',
        reason: 'May it?',
        question,
      })
    },
  )

  it.each([
    [{ loadSession: true }, true],
    [{ sessionCapabilities: { resume: {} } }, true],
    [{ loadSession: false, sessionCapabilities: {} }, false],
    [{}, false],
  ])('is resumable if the agent says so: %j', (agentCapabilities, resumable) => {
    const began = [
      line('->', { id: 0, method: 'initialize', params: {} }),
      line('<-', { id: 0, result: { protocolVersion: 1, agentCapabilities } }),
      line('->', { id: 1, method: 'session/new', params: {} }),
      line('<-', { id: 1, result: { sessionId: 's-1' } }),
    ]

    expect(readOutcome([...began, prompt, answer({ stopReason: 'end_turn' })])).toMatchObject({
      sessionId: 's-1',
      resumable,
    })
  })
})
