import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildProgress, noon } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { linkTranscript } from '../../platform/processes/attempt-folder.ts'
import { readPackedIteration } from '../../platform/processes/attempt-pack.ts'
import { pruneSprint } from './prune-sprint.ts'
import { openSprintStore } from './sprint-store.ts'

const day = 24 * 60 * 60 * 1000

/** 110 iterations with one attempt each; the first 100 are 40 days old. */
async function createSprint() {
  const sprintDir = createTestFolder()
  const opened = await openSprintStore({ sprintDir, fold: applyFactToProgress, now: () => noon }, buildProgress({}))
  await opened?.store.close()
  const state = stateFolder(sprintDir)
  for (let n = 1; n <= 110; n++) {
    const folder = join(state, 'attempts', `${n}-1`)
    const at = (noon - (n <= 100 ? 40 : 1) * day) / 1000
    mkdirSync(folder, { recursive: true })
    for (const file of ['prompt.md', 'transcript.jsonl', 'exit']) {
      writeFileSync(join(folder, file), file === 'exit' ? '0\n' : `${file} ${n}\n`)
      utimesSync(join(folder, file), at, at)
    }
    linkTranscript(join(sprintDir, 'transcripts', `iteration-${n}.jsonl`), folder)
  }
  writeFileSync(join(sprintDir, 'transcripts', 'mine.txt'), 'of the user')
  utimesSync(join(sprintDir, 'transcripts', 'mine.txt'), 1, 1)
  const keep = (transcripts: number | 'all') => ({
    project: sprintDir,
    sprintDir,
    sprintId: 's',
    now: noon,
    progress: { ...buildProgress({}), keep: { transcripts, checkpoints: 'all' as const } },
  })
  const countFiles = () => readdirSync(state, { recursive: true, withFileTypes: true }).filter((f) => f.isFile()).length
  const transcript = async (n: number) =>
    (await readPackedIteration(state, n))[0]?.files.get('transcript.jsonl')?.toString()
  return { sprintDir, state, keep, countFiles, transcript }
}

it('D12: packs what has ended, and removes only transcripts that are older than keep.transcripts', async () => {
  const { sprintDir, state, keep, countFiles, transcript } = await createSprint()
  const journal = () => readdirSync(join(state, 'journal')).map((name) => readFileSync(join(state, 'journal', name)))
  const before = journal()
  expect(await pruneSprint(keep('all'), 'remove')).toMatchObject({ transcripts: { files: 0, bytes: 0 } })
  expect(readdirSync(join(state, 'attempts'))).toEqual([])
  const packed = countFiles()

  const counted = await pruneSprint(keep(30 * day), 'count')
  // One pack and the 100 transcripts that have a name.
  expect(counted).toEqual({
    transcripts: { files: 101, bytes: expect.any(Number), upToIteration: 100 },
    checkpoints: 0,
  })
  expect([countFiles(), await transcript(1)]).toEqual([packed, 'transcript.jsonl 1\n'])

  expect(await pruneSprint(keep(30 * day), 'remove')).toEqual(counted)
  expect(countFiles()).toBe(packed - 101)
  expect([await transcript(100), await transcript(101)]).toEqual([undefined, 'transcript.jsonl 101\n'])
  const named = Array.from({ length: 10 }, (_, index) => `iteration-${index + 101}.jsonl`)
  expect(readdirSync(join(sprintDir, 'transcripts')).toSorted()).toEqual([...named, 'mine.txt'])
  expect(readFileSync(join(sprintDir, 'transcripts', 'iteration-101.jsonl'), 'utf8')).toBe('transcript.jsonl 101\n')
  expect(journal()).toEqual(before)
})
