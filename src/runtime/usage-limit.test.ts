import { expect, it } from 'vitest'
import { z } from 'zod'
import { buildProgress, buildReport } from '../../test/support/builders.ts'
import { buildOutcome, createWorld, settled, createVirtualClock } from '../../test/support/virtual.ts'
import { Progress } from '../contract/progress.ts'

const minute = 60_000
const hour = 60 * minute

const done = buildOutcome({ text: `\`\`\`json\n${JSON.stringify(buildReport({ status: 'goal-complete' }))}\n\`\`\`` })
const limited = (resetsAt?: number) =>
  buildOutcome({
    status: 'failed',
    class: 'usage_limit',
    retryable: true,
    reason: 'the usage limit was reached',
    text: '',
    ...(resetsAt !== undefined && { resetsAt }),
  })

/** What another process would read: only what was written. */
const reread = (progress: Progress | undefined): Progress =>
  z.decode(Progress, z.encode(Progress, progress ?? buildProgress()))

it('a usage limit of five hours with three restarts costs one start and no iteration, and ends on time', async () => {
  const clock = createVirtualClock()
  const reset = clock.now() + 5 * hour
  const world = createWorld({ clock, agent: (start) => (start === 1 ? limited(reset) : done) })
  let progress = buildProgress({ limits: { iterations: 1 } })

  for (const hours of [1, 1.5, 2]) {
    world.run(progress)
    await clock.pass(hours * hour)
    clock.kill()
    progress = reread(world.saved())
    expect(progress).toMatchObject({ status: 'parked', parked: { until: reset }, stats: { currentIteration: 1 } })
    expect(world.starts).toHaveLength(1)
  }
  const last = world.run(progress)
  await clock.pass(hour)
  const ended = await last.done

  expect(world.starts.map(({ at }) => at)).toEqual([reset - 5 * hour, reset])
  expect(ended).toMatchObject({
    status: 'completed',
    iterations: [{ number: 1, verdict: 'accepted', attempts: 2 }],
    stats: { currentIteration: 1, activeMs: 0 },
  })
})

it('the same with restarts on request, in the middle of the wait', async () => {
  const clock = createVirtualClock()
  const reset = clock.now() + 5 * hour
  const world = createWorld({ clock, agent: (start) => (start === 1 ? limited(reset) : done) })
  let progress = buildProgress()

  for (let restart = 0; restart < 3; restart++) {
    const run = world.run(progress)
    await clock.pass(hour)
    run.send({ type: 'stop-requested', at: clock.now(), as: 'paused', when: 'iteration' })
    progress = reread(await run.done)
    expect(progress).toMatchObject({ status: 'paused', parked: { until: reset } })
    await clock.pass(10 * minute)
  }
  const last = world.run(progress)
  await clock.pass(3 * hour)

  expect(await last.done).toMatchObject({ status: 'completed', stats: { currentIteration: 1 } })
  expect(world.starts.map(({ at }) => at - reset)).toEqual([-5 * hour, 0])
})

it('a limit that ends while no run is active causes no wait', async () => {
  const clock = createVirtualClock()
  const world = createWorld({ clock, agent: (start) => (start === 1 ? limited(clock.now() + 5 * hour) : done) })
  world.run(buildProgress())
  await clock.pass(hour)
  clock.kill()
  const progress = reread(world.saved())
  await clock.pass(24 * hour)

  const run = world.run(progress)
  await settled()

  expect(await run.done).toMatchObject({ status: 'completed' })
  expect(world.starts).toHaveLength(2)
})

it('a limit with an unknown end is probed every half hour, and costs no iteration', async () => {
  const clock = createVirtualClock()
  const world = createWorld({ clock, agent: (start) => (start <= 10 ? limited() : done) })

  const run = world.run(buildProgress({ limits: { iterations: 1 } }))
  await clock.pass(6 * hour)

  expect(await run.done).toMatchObject({ status: 'completed', stats: { currentIteration: 1 } })
  expect(world.starts.map(({ at }, index) => at - (world.starts[index - 1]?.at ?? at))).toEqual([
    0,
    ...Array.from({ length: 10 }, () => 30 * minute),
  ])
})

it('sprints of the same account wait for the same reset without starting an agent', async () => {
  const clock = createVirtualClock()
  const reset = clock.now() + 5 * hour
  const world = createWorld({ clock, agent: (start) => (start === 1 ? limited(reset) : done) })
  const first = world.run(buildProgress({ sprintId: 'first' }))
  await clock.pass(hour)
  const second = world.run(buildProgress({ sprintId: 'second' }))
  await clock.pass(hour)

  expect(world.starts).toHaveLength(1)
  expect(world.saved()).toMatchObject({ sprintId: 'second', status: 'parked', parked: { until: reset } })

  await clock.pass(4 * hour)
  expect(await Promise.all([first.done, second.done])).toMatchObject([
    { status: 'completed', iterations: [{ attempts: 2 }] },
    { status: 'completed', iterations: [{ attempts: 1 }] },
  ])
  expect(world.starts.map(({ at }) => at)).toEqual([reset - 5 * hour, reset, reset])
})

it('failing to record the limit costs other sprints a start, and this one nothing', async () => {
  const clock = createVirtualClock()
  const world = createWorld({
    clock,
    agent: (start) => (start === 1 ? limited(clock.now() + hour) : done),
    ports: { limits: { limitedUntil: async () => undefined, record: () => Promise.reject(new Error('read-only')) } },
  })

  const run = world.run(buildProgress())
  await clock.pass(2 * hour)

  expect(await run.done).toMatchObject({ status: 'completed' })
})

it('a fallback works until the first choice is back', async () => {
  const clock = createVirtualClock()
  const reset = clock.now() + 5 * hour
  const world = createWorld({
    clock,
    agent: async (start) => {
      if (start === 1) return limited(reset)
      if (start === 5) return done
      await clock.waitUntil(clock.now() + 2 * hour, new AbortController().signal)
      return buildOutcome()
    },
  })

  const run = world.run(buildProgress(), { agents: ['claude', 'codex'] })
  await clock.pass(12 * hour)
  await run.done

  expect(world.starts.map(({ agent }) => agent)).toEqual(['claude', 'codex', 'codex', 'codex', 'claude'])
  expect(world.events.flatMap((event) => (event.type === 'note' ? [event.text] : []))).toEqual([
    'claude has reached its usage limit; codex takes over',
    'claude takes over from codex',
  ])
})
