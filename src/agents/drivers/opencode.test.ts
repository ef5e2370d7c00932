import { expect, it } from 'vitest'
import { replay } from '../../../test/fixtures/transcripts/recorded.ts'
import type { Exit } from '../readers/outcome.ts'
import { opencode } from './opencode.ts'

const spec = { cwd: '/project', folder: '/attempt', sprintDir: '/sprint' }
const line = (type: string, part: object = {}) => JSON.stringify({ type, sessionID: 's', part })
const stop = line('step_finish', { reason: 'stop', tokens: { input: 1, output: 2 } })
const readOutcome = (lines: readonly string[], exit: Partial<Exit> = {}) =>
  replay(opencode, { lines, exit: { code: 0, signal: null, stderrTail: '', ...exit } }).outcome

it('starts without a message, so that it reads stdin', () => {
  expect(opencode.command({ ...spec, model: 'stub/model', resume: 'ses_1' }).args.join(' ')).toBe(
    'run --format json --auto --model stub/model --session ses_1',
  )
})

it('has ended when a step stops and no other follows', () => {
  expect(readOutcome([line('step_start'), stop]).status).toBe('ok')
  expect(readOutcome([line('step_start'), stop, line('step_start')]).status).toBe('failed')
})

it('has ended even if the process lingers after that', () => {
  expect(readOutcome([stop], { code: null, signal: 'SIGKILL', ended: 'idle' }).status).toBe('ok')
  expect(readOutcome([stop, line('step_start')], { code: null, signal: 'SIGKILL', ended: 'idle' }).class).toBe('hang')
})

it('emits the start and the end of a tool together', () => {
  const tool = line('tool_use', {
    tool: 'bash',
    callID: 'c',
    state: { status: 'completed', input: { command: 'ls' }, output: 'a' },
  })

  expect(opencode.read().parse(tool)).toMatchObject([
    { kind: 'session', id: 's' },
    { kind: 'tool', phase: 'start', id: 'c', name: 'bash', argument: 'ls' },
    { kind: 'tool', phase: 'end', id: 'c', name: 'bash', ok: true, output: 'a' },
  ])
})
