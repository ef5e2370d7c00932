import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildProgress } from '../../test/support/builders.ts'
import { recordKey } from '../platform/files/state-folder.ts'
import { encodeProgress } from '../storage/state/encode-progress.ts'
import { formatRecord } from '../storage/state/journal-record.ts'
import { journalFolder } from '../storage/state/journal.ts'
import { examineSprint, type ExaminationDepth } from './examine.ts'
import { checkInvariants } from './invariants.ts'

/** A journal of nine segments with two records each, of which three are older than those that are replayed by default. */
function createLongJournal() {
  const sprintDir = mkdtempSync(join(tmpdir(), 'ralph-examine-'))
  onTestFinished(() => rmSync(sprintDir, { recursive: true }))
  const data = encodeProgress(buildProgress())
  const at = (segment: number) => join(journalFolder(sprintDir), `0000000${segment}.log`)
  const write = (segment: number, ...seqs: readonly number[]) =>
    writeFileSync(
      at(segment),
      seqs
        .map((seq) => {
          const kind = seq === 2 ? 'run' : 'snapshot'
          const record = {
            seq,
            epoch: 1,
            at: '2026-11-15T12:00:00.000Z',
            kind,
            data: kind === 'run' ? {} : data,
          } as const
          return formatRecord(record, recordKey(sprintDir))
        })
        .join(''),
    )
  mkdirSync(journalFolder(sprintDir), { recursive: true })
  for (let segment = 1; segment <= 9; segment++) write(segment, segment * 2 - 1, segment * 2)
  const findBroken = async (depth: ExaminationDepth) => {
    const examined = await examineSprint(sprintDir, depth)
    const findings = [...examined.fileFindings, ...checkInvariants(examined).findings]
    return findings
      .filter(({ level }) => level === 'broken')
      .map(({ text }) => text.replace(`${journalFolder(sprintDir)}/`, ''))
  }
  return { at, write, findBroken }
}

describe.each(['newest', 'all'] as const)('an examination of the depth %s', (depth) => {
  it('finds nothing wrong with a whole journal', async () => {
    expect(await createLongJournal().findBroken(depth)).toEqual([])
  })

  it('finds a segment that is missing among the oldest', async () => {
    const { at, findBroken } = createLongJournal()
    rmSync(at(2))
    expect(await findBroken(depth)).toEqual(['record 5 follows record 2'])
  })

  it('finds a segment that is missing before the newest', async () => {
    const { at, write, findBroken } = createLongJournal()
    rmSync(at(4))
    write(9, 17, 18)
    expect(await findBroken(depth)).toEqual(['record 9 follows record 6'])
  })

  it('finds a record that is missing in an old segment', async () => {
    const { write, findBroken } = createLongJournal()
    write(2, 3, 5)
    expect(await findBroken(depth)).toEqual([expect.stringMatching(/^00000002\.log ends too early behind record 3 /)])
  })
})
