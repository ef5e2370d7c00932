import { describe, expect, it } from 'vitest'
import { recorded, replay } from '../../../test/fixtures/transcripts/recorded.ts'
import { noUsage } from '../../contract/outcome.ts'
import { claude } from './claude.ts'
import type { Exit } from '../readers/outcome.ts'

const buildExit = (exit: Partial<Exit> = {}): Exit => ({ code: 0, signal: null, stderrTail: '', ...exit })
const line = (entry: unknown) => JSON.stringify(entry)
const buildResult = (fields: object = {}) =>
  line({ type: 'result', subtype: 'success', is_error: false, terminal_reason: 'completed', result: 'done', ...fields })
const readOutcome = (lines: readonly string[], exit = buildExit()) => replay(claude, { lines, exit }).outcome
const ended = (why: NonNullable<Exit['ended']>) =>
  readOutcome([], buildExit({ code: null, signal: 'SIGKILL', ended: why }))
const spent = (costUSD: number) => ({ m: { inputTokens: 10, outputTokens: 1, costUSD } })
const say = (text: string, parent: string | null) =>
  line({ type: 'assistant', parent_tool_use_id: parent, message: { id: text, content: [{ type: 'text', text }] } })

describe('the output of Claude Code', () => {
  it('becomes text, tools with input and result, usage and the end of a turn', () => {
    const tool = recorded('claude').find(({ name }) => name === 'tool.jsonl')!
    const { events, outcome } = replay(claude, tool)

    expect(events.map(({ kind }) => kind).join(' ')).toBe(
      'session usage text tool tool usage tool tool usage text usage terminal',
    )
    expect(events.filter(({ kind }) => kind === 'tool').slice(2)).toEqual([
      {
        kind: 'tool',
        phase: 'start',
        id: 'toolu_stub0004',
        name: 'Bash',
        argument: 'cat hello.txt && echo "pwd=$PWD" && exit 0',
        input: { command: 'cat hello.txt && echo "pwd=$PWD" && exit 0', description: 'scripted' },
      },
      {
        kind: 'tool',
        phase: 'end',
        id: 'toolu_stub0004',
        name: 'Bash',
        ok: true,
        output: 'hello from the stubpwd=/sandbox/claude-tool/work',
      },
    ])
    expect(outcome.text).toContain('"status": "goal-complete"')
    expect(outcome.sessionId).toBe('e00434ba-2980-41b7-9747-4bbca1a8ed42')
  })

  it('keeps structured output', () => {
    const stream = recorded('claude').find(({ name }) => name === 'structuredbad.jsonl')!

    expect(replay(claude, stream).outcome.structured).toEqual({ status: 'continue', summary: 'second try' })
  })
})

describe('the command of Claude Code', () => {
  const spec = { cwd: '/project', folder: '/attempt', sprintDir: '/sprint' }

  it('takes the prompt from stdin and prints a stream', () => {
    expect(claude.command(spec).args).toEqual([
      '-p',
      '--output-format',
      'stream-json',
      '--verbose',
      '--dangerously-skip-permissions',
    ])
  })

  it('names the model and the session to resume', () => {
    expect(claude.command({ ...spec, model: 'opus', resume: 'abc' }).args.slice(5)).toEqual([
      '--model',
      'opus',
      '--resume',
      'abc',
    ])
  })

  it('can enforce the form of the answer', () => {
    expect(claude.command({ ...spec, form: { type: 'object' } }).args.slice(5)).toEqual([
      '--json-schema',
      '{"type":"object"}',
    ])
  })
})

describe('how an attempt ended', () => {
  it('is failed without a result, even with exit code 0', () => {
    expect(readOutcome([])).toEqual({
      status: 'failed',
      class: 'crash',
      retryable: true,
      reason: 'it ended with exit code 0 and without a result',
      text: '',
      usage: noUsage,
      resumable: false,
    })
  })

  it('shows the last line of stderr, but does not classify by it', () => {
    const exit = buildExit({ code: 1, stderrTail: 'warming up\n429 rate limit, invalid api key\n' })

    expect(readOutcome([], exit)).toMatchObject({
      class: 'crash',
      reason: 'it ended with exit code 1 and without a result: 429 rate limit, invalid api key',
    })
  })

  it('shows the error of a Node program, not its stack and its version', () => {
    const stderrTail = 'file:1\n\nTypeError: x is not a function\n    at run (file:1:2)\n\nNode.js v20.20.2\n'

    expect(readOutcome([], buildExit({ code: 1, stderrTail })).reason).toMatch(/: TypeError: x is not a function$/)
  })

  it('is not_found, if a shell says so and nothing was printed', () => {
    expect(readOutcome([], buildExit({ code: 127 })).class).toBe('not_found')
    expect(
      readOutcome([line({ type: 'system', subtype: 'init', session_id: 's' })], buildExit({ code: 127 })).class,
    ).toBe('crash')
  })

  it('is contradicted by an exit code that the program chose, but not by the signal that ends a lingering process', () => {
    expect(readOutcome([buildResult()], buildExit({ code: 1 }))).toMatchObject({ status: 'failed', class: 'crash' })
    expect(readOutcome([buildResult()], buildExit({ code: null, signal: 'SIGKILL' })).status).toBe('ok')
    expect(readOutcome([buildResult()], buildExit({ code: 143 })).status).toBe('ok')
    expect(readOutcome([buildResult()], buildExit({ code: 1, ended: 'after-result' })).status).toBe('ok')
  })

  it('is the reason for which the supervisor ended it', () => {
    expect(ended('idle')).toMatchObject({ status: 'timeout', class: 'hang', retryable: true })
    expect(ended('attempt')).toMatchObject({ status: 'timeout', class: 'hang', retryable: true })
    expect(ended('output-cap')).toMatchObject({ status: 'failed', class: 'output_cap', retryable: false })
    expect(ended('aborted')).toMatchObject({ status: 'aborted' })
    expect(ended('aborted').class).toBeUndefined()
  })

  it('is a limit, not a hang, if the agent fell silent after one', () => {
    const limit = line({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1_794_775_744 } })

    expect(readOutcome([limit], buildExit({ code: null, signal: 'SIGKILL', ended: 'idle' }))).toMatchObject({
      status: 'timeout',
      class: 'usage_limit',
      resetsAt: 1_794_775_744_000,
    })
  })

  it('is the last problem before the exit, if there is no result', () => {
    const retry = (status: number | null) => line({ type: 'system', subtype: 'api_retry', error_status: status })
    const message = line({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text: 'hi' }] } })
    const killed = buildExit({ code: null, signal: 'SIGKILL' })

    expect(readOutcome([retry(529)], killed).class).toBe('overloaded')
    expect(readOutcome([retry(null)], killed).class).toBe('network')
    expect(readOutcome([retry(529), message], killed).class).toBe('crash')
  })
})

describe('results that are not what they seem', () => {
  it.each([
    ['is_error', { is_error: true }, 'unknown'],
    ['api_error_status', { api_error_status: 401 }, 'auth'],
    ['api_error', { api_error: 'connection_failed' }, 'network'],
    ['terminal_reason', { terminal_reason: 'prompt_too_long' }, 'context'],
    ['a spent account', { is_error: true, api_error_status: 400, api_error_type: 'billing_error' }, 'auth'],
    ['a missing login', { is_error: true, result: 'Not logged in · Please run /login' }, 'auth'],
    ['a text about logins', { is_error: true, result: 'I wrote "Please run /login" into the page' }, 'unknown'],
    [
      'the limit of an older version',
      { is_error: true, result: 'Claude AI usage limit reached|1794775744' },
      'usage_limit',
    ],
    [
      'a start as root',
      { subtype: 'error_during_execution', is_error: true, startup_failure_reason: 'bypass_root' },
      'tool_denied',
    ],
    ['a result of the wrong type', { result: { text: 'done' } }, 'protocol'],
    ['an error flag of the wrong type', { is_error: 'false' }, 'protocol'],
  ])('%s wins over subtype success', (_, fields, failure) => {
    expect(readOutcome([buildResult(fields)], buildExit({ code: 1 }))).toMatchObject({
      status: 'failed',
      class: failure,
    })
  })

  it('takes the last of two results, and adds up the cost of both', () => {
    const outcome = readOutcome([
      buildResult({
        is_error: true,
        api_error_status: 529,
        total_cost_usd: 0.5,
        model_usage_since_last_result: spent(0.5),
      }),
      buildResult({ result: 'second', total_cost_usd: 0.75, model_usage_since_last_result: spent(0.25) }),
    ])

    expect(outcome).toMatchObject({ status: 'ok', text: 'second', costUsd: 0.75 })
    expect(outcome.usage).toEqual({ ...noUsage, inputTokens: 20, outputTokens: 2 })
  })

  it('keeps a result that came before the tools ended', () => {
    const start = line({
      type: 'assistant',
      message: { id: 'm', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] },
    })
    const end = line({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'late' }] },
    })
    const { events, outcome } = replay(claude, { lines: [start, buildResult(), end], exit: buildExit() })

    expect(outcome).toMatchObject({ status: 'ok', text: 'done' })
    expect(events.at(-1)).toEqual({ kind: 'tool', phase: 'end', id: 't', name: 'Bash', ok: true, output: 'late' })
  })

  it('does not mistake text of the model or of a tool for a failure', () => {
    const text = 'You hit your usage limit. 429 rate_limit. Invalid API key. prompt is too long'
    const textLine = line({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text }] } })
    const printed = line({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content: text }] },
    })

    expect(readOutcome([textLine, printed, buildResult({ result: text })])).toMatchObject({ status: 'ok', text })
    expect(readOutcome([textLine, printed], buildExit({ code: 1 })).class).toBe('crash')
  })

  it.each([
    ['in the text of a result', { content: 'a,"parent_tool_use_id":null' }, {}],
    [
      'as a key of a result that is reported twice',
      { content: 'fine' },
      { tool_use_result: { a: 1, parent_tool_use_id: 2 } },
    ],
    ['as a key within the message', { content: 'fine', extra: { a: 1, parent_tool_use_id: 2 } }, {}],
  ])('is not misled by partial parsing, %s', (_, result, more) => {
    const { content } = result
    const message = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', ...result }] }

    expect(claude.read().parse(line({ type: 'user', message, parent_tool_use_id: null, ...more }))).toEqual([
      { kind: 'tool', phase: 'end', id: 't', ok: true, output: content },
    ])
  })

  it('leaves the text of subagents out of the final message', () => {
    expect(readOutcome([say('mine', null), say('theirs', 'toolu_1')], buildExit({ code: 1 })).text).toBe('mine')
  })
})
