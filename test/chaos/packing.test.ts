import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { linkTranscript } from '../../src/platform/processes/attempt-folder.ts'
import { stateFolder } from '../../src/platform/files/state-folder.ts'
import { applyFactToProgress } from '../../src/host/apply-fact.ts'
import { openSprintStore } from '../../src/storage/sprint/sprint-store.ts'
import { createRandom } from '../simulation/random.ts'
import { buildProgress, noon } from '../support/builders.ts'
import { createTestFolder } from '../support/folder.ts'
import { readPacked } from '../support/packed.ts'
import { root } from '../support/paths.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
// All of them: npm run test:more -- chaos
const [kills, iterations] = process.env['CHAOS'] ? [25, 250] : [8, 120]

/** A sprint with an agent, a hook and a check in each iteration; returns the content of every file of its attempts. */
async function createRecordedSprint() {
  const sprintDir = createTestFolder()
  const opened = await openSprintStore({ sprintDir, fold: applyFactToProgress, now: () => noon }, buildProgress({}))
  await opened?.store.close()
  const state = stateFolder(sprintDir)
  const written = new Map<string, string>()
  for (let n = 1; n <= iterations; n++) {
    for (const [name, link] of [
      [`${n}-1`, `iteration-${n}.jsonl`],
      [`${n}-hook-lint`, `iter-${n}-lint.jsonl`],
      [`${n}-check-1`, undefined],
    ] as const) {
      const folder = join(state, 'attempts', name)
      mkdirSync(folder, { recursive: true })
      for (const file of ['prompt.md', 'transcript.jsonl', 'stderr.log', 'exit']) {
        const text = file === 'exit' ? '0\n' : `${file} of ${name}\n${'again and again '.repeat(20)}`
        writeFileSync(join(folder, file), text)
        written.set(`${name}/${file}`, text)
      }
      if (link !== undefined) linkTranscript(join(sprintDir, 'transcripts', link), folder)
    }
  }
  return { sprintDir, state, written }
}

type RecordedSprint = Awaited<ReturnType<typeof createRecordedSprint>>

/** The files that are neither in a pack nor in their folder, or differ. */
function findLost({ state, written }: RecordedSprint): string[] {
  const packed = readPacked(state)
  return [...written].flatMap(([name, text]) => {
    const file = join(state, 'attempts', name)
    const found = packed.get(name)?.toString() ?? (existsSync(file) ? readFileSync(file, 'utf8') : undefined)
    return found === text ? [] : [name]
  })
}

/** Resolves with the signal that ended it: it kills itself before the change of a file that `changes` counts to. */
async function pack({ sprintDir }: RecordedSprint, changes = Infinity): Promise<unknown> {
  const child = spawn(
    process.execPath,
    [join(root, 'test/chaos/packing.mjs'), sprintDir, String(iterations), String(changes)],
    { stdio: 'inherit', env: process.env },
  )
  const [, signal] = await once(child, 'close')
  return signal
}

it(`loses nothing although packing is killed ${kills} times (SEED=${seed})`, async () => {
  const recorded = await createRecordedSprint()
  const random = createRandom(seed)
  for (let n = 0; n < kills; n++) {
    expect(await pack(recorded, 1 + random.below(100))).toBe('SIGKILL')
    expect(findLost(recorded)).toEqual([])
  }
  expect(await pack(recorded)).toBe(null)

  const { sprintDir, state } = recorded
  expect(findLost(recorded)).toEqual([])
  expect(readdirSync(join(state, 'attempts'))).toEqual([])
  // 3 attempts with 4 files and 2 links each iteration; now 2 files and 2 links.
  expect(readdirSync(join(state, 'transcripts'))).toHaveLength(2 * iterations)
  expect(readdirSync(join(state, 'packed')).length).toBeLessThanOrEqual(3)
  for (let n = 1; n <= iterations; n++) {
    expect(readFileSync(join(sprintDir, 'transcripts', `iteration-${n}.jsonl`), 'utf8')).toContain(`of ${n}-1\n`)
    expect(readFileSync(join(sprintDir, 'transcripts', `iter-${n}-lint.jsonl`), 'utf8')).toContain(
      `of ${n}-hook-lint\n`,
    )
  }
})
