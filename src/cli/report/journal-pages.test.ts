import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildProgress } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { examineSprint } from '../../doctor/examine.ts'
import { encodeProgress } from '../../storage/state/encode-progress.ts'
import { formatRecord, type JournalRecord } from '../../storage/state/journal-record.ts'
import { journalFolder } from '../../storage/state/journal.ts'
import { readIterationRecords } from '../../host/journal-reader.ts'

const perSegment = 100

/** A journal whose segments each begin with a snapshot, 100 iterations after the one before, and have one more record. */
function createJournal(segments: number) {
  const sprintDir = createTestFolder()
  const folder = journalFolder(sprintDir)
  mkdirSync(folder, { recursive: true })
  const at = '2026-01-18T12:00:00.000Z'
  const files = Array.from({ length: segments }, (_, n) => {
    const { stats, ...progress } = buildProgress({})
    const snapshot = encodeProgress({ ...progress, stats: { ...stats, currentIteration: n * perSegment } })
    const records: readonly Omit<JournalRecord, 'v'>[] = [
      { seq: 2 * n + 1, epoch: n + 1, at, kind: 'snapshot', data: snapshot },
      { seq: 2 * n + 2, epoch: n + 1, at, kind: 'run', data: {} },
    ]
    const file = join(folder, `${String(n + 1).padStart(8, '0')}.log`)
    writeFileSync(file, records.map((record) => formatRecord(record)).join(''))
    return file
  })
  return { sprintDir, files }
}

it.each([
  ['in the middle', { from: 1500, before: 1600 }, [29, 34]],
  ['at the end', { from: 1901, before: 2001 }, [39, 40]],
  ['at the beginning', { from: 1, before: 41 }, [1, 2]],
])('reads only the segments that tell about a range %s', async (_, range, [first, last]) => {
  const { sprintDir } = createJournal(20)
  const records = await readIterationRecords(sprintDir, range)
  expect([records[0]?.seq, records.at(-1)?.seq]).toEqual([first, last])
})

it('D13: lets doctor verify every checksum and replay the newest segments, or all of them', async () => {
  const { sprintDir, files } = createJournal(20)
  const { segments, entries, fileFindings } = await examineSprint(sprintDir, 'newest')
  expect(segments.filter(({ unchecked }) => unchecked?.records === 2 && unchecked.runs === 1)).toHaveLength(14)
  expect(entries).toHaveLength(12)
  expect(fileFindings).toEqual([])
  expect((await examineSprint(sprintDir)).entries).toHaveLength(40)

  writeFileSync(files[2] ?? '', 'damaged\n', { flag: 'a' })
  const found = await examineSprint(sprintDir, 'newest')
  expect(found.fileFindings).toEqual([
    expect.objectContaining({ level: 'broken', text: expect.stringContaining('00000003.log') }),
  ])
})
