import { expect, it } from 'vitest'
import { z } from 'zod'
import {
  after,
  buildProgress,
  fails,
  newSteps,
  noon,
  type Play,
  reports,
  started,
  waitEnds,
} from '../../../test/support/builders.ts'
import { Progress } from '../../contract/progress.ts'
import type { JournalRecord } from '../../storage/state/journal-record.ts'
import { foldHistory } from './history.ts'

/** Creates the journal of a sprint with these facts, one minute apart. */
function createJournal(first: Progress, ...plays: readonly Play[]): { records: JournalRecord[]; last: Progress } {
  const record = (kind: JournalRecord['kind'], data: unknown, seq: number): JournalRecord => ({
    v: 1,
    seq,
    epoch: 1,
    at: new Date(noon).toISOString(),
    kind,
    data,
  })
  const records = [record('snapshot', z.encode(Progress, first), 1), record('run', { pid: 1 }, 2)]
  let last = first
  for (const play of plays) {
    const fact = typeof play === 'function' ? play(last) : play
    last = after(last, fact).progress
    records.push(record('fact', fact, records.length + 1))
  }
  return { records, last }
}

it('keeps steps, iterations and waits', () => {
  const resetsAt = noon + 3_600_000
  const { records, last } = createJournal(
    buildProgress(),
    started(),
    reports({ pendingSteps: newSteps('one', 'two') }),
    fails({ class: 'usage_limit', reason: 'limit', resetsAt }),
    waitEnds(resetsAt),
    reports({ completedStepIds: ['step-0'] }),
  )
  const history = foldHistory(records)

  expect(history?.progress).toEqual(last)
  expect(history?.iterations.map(({ number }) => number)).toEqual([1, 2])
  expect(history?.steps.map(({ prompt, status }) => [prompt, status])).toEqual([
    ['one', 'completed'],
    ['two', 'pending'],
  ])
  expect(history?.waits).toEqual([{ from: noon, until: resetsAt, reason: expect.any(String) }])
})

it('uses a progress without a journal as it is, and returns undefined for neither', () => {
  const progress = buildProgress()

  expect(foldHistory([], progress)).toEqual({ progress, iterations: [], steps: [], hookTasks: [], waits: [] })
  expect(foldHistory([])).toBeUndefined()
})
