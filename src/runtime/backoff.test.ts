import { expect, it } from 'vitest'
import { buildProgress } from '../../test/support/builders.ts'
import { buildOutcome, createWorld } from '../../test/support/virtual.ts'
import { RalphError } from '../contract/errors.ts'
import type { FailureClass, Outcome } from '../contract/outcome.ts'

const second = 1000
const hour = 3_600_000

const failed = (failure: FailureClass): Outcome =>
  buildOutcome({ status: 'failed', class: failure, retryable: true, reason: 'no luck', text: '' })

/** Runs until the sprint rests, or a day has passed. */
async function run(world: ReturnType<typeof createWorld>, progress = buildProgress()) {
  const { done } = world.run(progress)
  await world.clock.pass(24 * hour)
  return done
}

const pauses = ({ starts }: ReturnType<typeof createWorld>) =>
  starts.slice(1).map(({ at }, index) => (at - (starts[index]?.at ?? 0)) / second)

it('an agent that keeps crashing is restarted with growing pauses, then the sprint stops with the reason', async () => {
  const world = createWorld({ agent: () => failed('crash') })

  expect(await run(world)).toMatchObject({
    status: 'failed',
    reason: 'crash: no luck, 5 times in a row',
    stats: { currentIteration: 1 },
  })
  expect(pauses(world)).toEqual([2, 4, 8, 16])
})

it('an overloaded server causes pauses from two seconds up to five minutes', async () => {
  const world = createWorld({ agent: (start) => (start < 12 ? failed('overloaded') : failed('auth')) })

  expect(await run(world)).toMatchObject({ status: 'needs-human', reason: 'no luck' })
  expect(pauses(world)).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
})

it('a program that cannot start is a failed attempt and does not end the run', async () => {
  const world = createWorld({ agent: () => Promise.reject(new Error('spawn EAGAIN')) })

  expect(await run(world)).toMatchObject({
    status: 'failed',
    reason: 'crash: could not start: spawn EAGAIN, 5 times in a row',
  })
})

it('a missing program stops the sprint at once', async () => {
  const world = createWorld({ agent: () => Promise.reject(new RalphError('AGENT_NOT_FOUND', 'no claude on PATH')) })

  expect(await run(world)).toMatchObject({
    status: 'failed',
    reason: 'not_found: could not start: no claude on PATH',
  })
  expect(world.starts).toHaveLength(1)
})

it('a healthy agent causes no pauses: fifty small iterations follow each other at once', async () => {
  const world = createWorld({})

  expect(await run(world, buildProgress({ limits: { iterations: 50 } }))).toMatchObject({
    status: 'limit-reached',
    stats: { currentIteration: 50, withoutProgress: 0 },
  })
  expect(pauses(world)).toEqual(Array.from({ length: 49 }, () => 0))
})

it('with no-progress: off the work tree is not hashed', async () => {
  const looked: string[] = []
  const workspace = {
    start: async () => {},
    fingerprint: async () => (looked.push('x'), ''),
    checkpoint: async () => undefined,
  }
  const world = createWorld({ ports: { workspace } })

  await run(world, buildProgress({ limits: { iterations: 10, noProgress: 'off' } }))

  expect(world.starts).toHaveLength(10)
  expect(looked).toEqual([])
})

it('a broken repository causes a warning and counts as progress', async () => {
  const fingerprint = () => Promise.reject(new Error('git add: does not have a commit checked out'))
  const world = createWorld({
    ports: { workspace: { start: async () => {}, fingerprint, checkpoint: async () => undefined } },
  })

  expect(await run(world, buildProgress({ limits: { iterations: 10 } }))).toMatchObject({ status: 'limit-reached' })
  expect(world.events).toContainEqual({
    type: 'note',
    level: 'warning',
    text: 'cannot detect whether files changed: git add: does not have a commit checked out',
  })
})
