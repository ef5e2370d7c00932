import { expect, it } from 'vitest'
import { createPaint } from '../io/paint.ts'
import { eventLines } from './event-lines.ts'

it('shows the end of what a red check printed, without the advertisement of npm', () => {
  const output = ['not ok 1 - adds', '  expected: 3', '', 'npm notice New minor version of npm available!'].join('\n')
  const result = { name: 'npm test', passed: false, exitCode: 1, durationMs: 900, output }
  const look = { paint: createPaint(false), steps: () => undefined, width: 80, project: '/p' }

  expect(eventLines({ type: 'check-ended', iteration: 1, result }, look)).toEqual([
    '  check npm test  ✗ exit code 1  0.9 s',
    '    │ not ok 1 - adds',
    '    │ expected: 3',
  ])
})
