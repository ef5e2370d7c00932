import { expect, it } from 'vitest'
import { recorded, replay } from '../../../test/fixtures/transcripts/recorded.ts'
import { gemini } from './gemini.ts'

const spec = { cwd: '/project', folder: '/attempt', sprintDir: '/sprint' }
const line = (entry: object) => JSON.stringify(entry)
const outcomeOf = (lines: readonly string[], code: number) =>
  replay(gemini, { lines, exit: { code, signal: null, stderrTail: '' } }).outcome

it('is started without a prompt, so that it reads stdin', () => {
  expect(gemini.command({ ...spec, model: 'flash', resume: 'abc' }).args.join(' ')).toBe(
    '--output-format stream-json --approval-mode yolo --skip-trust --model flash --resume abc',
  )
})

it('takes what was said after the last tool for the answer', () => {
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
])('tells by exit code %i that it is %s, if it says nothing else', (code, failure) => {
  expect(outcomeOf([line({ type: 'init', session_id: 's' })], code).class).toBe(failure)
})

it('believes its message before its exit code, and neither for a turn that went well', () => {
  const failed = line({
    type: 'result',
    status: 'error',
    error: { message: '[API Error: You have exhausted your daily quota]' },
  })

  expect(outcomeOf([failed], 173).class).toBe('usage_limit')
  expect(outcomeOf([line({ type: 'result', status: 'success' })], 0).status).toBe('ok')
})
