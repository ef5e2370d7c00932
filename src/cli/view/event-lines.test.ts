import { expect, it } from 'vitest'
import { createPaint } from '../io/paint.ts'
import { eventLines } from './event-lines.ts'

const look = { paint: createPaint(false), steps: () => undefined, width: 80, project: '/p' }

it('shows the end of what a red check printed, without the advertisement of npm', () => {
  const output = ['not ok 1 - adds', '  expected: 3', '', 'npm notice New minor version of npm available!'].join('\n')
  const result = { name: 'npm test', passed: false, exitCode: 1, durationMs: 900, output }

  expect(eventLines({ type: 'check-ended', iteration: 1, result }, look)).toEqual([
    '  check npm test  ✗ exit code 1  0.9 s',
    '    │ not ok 1 - adds',
    '    │ expected: 3',
  ])
})

it('names the failures of a red check whose output ends with counts', () => {
  const counts = ['pass', 'fail', 'cancelled', 'skipped', 'todo', 'duration_ms'].map((name) => `ℹ ${name} 1`)
  const output = ['> node --test', '\u001b[31m✖ adds\u001b[39m', '  AssertionError: 2 == 3', '✔ subtracts', ...counts]
  const result = { name: 'npm test', passed: false, exitCode: 1, durationMs: 900, output: output.join('\n') }

  expect(eventLines({ type: 'check-ended', iteration: 1, result }, look).slice(1)).toEqual([
    '    │ ✖ adds',
    '    │ AssertionError: 2 == 3',
    '    │ ℹ cancelled 1',
    '    │ ℹ skipped 1',
    '    │ ℹ todo 1',
    '    │ ℹ duration_ms 1',
  ])
})
