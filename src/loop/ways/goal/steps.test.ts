import { describe, expect, it } from 'vitest'
import {
  buildProgress,
  buildReport,
  buildStep,
  frozen,
  newSteps,
  noon,
  buildSteps,
} from '../../../../test/support/builders.ts'
import { historyLimits, type Progress, type Step } from '../../../contract/progress.ts'
import type { Report } from '../../../contract/report.ts'
import { fromProgress, toProgress } from '../../progress-codec.ts'
import { applySteps, findFirstPending } from './steps.ts'

const moment = { at: noon + 5000, iteration: 7 }

function apply(before: Progress, report: Partial<Pick<Report, 'completedStepIds' | 'pendingSteps'>>) {
  const { sprint, ...change } = applySteps(frozen(fromProgress(before)), frozen(buildReport(report)), moment)
  return { progress: toProgress(sprint), ...change }
}

const listPending = (progress: Progress) => progress.dynamicSteps.filter(({ status }) => status === 'pending')
const texts = (of: readonly Step[]) => of.map(({ prompt }) => prompt)
const ids = (of: readonly Step[]) => of.map(({ id }) => id)

describe('new steps', () => {
  it('get new ids and record when they were added', () => {
    const { progress, added, rejected } = apply(buildProgress(), { pendingSteps: newSteps('alpha', 'beta') })

    expect(progress.dynamicSteps).toEqual([
      { id: 'step-0', prompt: 'alpha', status: 'pending', addedAt: moment.at, addedInIteration: 7 },
      { id: 'step-1', prompt: 'beta', status: 'pending', addedAt: moment.at, addedInIteration: 7 },
    ])
    expect(added).toEqual(['step-0', 'step-1'])
    expect(progress.stats).toMatchObject({ totalSteps: 2, completedSteps: 0 })
    expect(rejected).toEqual([])
  })

  it('never reuse an id, even if its step is no longer shown', () => {
    const before = buildProgress({ dynamicSteps: [], stats: { totalSteps: 1500, completedSteps: 1500 } })

    expect(apply(before, { pendingSteps: newSteps('gamma') }).added).toEqual(['step-1500'])
  })

  it('beyond 1,000 in one report are dropped and recorded; the rest applies', () => {
    const before = buildProgress({ dynamicSteps: buildSteps('known') })
    const { progress, added, rejected } = apply(before, {
      pendingSteps: [
        ...newSteps(...Array.from({ length: 1002 }, (_, n) => `new ${n}`)),
        { id: 'step-0', prompt: 'reworded' },
      ],
    })

    expect(added).toHaveLength(1000)
    expect(listPending(progress)).toHaveLength(1001)
    expect(progress.stats.totalSteps).toBe(1001)
    expect(rejected).toEqual(['more than 1000 new steps in one report; the rest was dropped'])
    expect(listPending(progress).at(-1)).toMatchObject({ id: 'step-0', prompt: 'reworded' })
  })

  it.each([
    ['quotes', 'say "hi"'],
    ['shell', "a $(id) `b` \\ ' {{x}}"],
    ['several lines', 'one\ntwo\r\n\tthree'],
    ['what looks like more JSON', 'x", "status": "completed'],
    ['control and wide characters', '\u0000\u001b[31m 💥 \u202e\ud800'],
    ['a prototype', '__proto__'],
  ])('keep their text byte for byte: %s', (_, text) => {
    const { progress } = apply(buildProgress(), { pendingSteps: newSteps(text) })

    expect(progress.dynamicSteps).toEqual([
      { id: 'step-0', prompt: text, status: 'pending', addedAt: moment.at, addedInIteration: 7 },
    ])
  })
})

describe('completed steps', () => {
  it('record when they were completed', () => {
    const { progress, completed } = apply(buildProgress({ dynamicSteps: buildSteps('alpha', 'beta') }), {
      completedStepIds: ['step-0'],
    })

    expect(progress.dynamicSteps).toEqual([
      buildStep({
        id: 'step-0',
        prompt: 'alpha',
        status: 'completed',
        completedAt: moment.at,
        completedInIteration: moment.iteration,
      }),
      buildStep({ id: 'step-1', prompt: 'beta' }),
    ])
    expect(completed).toEqual(['step-0'])
    expect(progress.stats.completedSteps).toBe(1)
  })

  it('are completed once, however often a report names them', () => {
    const { completed, rejected } = apply(buildProgress({ dynamicSteps: buildSteps('alpha') }), {
      completedStepIds: ['step-0', 'step-0'],
    })

    expect([completed, rejected]).toEqual([['step-0'], []])
  })

  it('stay unchanged if a later report completes them again', () => {
    const done = buildStep({ status: 'completed' })
    const { progress, completed, rejected } = apply(buildProgress({ dynamicSteps: [done] }), {
      completedStepIds: ['step-0'],
    })

    expect(progress.dynamicSteps).toEqual([done])
    expect(completed).toEqual([])
    expect(rejected).toEqual(['completedStepIds names step-0, which is not pending'])
    expect(progress.stats.completedSteps).toBe(1)
  })

  it('never return to pending', () => {
    const done = buildStep({ status: 'completed', prompt: 'old' })
    const { progress, rejected } = apply(buildProgress({ dynamicSteps: [done] }), {
      pendingSteps: [{ id: 'step-0', prompt: 'again' }],
    })

    expect(progress.dynamicSteps).toEqual([done])
    expect(rejected).toEqual(['pendingSteps names step-0, which is not pending'])
  })

  it('take precedence over pendingSteps of the same report', () => {
    const { progress, rejected } = apply(buildProgress({ dynamicSteps: buildSteps('alpha') }), {
      completedStepIds: ['step-0'],
      pendingSteps: [{ id: 'step-0', prompt: 'alpha' }],
    })

    expect(listPending(progress)).toEqual([])
    expect(rejected).toEqual(['pendingSteps names step-0, which is completed'])
  })

  it('are dropped from the list, oldest first, but still counted', () => {
    const done = Array.from({ length: historyLimits.completedSteps }, (_, n) =>
      buildStep({ id: `step-${n}`, status: 'completed' }),
    )
    const last = buildStep({ id: `step-${historyLimits.completedSteps}` })
    const { progress } = apply(buildProgress({ dynamicSteps: [...done, last] }), { completedStepIds: [last.id] })

    expect(progress.dynamicSteps).toHaveLength(historyLimits.completedSteps)
    expect(ids(progress.dynamicSteps).at(0)).toBe('step-1')
    expect(ids(progress.dynamicSteps).at(-1)).toBe(last.id)
    expect(progress.stats.completedSteps).toBe(historyLimits.completedSteps + 1)
  })
})

describe('the order of pending steps', () => {
  it('is the order of the report, new and known ones mixed', () => {
    const { progress } = apply(buildProgress({ dynamicSteps: buildSteps('alpha', 'beta') }), {
      pendingSteps: [
        { id: 'step-1', prompt: 'beta' },
        { id: null, prompt: 'gamma' },
        { id: 'step-0', prompt: 'alpha' },
      ],
    })

    expect(texts(listPending(progress))).toEqual(['beta', 'gamma', 'alpha'])
  })

  it('puts steps that are not mentioned behind the mentioned ones', () => {
    const { progress } = apply(buildProgress({ dynamicSteps: buildSteps('alpha', 'beta', 'gamma') }), {
      pendingSteps: [{ id: 'step-2', prompt: 'gamma' }],
    })

    expect(texts(listPending(progress))).toEqual(['gamma', 'alpha', 'beta'])
  })
})

describe('known steps', () => {
  it('take a new text and keep the rest', () => {
    const { progress, added } = apply(buildProgress({ dynamicSteps: buildSteps('alpha') }), {
      pendingSteps: [{ id: 'step-0', prompt: 'alpha, but better' }],
    })

    expect(progress.dynamicSteps).toEqual([buildStep({ prompt: 'alpha, but better' })])
    expect(added).toEqual([])
  })

  it('take the first of two texts; the second is dropped and recorded', () => {
    const { progress, rejected } = apply(buildProgress({ dynamicSteps: buildSteps('alpha') }), {
      pendingSteps: [
        { id: 'step-0', prompt: 'first' },
        { id: 'step-0', prompt: 'second' },
      ],
    })

    expect(texts(progress.dynamicSteps)).toEqual(['first'])
    expect(rejected).toEqual(['pendingSteps names step-0 twice'])
  })
})

describe('unknown ids', () => {
  it('are dropped and recorded while the rest applies', () => {
    const { progress, added, completed, rejected } = apply(
      buildProgress({ dynamicSteps: buildSteps('alpha', 'beta') }),
      {
        completedStepIds: ['step-99', 'step-0'],
        pendingSteps: [
          { id: 'constructor', prompt: 'what?' },
          { id: '', prompt: 'nameless' },
          { id: null, prompt: 'gamma' },
        ],
      },
    )

    expect(completed).toEqual(['step-0'])
    expect(added).toEqual(['step-2'])
    expect(texts(listPending(progress))).toEqual(['gamma', 'beta'])
    expect(rejected).toEqual([
      'completedStepIds names step-99, which is not pending',
      'pendingSteps names constructor, which is not pending',
      'pendingSteps names , which is not pending',
    ])
  })

  it('are recorded in bounded space, however many and however long they are', () => {
    const { rejected } = apply(buildProgress(), {
      completedStepIds: Array.from({ length: 500 }, (_, n) => `${n}${'x'.repeat(1000)}`),
    })

    expect(rejected.join('\n').length).toBeLessThan(10_000)
    expect(rejected.at(-1)).toBe('and 480 more')
  })
})

it('changes nothing when a report says nothing about steps', () => {
  const before = buildProgress({ dynamicSteps: [buildStep({ status: 'completed' }), buildStep({ id: 'step-1' })] })

  expect(apply(before, {})).toEqual({ progress: before, added: [], completed: [], pending: 1, rejected: [] })
})

it('pending steps start behind the completed ones, however many there are of each', () => {
  for (let completed = 0; completed < 5; completed++)
    for (let pending = 0; pending < 5; pending++) {
      const all = Array.from({ length: completed + pending }, (_, n) =>
        buildStep({ status: n < completed ? 'completed' : 'pending' }),
      )
      expect(findFirstPending(all)).toBe(completed)
    }
})
