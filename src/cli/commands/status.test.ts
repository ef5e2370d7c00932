import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestIo } from '../../../test/support/test-io.ts'
import {
  after,
  buildProgress,
  attemptEnded,
  buildReport,
  newSteps,
  noon,
  type Play,
  started,
} from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { noUsage } from '../../contract/outcome.ts'
import { historyLimits, type Progress } from '../../contract/progress.ts'
import { openSprintStore } from '../../storage/sprint/sprint-store.ts'
import { measureWidth } from '../io/width.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import { status } from './status.ts'

/** Creates a sprint in this folder, applies these facts, and closes it. Returns its final progress. */
async function createSprintWithFacts(dir: string, first: Progress, ...plays: readonly Play[]): Promise<Progress> {
  mkdirSync(dir, { recursive: true })
  const opened = await openSprintStore({ sprintDir: dir, fold: applyFactToProgress, now: () => noon }, first)
  let progress = first
  for (const play of plays) {
    const fact = typeof play === 'function' ? play(progress) : play
    progress = after(progress, fact).progress
    await opened?.store.save(progress, fact)
  }
  await opened?.store.close()
  return progress
}

const runSpending = { usage: { ...noUsage, inputTokens: 1200, outputTokens: 34, cacheReadTokens: 5_600_000 } }
const proceedCosting = (costUsd?: number): Play =>
  attemptEnded(
    { kind: 'report', report: buildReport({ pendingSteps: newSteps('one more thing') }) },
    { ...runSpending, costUsd, model: 'opus' },
  )

describe('ralph status', () => {
  it('shows all sprints as a table that fits the terminal', async () => {
    const cwd = createTestFolder()
    const dir = (name: string) => join(cwd, '.claude', 'sprints', name)
    await createSprintWithFacts(
      dir('a'),
      buildProgress({ goal: 'Build login '.repeat(20) }),
      started(),
      proceedCosting(0.5),
    )
    await createSprintWithFacts(dir('b'), buildProgress({ goal: '認証システムを構築する', limits: { iterations: 40 } }))
    mkdirSync(dir('c'))
    mkdirSync(dir('d'))
    writeFileSync(join(dir('d'), 'PROGRESS.yaml'), 'schema-version: 99\n')
    const { io, printed } = createTestIo({ cwd, now: () => noon + 65_000 })

    await status.run([], io)

    expect(printed).toEqual([
      'sprint  state             last event  iteration  steps  spent  goal',
      'a       cut off            1 min ago          2    0/1  $0.50  Build login Build login Build login …',
      'b       not-started                           0    0/0  $0.00  認証システムを構築する',
      'c       not compiled',
      expect.stringMatching(/^d       PROGRESS_INVALID /),
    ])
  })

  it.each([30, 40, 60, 80, 200])('prints no line wider than %i columns', async (columns) => {
    const cwd = createTestFolder()
    const dir = join(cwd, '.claude', 'sprints', '2026-11-15_a')
    await createSprintWithFacts(
      dir,
      buildProgress({ goal: '認証 👩‍💻'.repeat(50) }),
      started(),
      proceedCosting(0.5),
      proceedCosting(1),
    )
    const { io, printed } = createTestIo({ cwd, columns: () => columns })

    await status.run([], io)
    const table = printed.splice(0)
    await status.run([dir], io)
    const receipts = printed.slice(
      printed.findIndex((line) => line.trimStart().startsWith('#')),
      -1,
    )

    expect([...table, ...receipts].filter((line) => measureWidth(line) > columns)).toEqual([])
    expect(receipts.length).toBeGreaterThan(2)
  })

  it('shows a receipt for each of the last iterations', async () => {
    const dir = createTestFolder()
    await createSprintWithFacts(
      dir,
      buildProgress(),
      started({ agents: ['claude'] }),
      proceedCosting(0.25),
      proceedCosting(),
    )
    const { io, printed } = createTestIo({ columns: () => 140 })

    await status.run([dir], io)

    expect(
      printed.slice(
        printed.findIndex((line) => line.startsWith('#')),
        -1,
      ),
    ).toEqual([
      '#  verdict   mode       agent          in  out  cache      cost   time  checks  summary',
      '1  continue  planning   claude opus  1.2k   34   5.6M     $0.25  0.0 s          did something',
      '2  continue  executing  claude opus  1.2k   34   5.6M  unpriced  0.0 s          did something',
    ])
    expect(printed.at(-1)).toMatch(/^owner: none; resume with: ralph run /)
  })

  it('shows history with --all that PROGRESS.yaml has dropped', async () => {
    const dir = createTestFolder()
    const count = historyLimits.iterations + 20
    const progress = await createSprintWithFacts(
      dir,
      buildProgress(),
      started(),
      ...Array.from({ length: count }, () => proceedCosting(0.01)),
    )
    const { io, printed } = createTestIo()

    await status.run([dir, '--all', '--json'], io)

    const { history } = JSON.parse(printed[0] ?? '')
    expect(progress.iterations).toHaveLength(historyLimits.iterations)
    expect(history.iterations.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: count }, (_, index) => index + 1),
    )
    expect(history.steps).toHaveLength(count)
  })

  it('requires a sprint folder for --all', async () => {
    await expect(status.run(['--all'], createTestIo().io)).rejects.toThrow(/--all needs a sprint/)
  })
})
