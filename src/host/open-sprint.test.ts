import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stateFolder } from '../platform/files/state-folder.ts'
import { buildProgress, noon, started } from '../../test/support/builders.ts'
import { createTestFolder } from '../../test/support/folder.ts'
import type { Progress } from '../contract/progress.ts'
import { readProgress } from '../storage/state/read-progress.ts'
import { applyFactToProgress } from './apply-fact.ts'
import { openSprint } from './open-sprint.ts'

const plan = buildProgress({ goal: 'Ship it' })

/** Opens the sprint, optionally starts it, and closes it. */
async function openOnce(sprintDir: string, compiled: Progress | undefined, start = false) {
  const { store, progress, changes } = await openSprint({ sprintDir, compiled, now: () => noon })
  if (start) await store.save(applyFactToProgress(progress, started()), started())
  const current = store.current()
  await store.close()
  return { changes, current }
}

const readRecords = (sprintDir: string): string[] =>
  readdirSync(join(stateFolder(sprintDir), 'journal')).flatMap((name) =>
    readFileSync(join(stateFolder(sprintDir), 'journal', name), 'utf8')
      .trimEnd()
      .split('\n'),
  )

describe('opening a sprint', () => {
  it('takes the compiled plan until the sprint has started', async () => {
    const dir = createTestFolder()
    await openOnce(dir, plan)
    const { current, changes } = await openOnce(dir, { ...plan, goal: 'Ship that' })
    expect({ goal: current.goal, changes }).toEqual({ goal: 'Ship that', changes: [] })
  })

  it('keeps a message that arrived before the first start', async () => {
    const dir = createTestFolder()
    const { store, progress } = await openSprint({ sprintDir: dir, compiled: plan, now: () => noon })
    const fact = { type: 'told' as const, at: noon, text: 'Use argon2', now: false }
    await store.save(applyFactToProgress(progress, fact), fact)
    await store.close()
    expect((await openOnce(dir, plan)).current.messages?.map(({ text }) => text)).toEqual(['Use argon2'])
  })

  it('records a changed plan as one fact once the sprint has run, and lists the changes', async () => {
    const dir = createTestFolder()
    await openOnce(dir, plan, true)
    const { changes, current } = await openOnce(dir, { ...plan, goal: 'Ship that' })
    expect(changes).toEqual(['goal: "Ship it" -> "Ship that"'])
    expect(current.status).toBe('in-progress')
    expect(readRecords(dir).filter((line) => line.includes('"recompiled"'))).toHaveLength(1)
    expect((await readProgress({ sprintDir: dir, fold: applyFactToProgress }))?.goal).toBe('Ship that')
    expect((await openOnce(dir, { ...plan, goal: 'Ship that' })).changes).toEqual([])
  })

  it('refuses another mode before it writes anything, and releases the sprint', async () => {
    const dir = createTestFolder()
    await openOnce(dir, plan, true)
    const before = readRecords(dir)
    await expect(openOnce(dir, { ...plan, mode: 'standard' })).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
    expect(readRecords(dir)).toEqual(before)
    expect((await openOnce(dir, undefined)).current.goal).toBe('Ship it')
  })

  it('fails for a folder without any state', async () => {
    await expect(openOnce(createTestFolder(), undefined)).rejects.toMatchObject({ code: 'PROGRESS_NOT_FOUND' })
  })
})
