import { describe, expect, it } from 'vitest'
import type { SprintEvent } from '../../../contract/events.ts'
import type { StoredEvent } from '../../../contract/fleet/event.ts'
import { findCall, createRows } from './rows.ts'
import { toolCallDiff, exitText } from './tool-call.ts'

const id = '0198b6a0-0000-7000-8000-000000000001'
const storedEvent = (seq: number, event: SprintEvent, at = seq * 1000): StoredEvent => ({
  id: `e${seq}`,
  agentId: id,
  sprintId: id,
  seq,
  at,
  event,
})
type AgentPart = Extract<SprintEvent, { type: 'agent' }>['event']
const agent = (event: AgentPart, iteration = 1): SprintEvent => ({ type: 'agent', iteration, attempt: 1, event })
const start = (call: string, name: string, input: unknown = {}): SprintEvent =>
  agent({ kind: 'tool', phase: 'start', id: call, name, input })
const end = (call: string, ok = true, output = ''): SprintEvent =>
  agent({ kind: 'tool', phase: 'end', id: call, ok, output })
const unknown = () => undefined
const rows = (...events: readonly SprintEvent[]) =>
  createRows(
    events.map((event, seq) => storedEvent(seq, event)),
    unknown,
  )

describe('rows of a transcript', () => {
  it('merges the start and the end of a tool call into one line', () => {
    const [row] = rows(start('1', 'Bash', { command: 'npm test' }), end('1', false, 'Exit code 3\nred'))
    expect(row).toMatchObject({
      kind: 'call',
      call: { key: 'e0', name: 'Bash', ok: false, startedAt: 0, endedAt: 1000 },
    })
    expect(row?.kind === 'call' && exitText(row.call)).toBe('exit 3')
  })

  it('ends a call that ran when its attempt was interrupted', () => {
    const next: SprintEvent = { type: 'attempt-started', iteration: 1, attempt: 2, agent: 'claude' }
    const [row] = rows(start('1', 'Bash', { command: 'sleep 99' }), next)
    expect(row).toMatchObject({ kind: 'call', call: { ok: false, interrupted: true, endedAt: 1000 } })
  })

  it('shows what users said with their name, and the report as a sentence', () => {
    const report = { status: 'continue', summary: 'Lexer works', completedStepIds: ['step-0'], pendingSteps: [] }
    const message: SprintEvent = { type: 'user-said', iteration: 1, how: 'steer', text: 'use Rust', by: 'ada' }
    const text = `Good.\n\n\`\`\`json\n${JSON.stringify(report)}\n\`\`\``
    expect(rows(message, agent({ kind: 'text', text }))).toEqual([
      { kind: 'user', key: 'e0', at: 0, since: 0, message },
      { kind: 'text', key: 'e1', at: 1000, since: 1000, text: 'Good.' },
      {
        kind: 'report',
        key: 'e1-report',
        at: 1000,
        since: 1000,
        sentence: 'Reports progress: Lexer works (1 step completed)',
        json: JSON.stringify(report),
      },
    ])
  })

  it('folds three calls of the same tool in a row, never commands, never failures', () => {
    const reads = ['a', 'b', 'c'].flatMap((call) => [start(call, 'Read'), end(call)])
    const shells = ['d', 'e', 'f'].flatMap((call) => [start(call, 'Bash'), end(call)])
    const failed = ['g', 'h', 'i'].flatMap((call) => [start(call, 'Grep'), end(call, false)])
    expect(rows(...reads, ...shells, ...failed).map(({ kind }) => kind)).toEqual([
      'calls',
      'call',
      'call',
      'call',
      'call',
      'call',
      'call',
    ])
  })

  it('keeps text open and hides uninteresting events', () => {
    const found = rows(
      agent({ kind: 'text', text: 'Hello' }),
      agent({ kind: 'text', text: '  ' }),
      agent({ kind: 'raw', line: '{}' }),
      { type: 'claim-refused', iteration: 1, by: ['npm test'], reason: '2 failed' },
    )
    expect(found.map((row) => (row.kind === 'mark' ? row.mark.title : row.kind))).toEqual([
      'text',
      'Refused by “npm test”',
    ])
  })

  it('counts the time from the start of the iteration, even if that is not loaded', () => {
    const events = [storedEvent(5, agent({ kind: 'text', text: 'late' }, 7), 65_000)]
    expect(createRows(events, (iteration) => (iteration === 7 ? 60_000 : undefined))[0]?.since).toBe(5000)
  })

  it('shows the end of a call whose start is not loaded', () => {
    expect(rows(end('x'))).toMatchObject([{ kind: 'call', call: { key: 'e0', ok: true } }])
  })

  it('finds a folded call', () => {
    const reads = ['a', 'b', 'c'].flatMap((call) => [start(call, 'Read'), end(call)])
    expect(findCall(rows(...reads), 'e2')?.key).toBe('e2')
  })
})

describe('the diff of a tool call', () => {
  const call = (name: string, input: unknown) => ({ key: 'e', name, input, startedAt: 0 })

  it.each([
    ['Edit', { old_string: 'a', new_string: 'b' }],
    ['edit', { oldString: 'a', newString: 'b' }],
    ['apply_patch', { patch: '@@\n-a\n+b' }],
  ])('exists for %s', (name, input) => {
    expect(toolCallDiff(call(name, input))?.filter(({ kind }) => kind !== 'hunk')).toEqual([
      { kind: 'del', text: 'a' },
      { kind: 'add', text: 'b' },
    ])
  })

  it('does not exist for read-only tools', () => {
    expect([
      toolCallDiff(call('Read', { file_path: 'x' })),
      toolCallDiff(call('Grep', null)),
      toolCallDiff(call('Search', { content: 'x' })),
    ]).toEqual([undefined, undefined, undefined])
  })
})
