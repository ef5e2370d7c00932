import { expect, it } from 'vitest'
import { recorded, replay } from '../../../test/fixtures/transcripts/recorded.ts'
import { gemini } from './gemini.ts'

const spec = { cwd: '/project', folder: '/attempt', sprintDir: '/sprint' }
const line = (entry: object) => JSON.stringify(entry)
const readOutcome = (lines: readonly string[], code: number) =>
  replay(gemini, { lines, exit: { code, signal: null, stderrTail: '' } }).outcome

it('starts without a prompt argument, so that it reads stdin', () => {
  expect(gemini.command({ ...spec, model: 'flash', resume: 'abc' }).args.join(' ')).toBe(
    '--output-format stream-json --approval-mode yolo --skip-trust --model flash --resume abc',
  )
})

it('takes the text after the last tool as the answer', () => {
  const tool = recorded('gemini').find(({ name }) => name === 'tool.jsonl')!

  expect(replay(gemini, tool).outcome.text).toMatch(/^All done\.\n\n```json\n/)
})

it.each([
  [145, 'auth'],
  [173, 'rate_limit'],
  [247, 'overloaded'],
  [17, 'overloaded'],
  [41, 'auth'],
  [53, 'max_turns'],
  [55, 'tool_denied'],
  [42, 'crash'],
])('maps exit code %i to %s if there is no other information', (code, failure) => {
  expect(readOutcome([line({ type: 'init', session_id: 's' })], code).class).toBe(failure)
})

it('prefers its message to its exit code, and ignores both after a successful turn', () => {
  const failed = line({
    type: 'result',
    status: 'error',
    error: { message: '[API Error: You have exhausted your daily quota]' },
  })

  expect(readOutcome([failed], 173).class).toBe('usage_limit')
  expect(readOutcome([line({ type: 'result', status: 'success' })], 0).status).toBe('ok')
})
