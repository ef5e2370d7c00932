import { expect, it } from 'vitest'
import { aProgress } from '../../test/support/builders.ts'
import { anOutcome, aWorld } from '../../test/support/virtual.ts'
import { RalphError } from '../contract/errors.ts'
import type { FailureClass, Outcome } from '../contract/outcome.ts'

const second = 1000
const hour = 3_600_000

const failed = (failure: FailureClass): Outcome =>
  anOutcome({ status: 'failed', class: failure, retryable: true, reason: 'no luck', text: '' })

/** Runs until it rests, or a day has passed. */
async function run(world: ReturnType<typeof aWorld>, progress = aProgress()) {
  const { done } = world.run(progress)
  await world.clock.pass(24 * hour)
  return done
}

const pauses = ({ starts }: ReturnType<typeof aWorld>) =>
  starts.slice(1).map(({ at }, index) => (at - (starts[index]?.at ?? 0)) / second)

it('an agent that crashes again and again is given more and more time, then the sprint stops with the reason', async () => {
  const world = aWorld({ agent: () => failed('crash') })

  expect(await run(world)).toMatchObject({
    status: 'failed',
    reason: 'crash: no luck, 5 times in a row',
    stats: { currentIteration: 1 },
  })
  expect(pauses(world)).toEqual([2, 4, 8, 16])
})

it('an overloaded server is waited for from two seconds up to five minutes', async () => {
  const world = aWorld({ agent: (start) => (start < 12 ? failed('overloaded') : failed('auth')) })

  expect(await run(world)).toMatchObject({ status: 'needs-human', reason: 'no luck' })
  expect(pauses(world)).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
})

it('a program that cannot be started is a failure like any other, not the end of Ralph', async () => {
  const world = aWorld({ agent: () => Promise.reject(new Error('spawn EAGAIN')) })

  expect(await run(world)).toMatchObject({
    status: 'failed',
    reason: 'crash: could not start: spawn EAGAIN, 5 times in a row',
  })
})

it('a program that is gone stops the sprint at once', async () => {
  const world = aWorld({ agent: () => Promise.reject(new RalphError('AGENT_NOT_FOUND', 'no claude on PATH')) })

  expect(await run(world)).toMatchObject({
    status: 'failed',
    reason: 'not_found: could not start: no claude on PATH',
  })
  expect(world.starts).toHaveLength(1)
})

it('a healthy agent is not waited for: fifty honest small iterations follow each other at once', async () => {
  const world = aWorld({})

  expect(await run(world, aProgress({ limits: { iterations: 50 } }))).toMatchObject({
    status: 'limit-reached',
    stats: { currentIteration: 50, withoutProgress: 0 },
  })
  expect(pauses(world)).toEqual(Array.from({ length: 49 }, () => 0))
})

it('with no-progress: off nobody looks at the files', async () => {
  const looked: string[] = []
  const workspace = {
    start: async () => {},
    fingerprint: async () => (looked.push('x'), ''),
    checkpoint: async () => undefined,
  }
  const world = aWorld({ ports: { workspace } })

  await run(world, aProgress({ limits: { iterations: 10, noProgress: 'off' } }))

  expect(world.starts).toHaveLength(10)
  expect(looked).toEqual([])
})

it('a repository in trouble is told, and the agent gets the benefit of the doubt', async () => {
  const fingerprint = () => Promise.reject(new Error('git add: does not have a commit checked out'))
  const world = aWorld({
    ports: { workspace: { start: async () => {}, fingerprint, checkpoint: async () => undefined } },
  })

  expect(await run(world, aProgress({ limits: { iterations: 10 } }))).toMatchObject({ status: 'limit-reached' })
  expect(world.events).toContainEqual({
    type: 'note',
    level: 'warning',
    text: 'cannot detect whether files changed: git add: does not have a commit checked out',
  })
})
