import { describe, expect, it } from 'vitest'
import { readLock } from './read-lock.ts'

const nothing = { completedStepIds: [], pendingSteps: [] }

describe('the lock', () => {
  it('that exists means continue', () => {
    expect(readLock({ exists: true }, ' did it ')).toEqual({
      kind: 'report',
      report: { status: 'continue', summary: 'did it', ...nothing },
    })
  })

  it.each([
    {
      about: 'with an outcome',
      lock: { exists: false, outcome: 'done', text: 'all green' } as const,
      claims: 'all green',
    },
    { about: 'without an outcome', lock: { exists: false } as const, claims: 'did it' },
  ])('deleted $about is a claim', ({ lock, claims }) => {
    expect(readLock(lock, 'did it')).toEqual({
      kind: 'report',
      report: { status: 'goal-complete', summary: 'did it', goalCompleteSummary: claims, ...nothing },
    })
  })

  it('deleted because the agent is stuck is a question', () => {
    expect(readLock({ exists: false, outcome: 'stuck', text: 'no key\nfor the api' }, 'I tried')).toEqual({
      kind: 'report',
      report: {
        status: 'needs-human',
        summary: 'I tried',
        humanNeeded: { reason: 'no key for the api', details: 'I tried' },
        ...nothing,
      },
    })
  })

  it('deleted without a reason is still a claim', () => {
    expect(readLock({ exists: false }, '')).toMatchObject({
      report: { goalCompleteSummary: 'the agent deleted its lock' },
    })
  })
})
