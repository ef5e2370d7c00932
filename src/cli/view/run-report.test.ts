import { expect, it } from 'vitest'
import { buildProgress } from '../../../test/support/builders.ts'
import { createTestIo } from '../../../test/support/test-io.ts'
import type { Progress } from '../../contract/progress.ts'
import { printEnd } from './run-report.ts'

const base = buildProgress({ status: 'needs-human', limits: { usd: 2 }, stats: { costUsd: 3 } })
const question = { ...base, humanNeeded: { reason: 'Which database?', details: '', askedAt: 0 }, runLimits: { usd: 9 } }
const failure = { class: 'auth', reason: 'not logged in', retryable: false, count: 1 } as const

it.each<[string, Progress]>([
  ['answer with: ralph answer s "…" then: ralph run s --budget-usd 9', question],
  ['then: ralph run s --budget-usd 9', { ...question, failure }],
])('repeats the flags of the run after a question: %s', (hint, progress) => {
  const { io, text } = createTestIo()

  printEnd(progress, { sprintDir: '/nowhere/s', name: 's' }, io)

  expect(text().replaceAll(/\s+/g, ' ')).toContain(hint)
})
