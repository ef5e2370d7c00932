import { describe, expect, it } from 'vitest'
import { RalphError } from '../../contract/errors.ts'
import type { SprintEvent } from '../../contract/events.ts'
import {
  formatAnnotation,
  annotateEvent,
  annotateDiagnostic,
  annotateError,
  escapeWorkflowCommand,
} from './annotation.ts'

describe('an annotation', () => {
  it('escapes characters that would end it or start another command', () => {
    expect(formatAnnotation('error', '50% done\r\n::warning::no', { title: 'a: b, c\n%' })).toBe(
      '::error title=a%3A b%2C c%0A%25::50%25 done%0D%0A::warning::no',
    )
  })

  it('points to a place in a file', () => {
    const place = { file: 's/SPRINT.yaml', line: 3, column: 5 }
    const hint = 'did you mean "goal"?'
    expect(
      annotateDiagnostic({ severity: 'warning', code: 'UNKNOWN_FIELD', message: 'unknown field', hint, place }),
    ).toBe('::warning file=s/SPRINT.yaml,line=3,col=5,title=UNKNOWN_FIELD::unknown field (did you mean "goal"?)')
  })

  it('shows an error with its place and its hint', () => {
    const error = new RalphError('SPRINT_NOT_FOUND', 'there is no such folder', {
      place: { file: 's' },
      hint: 'make it',
    })
    expect(annotateError(error)).toBe('::error title=SPRINT_NOT_FOUND::s: there is no such folder (make it)')
  })

  it('is no longer than GitHub displays', () => {
    expect(formatAnnotation('notice', 'x'.repeat(10_000), { title: 't' }).length).toBeLessThan(4100)
  })
})

describe('of a sprint', () => {
  it.each<[SprintEvent, string]>([
    [
      { type: 'claim-refused', iteration: 8, by: ['npm test'], reason: '2 failed\nof 9' },
      '::warning title=Iteration 8%3A claim refused by npm test::2 failed of 9',
    ],
    [
      { type: 'attempt-failed', iteration: 2, attempt: 1, class: 'usage_limit', reason: 'resets at 5' },
      '::warning title=Iteration 2%3A usage limit::resets at 5',
    ],
    [
      { type: 'hook-ended', iteration: 2, hook: 'lint', ok: false, exitCode: 3 },
      '::warning title=Iteration 2%3A hook lint failed::exit code 3',
    ],
    [
      { type: 'question-asked', iteration: 2, reason: 'Which?', details: 'a or b', options: ['a', 'b'] },
      '::error title=A human is needed%3A Which?::a or b%0A1. a%0A2. b',
    ],
    [
      { type: 'sprint-rested', status: 'failed', reason: 'it crashed' },
      '::error title=The sprint has failed::it crashed',
    ],
    [{ type: 'sprint-rested', status: 'completed' }, '::notice title=The goal is reached::completed'],
  ])('%j is one line', (event, line) => {
    expect(annotateEvent(event)).toBe(line)
  })

  it.each<SprintEvent>([
    { type: 'hook-ended', iteration: 2, hook: 'lint', ok: true, exitCode: 0 },
    { type: 'sprint-rested', status: 'needs-human' },
    { type: 'claim-made', iteration: 1, summary: 'done' },
  ])('%j creates none', (event) => {
    expect(annotateEvent(event)).toBeUndefined()
  })
})

it.each([
  ['::set-env name=PATH::/evil', ': :set-env name=PATH::/evil'],
  ['fine\n  ::error::no', 'fine\n  : :error::no'],
  ['before ##[error]no', 'before # #[error]no'],
  ['a::b is C++', 'a::b is C++'],
])('%j cannot be read as a workflow command', (text, shown) => {
  expect(escapeWorkflowCommand(text)).toBe(shown)
})
