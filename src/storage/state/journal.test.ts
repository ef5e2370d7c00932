import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildProgress, noon } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import type { Progress } from '../../contract/progress.ts'
import { formatRecord, readSegment } from './journal-record.ts'
import {
  openJournal,
  quarantineSegment,
  readJournal,
  type Fold,
  type Journal,
  type RecoveredJournal,
} from './journal.ts'

/** Keeps the messages, which is enough to see what is remembered. */
const fold: Fold = (progress, fact) => {
  if (fact.type !== 'told') throw new Error(`${fact.type} means nothing here`)
  return {
    ...progress,
    rev: progress.rev + 1,
    messages: [...(progress.messages ?? []), { text: fact.text, at: fact.at }],
  }
}
const now = () => noon
const message = (text: string) => ({ type: 'told' as const, at: noon, text, now: false })

const open = async (sprintDir: string, start?: RecoveredJournal | Progress): Promise<Journal> => {
  const from = start ?? (await readJournal(sprintDir, fold)) ?? buildProgress()
  return openJournal(sprintDir, 'seq' in from ? from : { progress: from, seq: 0, epoch: 0 }, now)
}

/** Records these messages one after the other; returns the resulting progress. */
async function recordMessages(journal: Journal, from: Progress, ...texts: readonly string[]): Promise<Progress> {
  let progress = from
  for (const text of texts) {
    progress = fold(progress, message(text))
    await journal.record(message(text), progress)
  }
  return progress
}

const readTexts = (recovered: RecoveredJournal | undefined) => recovered?.progress.messages?.map(({ text }) => text)
const segments = (sprintDir: string) => readdirSync(join(sprintDir, 'journal')).toSorted()
const segmentFile = (sprintDir: string, number = 1) => join(sprintDir, 'journal', `0000000${number}.log`)
const readRecords = (sprintDir: string) =>
  segments(sprintDir).flatMap((name) => readSegment(readFileSync(join(sprintDir, 'journal', name))).records)

describe('a recorded fact', () => {
  it('is still there after the process is gone', async () => {
    const dir = createTestFolder()
    const journal = await open(dir)
    const progress = await recordMessages(journal, buildProgress(), 'one', 'two')
    // Not closed: a killed process closes nothing.

    expect(await readJournal(dir, fold)).toMatchObject({ progress, seq: 4, epoch: 1, tornBytes: 0 })
    await journal.close()
  })

  it('has a number without gaps and an epoch that grows with every run', async () => {
    const dir = createTestFolder()
    for (let run = 0; run < 3; run++) {
      const journal = await open(dir)
      await recordMessages(journal, (await readJournal(dir, fold))?.progress ?? buildProgress(), `run ${run}`)
      await journal.close()
    }
    expect(readRecords(dir).map(({ seq, epoch, kind }) => `${seq} ${epoch} ${kind}`)).toEqual([
      '1 1 snapshot',
      '2 1 run',
      '3 1 fact',
      '4 2 run',
      '5 2 fact',
      '6 3 run',
      '7 3 fact',
    ])
    expect(readTexts(await readJournal(dir, fold))).toEqual(['run 0', 'run 1', 'run 2'])
  })

  it('is undefined where there is no journal', async () => {
    expect(await readJournal(createTestFolder(), fold)).toBeUndefined()
  })

  it('keeps counting when a sprint starts over', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await recordMessages(first, buildProgress(), 'one')
    await first.close()
    const { seq, epoch } = (await readJournal(dir, fold)) ?? { seq: 0, epoch: 0 }
    const second = await openJournal(dir, { progress: buildProgress({ goal: 'another' }), seq, epoch }, now)
    await second.close()

    expect(segments(dir)).toEqual(['00000001.log', '00000002.log'])
    expect(await readJournal(dir, fold)).toMatchObject({ progress: { goal: 'another' }, seq: 5, epoch: 2 })
  })
})

describe('a journal whose writer was killed', () => {
  it('is cut at its last complete record, no matter where the writer was', async () => {
    const dir = createTestFolder()
    const journal = await open(dir)
    await recordMessages(journal, buildProgress(), 'kept')
    const good = readFileSync(segmentFile(dir)).length
    await journal.record(message('torn'), buildProgress())
    await journal.close()
    const bytes = readFileSync(segmentFile(dir))
    for (let length = good; length < bytes.length; length++) {
      writeFileSync(segmentFile(dir), bytes.subarray(0, length))
      expect(await readJournal(dir, fold)).toMatchObject({ goodBytes: good, tornBytes: length - good, seq: 3 })
    }

    const next = await open(dir)
    await recordMessages(next, buildProgress(), 'after')
    await next.close()
    expect(readTexts(await readJournal(dir, fold))).toEqual(['kept', 'after'])
    expect(readRecords(dir).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
  })

  it('is not read beyond a damaged record, and stays unchanged', async () => {
    const dir = createTestFolder()
    const journal = await open(dir)
    await recordMessages(journal, buildProgress(), 'one', 'two', 'three')
    await journal.close()
    const file = segmentFile(dir)
    const bytes = readFileSync(file)
    bytes[bytes.indexOf('two')] = 0x54
    writeFileSync(file, bytes)

    await expect(readJournal(dir, fold)).rejects.toMatchObject({
      code: 'JOURNAL_DAMAGED',
      place: { file },
      message: expect.stringContaining('after number 3'),
    })
    expect(readFileSync(file)).toEqual(bytes)

    expect(await quarantineSegment(file)).toBe(`${file}.quarantined`)
    expect(segments(dir)).toEqual(['00000001.log.quarantined'])
    expect(await readJournal(dir, fold)).toBeUndefined()
    writeFileSync(file, 'another one')
    expect(await quarantineSegment(file)).toBe(`${file}.quarantined-2`)
  })

  it('is damaged, not empty, if a fact in it cannot be applied', async () => {
    const dir = createTestFolder()
    const journal = await open(dir)
    await journal.record({ type: 'wait-ended', at: noon, iteration: 9 }, buildProgress())
    await journal.close()

    await expect(readJournal(dir, fold)).rejects.toMatchObject({
      code: 'JOURNAL_DAMAGED',
      message: expect.stringContaining('record 3 cannot be applied'),
    })
  })

  it.each([
    ['is empty', ''],
    ['holds only a part of its snapshot', '01234567 {"v":1,"seq":4,"ki'],
    ['is of zeros', '\0'.repeat(5000)],
  ])('continues from the previous segment if its newest %s', async (_, text) => {
    const dir = createTestFolder()
    const journal = await open(dir)
    await recordMessages(journal, buildProgress(), 'one')
    await journal.close()
    writeFileSync(segmentFile(dir, 2), text)

    expect(readTexts(await readJournal(dir, fold))).toEqual(['one'])
    const next = await open(dir)
    await recordMessages(next, buildProgress(), 'two')
    await next.close()
    expect(readTexts(await readJournal(dir, fold))).toEqual(['one', 'two'])
  })
})

describe('a long journal', () => {
  const big = 'x'.repeat(20_000)
  /** Remembers only the last message, so that the progress stays small. */
  const forgetful: Fold = (progress, fact) => ({ ...fold(progress, fact), messages: [{ text: 'last', at: noon }] })

  it('regularly starts a new segment with a snapshot, so that little is replayed', async () => {
    const dir = createTestFolder()
    const journal = await open(dir)
    let progress = buildProgress()
    for (let n = 0; n < 100; n++) {
      progress = forgetful(progress, message(big))
      await journal.record(message(big), progress)
    }
    await journal.close()
    let replayed = 0
    const recovered = await readJournal(dir, (...args) => {
      replayed++
      return forgetful(...args)
    })

    expect(recovered?.progress).toEqual(progress)
    expect(segments(dir).length).toBeGreaterThan(5)
    expect(replayed).toBeLessThanOrEqual(15)
    const records = readRecords(dir)
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1))
    expect(records.filter(({ kind }) => kind === 'fact')).toHaveLength(100)
  })

  it('starts a new segment for many small facts too, no matter how big the progress is, even over several runs', async () => {
    const dir = createTestFolder()
    const long = buildProgress({ goal: 'x'.repeat(600_000) })
    let replayed = 0
    const counting: Fold = (...args) => {
      replayed++
      return forgetful(...args)
    }
    for (let run = 0; run < 3; run++) {
      const recovered = await readJournal(dir, forgetful)
      const journal = await open(dir, recovered ?? long)
      let progress = recovered?.progress ?? long
      for (let n = 0; n < 500; n++) {
        progress = forgetful(progress, message('y'))
        await journal.record(message('y'), progress)
      }
      await journal.close()
    }
    const recovered = await readJournal(dir, counting)

    expect(segments(dir)).toEqual(['00000001.log', '00000002.log'])
    expect(replayed).toBeLessThan(1000)
    expect(recovered?.progress.rev).toBe(long.rev + 1500)
  })

  it('stops, and loses nothing, when a new segment can neither be started nor removed', async () => {
    const dir = createTestFolder()
    const journal = await open(dir)
    // Nothing can be renamed onto a folder, nor can it be deleted as a file.
    mkdirSync(join(segmentFile(dir, 2), 'in the way'), { recursive: true })
    const progress = await tellBig(journal, buildProgress(), 13)
    await expect(tellBig(journal, progress, 2)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
    await journal.close()

    rmSync(segmentFile(dir, 2), { recursive: true })
    const recovered = await readJournal(dir, forgetful)
    expect(recovered?.progress.rev).toBeGreaterThanOrEqual(13)
    expect(recovered?.seq).toBe(2 + (recovered?.progress.rev ?? 0))
  })

  async function tellBig(journal: Journal, from: Progress, times: number): Promise<Progress> {
    let progress = from
    for (let n = 0; n < times; n++) {
      progress = forgetful(progress, message(big))
      await journal.record(message(big), progress)
    }
    return progress
  }
})

describe('a writer that is no longer the owner', () => {
  it('writes into a file that no process reads', async () => {
    const dir = createTestFolder()
    const old = await open(dir)
    await recordMessages(old, buildProgress(), 'one')
    const recovered = await readJournal(dir, fold)
    const next = await open(dir, recovered)
    await recordMessages(next, recovered?.progress ?? buildProgress(), 'two')

    await old.record(message('too late'), buildProgress())
    expect(old.isInPlace()).toBe(false)
    expect(readTexts(await readJournal(dir, fold))).toEqual(['one', 'two'])
    await recordMessages(next, buildProgress(), 'three')
    expect(readTexts(await readJournal(dir, fold))).toEqual(['one', 'two', 'three'])
    await old.close()
    await next.close()
  })
})

describe('a journal that was deleted during the run', () => {
  it('is written again from memory', async () => {
    const dir = createTestFolder()
    const journal = await open(dir)
    const progress = await recordMessages(journal, buildProgress(), 'one')
    rmSync(join(dir, 'journal'), { recursive: true })
    expect(journal.isInPlace()).toBe(false)

    await journal.restore(progress)
    await recordMessages(journal, progress, 'two')
    await journal.close()
    expect(await readJournal(dir, fold)).toMatchObject({ seq: 5, epoch: 1 })
    expect(readTexts(await readJournal(dir, fold))).toEqual(['one', 'two'])
  })
})

describe('a recorded edit of PROGRESS.yaml', () => {
  it('is remembered with its source, even after a snapshot', async () => {
    const dir = createTestFolder()
    const journal = await open(dir)
    await journal.record(message('edited'), fold(buildProgress(), message('edited')), 'abc')
    expect((await readJournal(dir, fold))?.edit).toBe('abc')

    rmSync(join(dir, 'journal'), { recursive: true })
    await journal.restore(buildProgress())
    await journal.close()
    expect((await readJournal(dir, fold))?.edit).toBe('abc')
  })

  it('can be compared with what its author had read', async () => {
    const dir = createTestFolder()
    const journal = await open(dir)
    await recordMessages(journal, buildProgress(), 'one', 'two')
    await journal.close()
    const { bases } = (await readJournal(dir, fold, 1)) ?? { bases: new Map() }

    expect([...bases.keys()]).toEqual([1, 2])
    expect(bases.get(1)).toEqual(fold(buildProgress(), message('one')))
  })
})

it('is absent from journals of earlier versions, which stay readable', async () => {
  const dir = createTestFolder()
  mkdirSync(join(dir, 'journal'))
  const from = { epoch: 0, at: '2026-11-15T12:00:00.000Z' }
  const other = await open(join(dir, 'other'))
  await other.close()
  const snapshot = readRecords(join(dir, 'other'))[0]?.data
  appendFileSync(segmentFile(dir), formatRecord({ ...from, seq: 1, kind: 'snapshot', data: snapshot }))
  appendFileSync(segmentFile(dir), formatRecord({ ...from, epoch: 1, seq: 2, kind: 'run', data: {} }))
  appendFileSync(segmentFile(dir), formatRecord({ ...from, epoch: 1, seq: 3, kind: 'fact', data: message('old') }))

  expect(readTexts(await readJournal(dir, fold))).toEqual(['old'])
})
