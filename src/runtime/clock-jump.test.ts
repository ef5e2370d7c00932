import { expect, it } from 'vitest'
import { buildProgress } from '../../test/support/builders.ts'
import { buildOutcome, createVirtualClock, createWorld } from '../../test/support/virtual.ts'

const minute = 60_000
const hour = 60 * minute

it.each([hour, -hour])(
  'D6: a clock that jumps by %d ms during a turn changes no duration and reaches no limit',
  async (jump) => {
    const clock = createVirtualClock()
    let set = 0
    const jumping = { ...clock, now: () => clock.now() + set, steady: clock.now }
    const world = createWorld({
      clock,
      ports: { clock: jumping },
      agent: async (start) => {
        await clock.pass(minute)
        if (start === 2) set = jump
        await clock.pass(minute)
        return buildOutcome()
      },
    })

    const { status, stats, iterations } = await world.run(
      buildProgress({ limits: { iterations: 3, duration: 30 * minute } }),
    ).done

    expect({ status, activeMs: stats.activeMs }).toEqual({ status: 'limit-reached', activeMs: 6 * minute })
    expect(iterations.map(({ startedAt, endedAt }) => endedAt - startedAt)).toEqual([
      2 * minute,
      2 * minute,
      2 * minute,
    ])
  },
)
