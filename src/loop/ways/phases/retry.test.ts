import { describe, expect, it } from 'vitest'
import { after, interrupted, noon, started, workOrders } from '../../../../test/support/builders.ts'
import {
  buildPhase,
  buildStandard,
  breaks,
  completes,
  fails,
  saysNothing,
  waitEndsOn,
} from '../../../../test/support/phases.ts'
import type { FailureClass } from '../../../contract/outcome.ts'
import type { Progress } from '../../../contract/progress.ts'
import { ErrorCategory } from '../../../contract/settings.ts'

const all = ErrorCategory.options
const retrying = (retry: Partial<NonNullable<Progress['retry']>> = {}) =>
  buildStandard([buildPhase('a')], { retry: { maxAttempts: 3, backoffMs: [1000, 5000], retryOn: [...all], ...retry } })

describe('with retry', () => {
  it('failed work is retried in another iteration, after its pause', () => {
    const { progress, orders } = after(retrying(), started(), fails('a'))

    expect(progress).toMatchObject({
      status: 'in-progress',
      phases: [{ retryCount: 1, nextRetryAt: noon + 1000, error: 'boom', errorCategory: 'logic' }],
      live: [{ number: 2, stage: 'waiting' }],
      iterations: [{ verdict: 'failed' }],
    })
    expect(workOrders(orders)).toEqual([{ type: 'wait', iteration: 2, until: noon + 1000, reason: 'boom' }])
  })

  it('a failed program is started again in the same iteration', () => {
    const { progress, orders } = after(retrying(), started(), breaks('a'))

    expect(progress).toMatchObject({ live: [{ number: 1, attempt: 2 }], phases: [{ retryCount: 1 }] })
    expect(workOrders(orders)).toEqual([{ type: 'wait', iteration: 1, until: noon + 1000, reason: 'exit code 1' }])
  })

  it('both kinds of retries count together, and the last pause repeats', () => {
    const first = after(retrying({ maxAttempts: 4 }), started(), fails('a'), waitEndsOn('a')).progress
    const second = after(first, breaks('a'), waitEndsOn('a'))
    const third = after(second.progress, breaks('a'))
    const last = after(third.progress, waitEndsOn('a'), breaks('a'))

    expect(third.progress.phases).toMatchObject([{ retryCount: 3, nextRetryAt: noon + 5000 }])
    expect(last.progress).toMatchObject({ status: 'blocked', failedPhase: 'a' })
  })

  it.each<[FailureClass | 'failed' | 'malformed', ErrorCategory]>([
    ['network', 'network'],
    ['overloaded', 'network'],
    ['rate_limit', 'rate-limit'],
    ['hang', 'timeout'],
    ['protocol', 'validation'],
    ['malformed', 'validation'],
    ['failed', 'logic'],
    ['crash', 'logic'],
    ['unknown', 'logic'],
  ])('%s has category %s: retried with it, not without it', (failure, category) => {
    const end =
      failure === 'failed' ? fails('a') : failure === 'malformed' ? saysNothing('a') : breaks('a', { class: failure })
    const others = all.filter((other) => other !== category)

    expect(after(retrying({ retryOn: [category] }), started(), end).progress.status).toBe('in-progress')
    expect(after(retrying({ retryOn: others }), started(), end).progress).toMatchObject({
      status: 'blocked',
      phases: [{ errorCategory: category }],
    })
  })

  it.each<[FailureClass, string]>([
    ['auth', 'needs-human'],
    ['usage_limit', 'parked'],
  ])('%s is not subject to retry', (failure, status) => {
    expect(after(retrying(), started(), breaks('a', { class: failure, retryable: false })).progress.status).toBe(status)
  })

  it('the pause survives an interruption', () => {
    const { orders } = after(retrying(), started(), fails('a'), interrupted, started({ at: noon + 10 }))

    expect(workOrders(orders)).toEqual([{ type: 'wait', iteration: 2, until: noon + 1000, reason: 'resumed' }])
  })

  it('the count restarts in a new run of a blocked sprint', () => {
    const blocked = after(retrying({ maxAttempts: 1 }), started(), fails('a')).progress

    expect(after(blocked, started()).progress.phases?.[0]?.retryCount).toBeUndefined()
  })
})

describe('without retry', () => {
  const plain = buildStandard([buildPhase('a')])

  it('a program that exits with an error has failed its work', () => {
    expect(after(plain, started(), breaks('a')).progress).toMatchObject({ status: 'blocked', error: 'exit code 1' })
  })

  it('a program that was killed is started again', () => {
    expect(after(plain, started(), breaks('a', { exitCode: undefined })).progress).toMatchObject({
      status: 'in-progress',
      live: [{ stage: 'waiting', attempt: 2 }],
    })
  })

  it.each<[FailureClass, number]>([
    ['overloaded', 20],
    ['network', 20],
    ['hang', 3],
  ])('%s is retried as in any sprint, %i times in total', (failure, tries) => {
    const fail = breaks('a', { class: failure })
    const before = Array.from({ length: tries - 1 }, () => [fail, waitEndsOn('a')]).flat()
    const lastTry = after(plain, started(), ...before).progress

    expect(lastTry.status).toBe('in-progress')
    expect(after(lastTry, fail).progress).toMatchObject({
      status: 'blocked',
      reason: `phase a failed: exit code 1, ${tries} times in a row`,
    })
  })

  it('failures of one work item do not count for another', () => {
    const progress = buildStandard([buildPhase('a', { parallel: true }), buildPhase('b')])
    const hang = (name: string) => breaks(name, { class: 'hang' })
    const { live } = after(progress, started(), hang('a'), hang('b'), waitEndsOn('a'), hang('a')).progress

    expect(live).toMatchObject([{ failures: { count: 2 } }, { failures: { count: 1 } }])
  })

  it('completes like any other in the end', () => {
    expect(
      after(plain, started(), breaks('a', { class: 'hang' }), waitEndsOn('a'), completes('a')).progress.status,
    ).toBe('completed')
  })
})
