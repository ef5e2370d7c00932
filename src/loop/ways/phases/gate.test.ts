import { describe, expect, it } from 'vitest'
import { after, interrupted, started, emittedEvents, workOrders } from '../../../../test/support/builders.ts'
import {
  buildGate,
  buildItem,
  buildPart,
  buildPhase,
  buildStandard,
  completes,
  fails,
  forEach,
  gateEnds,
  saysNothing,
  listStatuses,
  listInProgress,
} from '../../../../test/support/phases.ts'

const gated = buildStandard([buildPhase('a', { gate: buildGate() }), buildPhase('b')])

describe('a gate', () => {
  it('runs after the work, which only completes once it is green', () => {
    const waiting = after(gated, started(), completes('a'))
    const { progress, orders } = after(waiting.progress, gateEnds('a', 0))

    expect(workOrders(waiting.orders)).toEqual([{ type: 'run-gate', iteration: 1 }])
    expect(listStatuses(waiting.progress)).toEqual({ a: 'in-progress', b: 'pending' })
    expect(progress.phases?.[0]).toMatchObject({
      status: 'completed',
      gateTracking: { attempts: 1, status: 'passed', lastExitCode: 0, lastOutput: 'fine' },
    })
    expect(emittedEvents(orders)).toContainEqual({
      type: 'gate-ended',
      iteration: 1,
      work: { phase: 'a' },
      passed: true,
      attempts: 1,
      of: 3,
      exitCode: 0,
      output: 'fine',
    })
    expect(listInProgress(progress)).toEqual(['b'])
  })

  it('does not run after failed work', () => {
    expect(after(gated, started(), fails('a')).progress).toMatchObject({ status: 'blocked', live: [] })
  })

  it('that is red starts a repair iteration, then runs again', () => {
    const red = after(gated, started(), completes('a'), gateEnds('a', 1))
    const { progress, orders } = after(red.progress, completes('a'))

    expect(red.progress).toMatchObject({
      phases: [{ status: 'in-progress', gateTracking: { attempts: 1, status: 'retrying', lastOutput: 'red' } }, {}],
      live: [{ number: 2, work: { phase: 'a', gateFix: 1 } }],
      iterations: [{ verdict: 'refused' }],
    })
    expect(workOrders(orders)).toEqual([{ type: 'run-gate', iteration: 2 }])
    expect(after(progress, gateEnds('a', 0)).progress.phases?.[0]?.status).toBe('completed')
  })

  it('blocks the sprint after the maximum number of runs', () => {
    const red = [completes('a'), gateEnds('a', 1)]
    const { progress } = after(gated, started(), ...red, ...red, ...red)

    expect(progress).toMatchObject({
      status: 'blocked',
      error: 'the gate of a failed (exit code 1), 3 of 3 times',
      phases: [{ status: 'blocked', gateTracking: { attempts: 3, status: 'blocked' } }, { status: 'pending' }],
    })
  })

  it('that blocked runs first in the next run', () => {
    const blocked = after(
      buildStandard([buildPhase('a', { gate: buildGate(1) })]),
      started(),
      completes('a'),
      gateEnds('a', 1),
    ).progress
    const next = after(blocked, started())

    expect(workOrders(next.orders)).toEqual([{ type: 'run-gate', iteration: 2 }])
    expect(after(next.progress, gateEnds('a', 0)).progress.status).toBe('completed')
  })

  it('is red if it was ended', () => {
    const { progress } = after(
      gated,
      started(),
      completes('a'),
      gateEnds('a', 0, { exitCode: null, error: 'timed out after 1 s' }),
    )

    expect(progress.phases?.[0]?.gateTracking).toMatchObject({
      status: 'retrying',
      lastExitCode: null,
      error: 'timed out after 1 s',
    })
  })

  it('also runs after a repair that the agent reports as failed', () => {
    const { progress } = after(gated, started(), completes('a'), gateEnds('a', 1), fails('a'), gateEnds('a', 0))

    expect(listStatuses(progress)).toMatchObject({ a: 'completed' })
  })

  it('is not repaired by an agent without a report', () => {
    expect(after(gated, started(), completes('a'), gateEnds('a', 1), saysNothing('a')).progress).toMatchObject({
      status: 'blocked',
      phases: [{ errorCategory: 'validation' }, {}],
    })
  })

  it('runs again in the next run if it was interrupted', () => {
    const { orders } = after(gated, started(), completes('a'), interrupted, started())

    expect(workOrders(orders)).toEqual([{ type: 'run-gate', iteration: 1 }])
  })

  it('keeps only the end of its output', () => {
    const { progress } = after(
      gated,
      started(),
      completes('a'),
      gateEnds('a', 1, { output: `${'x'.repeat(20_000)}end` }),
    )
    const { lastOutput = '' } = progress.phases?.[0]?.gateTracking ?? {}

    expect([lastOutput.length, lastOutput.slice(-3)]).toEqual([10_000, 'end'])
  })
})

describe('the gate of a phase with items', () => {
  const progress = buildStandard([
    forEach('work', [buildItem('x', { phases: [buildPart('p', { gate: buildGate(1) })] })], { gate: buildGate() }),
  ])

  it('runs when all items are done, without an agent', () => {
    const done = after(progress, started(), completes('work/x'), gateEnds('work/x/p', 0))

    expect(workOrders(done.orders)).toEqual([{ type: 'run-gate', iteration: 2 }])
    expect(done.progress.live).toMatchObject([{ number: 2, attempt: 0, stage: 'gate', work: { phase: 'work' } }])
    expect(after(done.progress, gateEnds('work', 0)).progress).toMatchObject({
      status: 'completed',
      stats: { completedPhases: 2, completedSteps: 1 },
    })
  })

  it('is repaired like any other', () => {
    const red = after(progress, started(), completes('work/x'), gateEnds('work/x/p', 0), gateEnds('work', 1)).progress

    expect(red.live).toMatchObject([{ work: { phase: 'work', gateFix: 1 }, attempt: 1 }])
    expect(after(red, completes('work'), gateEnds('work', 0)).progress.status).toBe('completed')
  })

  it('fails its item if it is the gate of a part', () => {
    expect(after(progress, started(), completes('work/x'), gateEnds('work/x/p', 1)).progress).toMatchObject({
      status: 'blocked',
      phases: [{ status: 'blocked', steps: [{ status: 'failed', phases: [{ status: 'failed' }] }] }],
    })
  })
})
