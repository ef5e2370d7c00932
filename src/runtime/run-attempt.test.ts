import { describe, expect, it } from 'vitest'
import { buildCheck, buildProgress } from '../../test/support/builders.ts'
import { buildOutcome, createWorld } from '../../test/support/virtual.ts'
import type { LockState } from '../loop/core/way.ts'

/** A notes folder whose lock the agent deletes in the given turns. */
function createTestLock(deletedIn: readonly number[], lockEnd: Partial<Extract<LockState, { exists: false }>> = {}) {
  const restored: string[] = []
  return {
    restored,
    port: {
      folder: '/notes',
      read: async (): Promise<LockState> =>
        deletedIn.includes(restored.length) ? { exists: false, ...lockEnd } : { exists: true },
      restore: async (attempt: string) => void restored.push(attempt),
    },
  }
}

const createRalphMode = (overrides: Parameters<typeof buildProgress>[0] = {}) =>
  buildProgress({ protocol: 'notes', ...overrides })

describe('an attempt of Ralph Mode', () => {
  it('ends with the state of its lock, which is restored before each attempt', async () => {
    const lock = createTestLock([3])
    const world = createWorld({ agent: () => buildOutcome({ text: 'did a part' }), ports: { lock: lock.port } })
    const progress = await world.run(createRalphMode()).done
    expect(progress.status).toBe('completed')
    expect(progress.iterations.map(({ verdict, summary }) => ({ verdict, summary }))).toEqual([
      { verdict: 'continue', summary: 'did a part' },
      { verdict: 'continue', summary: 'did a part' },
      { verdict: 'accepted', summary: 'did a part' },
    ])
    expect(lock.restored).toEqual(['1-1', '2-1', '3-1'].map((attempt) => `${progress.sprintId}/${attempt}`))
    expect(world.starts[0]?.request.prompt).toContain('/notes/.task-lock')
  })

  it('continues when a check refuses the claim', async () => {
    const lock = createTestLock([1, 2])
    let runs = 0
    const world = createWorld({
      ports: { lock: lock.port },
      shell: () => (++runs === 1 ? { exitCode: 1, output: 'line 3 is wrong' } : {}),
    })
    const progress = await world.run(createRalphMode({ doneWhen: [buildCheck()] })).done
    expect(progress.iterations.map(({ verdict }) => verdict)).toEqual(['refused', 'accepted'])
    expect(world.starts[1]?.request.prompt).toContain('line 3 is wrong')
    expect(lock.restored).toHaveLength(2)
  })

  it('asks a person when the agent is stuck', async () => {
    const lock = createTestLock([1], { outcome: 'stuck', text: 'no key' })
    const progress = await createWorld({ ports: { lock: lock.port } }).run(createRalphMode()).done
    expect(progress).toMatchObject({ status: 'needs-human', humanNeeded: { reason: 'no key' } })
  })

  it('fails if the lock cannot be read, which does not mean deleted', async () => {
    const read = async () => {
      throw new Error('EACCES')
    }
    const world = createWorld({ ports: { lock: { ...createTestLock([]).port, read } } })
    const run = world.run(createRalphMode())
    await world.clock.pass(3_600_000)
    const progress = await run.done
    expect(progress).toMatchObject({ failure: { reason: 'the notes cannot be read: EACCES' } })
    expect(progress.ralphExit.detectedAt).toBe(null)
  })

  it('does not start without a lock to delete', async () => {
    const restore = async () => {
      throw new Error('ENOSPC')
    }
    const world = createWorld({ ports: { lock: { ...createTestLock([]).port, restore } } })
    const run = world.run(createRalphMode())
    await world.clock.pass(3_600_000)
    expect(await run.done).toMatchObject({ failure: { reason: 'the notes cannot be read: ENOSPC' } })
    expect(world.starts).toEqual([])
  })
})
