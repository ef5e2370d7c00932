import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { buildProgress, noon } from '../../../test/support/builders.ts'
import { chooseRemovable, packCheckpoints, pruneCheckpoints } from './prune-checkpoints.ts'
import { diffIterations, restoreFiles } from './restore.ts'
import { openWorkspace } from './workspace.ts'

const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim()

/** A project with a checkpoint after each iteration; `file` contains the number of the last iteration that changed it. */
async function createProject(iterations: number, changes: (iteration: number) => boolean = () => true) {
  const project = createTestFolder()
  const sprintDir = join(project, '.claude', 'sprints', 's')
  mkdirSync(sprintDir, { recursive: true })
  git(project, 'init', '-q')
  writeFileSync(join(project, 'file'), 'start\n')
  const options = { project, sprintDir, sprintId: 's' }
  const workspace = await openWorkspace(options)
  await workspace.start()
  for (let n = 1; n <= iterations; n++) {
    if (changes(n)) writeFileSync(join(project, 'file'), `${n}\n`)
    await workspace.checkpoint(n, `iteration ${n}`)
  }
  const refs = () => git(project, 'for-each-ref', '--format=%(refname:lstrip=3)', 'refs/ralph').split('\n')
  return { options, refs, file: () => readFileSync(join(project, 'file'), 'utf8') }
}

const kept = (currentIteration: number, checkpoints: number | 'all', accepted: number | null = null) => {
  const progress = buildProgress({})
  return {
    keep: { transcripts: 'all' as const, checkpoints },
    stats: { ...progress.stats, currentIteration },
    ralphExit: { ...progress.ralphExit, iteration: accepted },
  }
}

it('keeps the newest, the first, the accepted one, and the one before the kept', () => {
  const all = Array.from({ length: 21 }, (_, iteration) => ({ iteration, commit: 'c' }))
  expect(chooseRemovable(all, kept(20, 'all'))).toEqual([])
  expect(chooseRemovable(all, kept(20, 100))).toEqual([])
  expect(chooseRemovable(all, kept(20, 5, 3))).toEqual([1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
  const rare = [0, 4, 9].map((iteration) => ({ iteration, commit: 'c' }))
  expect(chooseRemovable(rare, kept(20, 5, 6))).toEqual([])
})

describe('removed checkpoints', () => {
  it('are named as such, the kept ones are restored exactly, and nothing is restored in place of a removed one', async () => {
    const { options, refs, file } = await createProject(12, (n) => n % 2 === 0)

    expect(await pruneCheckpoints(options, kept(12, 4, 2), 'count')).toBe(2)
    expect(await pruneCheckpoints(options, kept(12, 4, 2), 'remove')).toBe(2)

    expect(refs().toSorted()).toEqual(['0', '10', '12', '2', '8', 'last'])
    for (const gone of [4, 5, 6, 7]) {
      const refusal = { code: 'CHECKPOINT_NOT_FOUND', message: expect.stringContaining('keep.checkpoints') }
      await expect(restoreFiles(options, { iteration: gone }, noon)).rejects.toMatchObject(refusal)
      await expect(diffIterations(options, { from: gone - 1, to: gone })).rejects.toMatchObject(refusal)
    }
    expect(await diffIterations(options, { from: 9, to: 10 })).toContain('-8')
    for (const [iteration, text] of [
      [9, '8\n'],
      [2, '2\n'],
      [3, '2\n'],
      [12, '12\n'],
      [0, 'start\n'],
    ] as const) {
      await restoreFiles(options, { iteration }, noon + iteration)
      expect(file()).toBe(text)
    }
    expect(await pruneCheckpoints(options, kept(12, 4, 2), 'remove')).toBe(0)
  })
})

it('D12: packs the objects of many checkpoints, and they are restored as before', async () => {
  const { options, file } = await createProject(8)
  const loose = () => Number(/^count: (\d+)/m.exec(git(options.project, 'count-objects', '-v'))?.[1])
  const before = loose()
  await packCheckpoints(options)
  expect(loose()).toBe(before)
  await packCheckpoints(options, 8)

  expect([before, loose()]).toEqual([expect.any(Number), 0])
  expect(before).toBeGreaterThan(20)
  expect(readdirSync(join(options.project, '.git/objects/pack')).filter((name) => name.endsWith('.pack'))).toHaveLength(
    1,
  )
  git(options.project, 'fsck', '--strict')
  await restoreFiles(options, { iteration: 7 }, noon)
  expect(file()).toBe('7\n')
})
