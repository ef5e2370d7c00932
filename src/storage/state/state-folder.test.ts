import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildProgress, noon } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import type { Progress } from '../../contract/progress.ts'
import { advance } from '../../loop/advance.ts'
import type { Fact } from '../../loop/core/fact.ts'
import { forgetState, recordKey, stateFolder, stateKeyFile, statePathFile } from '../../platform/files/state-folder.ts'
import { openSprintStore } from '../sprint/sprint-store.ts'
import { encodeProgress } from './encode-progress.ts'
import { formatRecord } from './journal-record.ts'
import { formatProgress } from './progress-text.ts'
import { readProgress } from './read-progress.ts'
import { bindState } from './state-folder.ts'

const fixtures = join(import.meta.dirname, '../../../test/fixtures/sprint-0.1.0')
const fold = (progress: Progress, fact: Fact): Progress => advance(progress, fact).progress
const running = buildProgress({ status: 'in-progress', stats: { currentIteration: 1 } })
const completed = buildProgress({ status: 'completed', rev: 99, stats: { currentIteration: 1 } })

const bind = (sprintDir: string, confirmMove?: (from: string) => Promise<boolean>) =>
  bindState({ sprintDir, fold, now: () => noon, confirmMove })

/** Opens and closes the store, as any command that writes. */
async function open(sprintDir: string, first?: Progress): Promise<Progress | undefined> {
  const opened = await openSprintStore({ sprintDir, fold, now: () => noon }, first)
  await opened?.store.close()
  return opened?.progress
}

const read = (sprintDir: string) => readProgress({ sprintDir, fold })

/** As in another process. */
function restart(...sprintDirs: readonly string[]): void {
  for (const sprintDir of sprintDirs) forgetState(sprintDir)
}

function createOldSprint(name: 'stopped' | 'completed'): string {
  const sprintDir = join(createTestFolder(), 's')
  cpSync(join(fixtures, name), sprintDir, { recursive: true, verbatimSymlinks: true })
  return sprintDir
}

/** A segment with right checksums, as an agent without the key can write it. */
const forgedSegment = (progress: Progress): string =>
  formatRecord({
    seq: 1,
    epoch: 9,
    at: '2026-11-16T12:00:00.000Z',
    kind: 'snapshot',
    data: encodeProgress(progress),
  })

describe('the state of a sprint', () => {
  it('lies under RALPH_HOME, readable to its owner alone; the project keeps projections', async () => {
    const sprintDir = createTestFolder()
    await open(sprintDir, running)
    const state = stateFolder(sprintDir)

    expect(dirname(dirname(state))).toBe(process.env['RALPH_HOME'])
    expect(readdirSync(sprintDir).toSorted()).toEqual(['.ralph-id', 'PROGRESS.yaml'])
    expect(readdirSync(state).toSorted()).toEqual(['.lock', 'journal', 'sprint.json'])
    expect([state, stateKeyFile()].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(['700', '600'])
  })

  it('is not created by reading', async () => {
    const sprintDir = createTestFolder()
    writeFileSync(join(sprintDir, 'PROGRESS.yaml'), formatProgress(running))
    await read(sprintDir)

    expect(existsSync(statePathFile(sprintDir))).toBe(false)
    expect(stateFolder(sprintDir)).toBe(sprintDir)
  })

  it('ignores a journal, attempts and a PROGRESS.yaml that an agent puts into the project', async () => {
    const sprintDir = createTestFolder()
    await open(sprintDir, running)
    mkdirSync(join(sprintDir, 'journal'))
    writeFileSync(join(sprintDir, 'journal', '00000009.log'), forgedSegment(completed))
    mkdirSync(join(sprintDir, 'attempts', '1-check-1'), { recursive: true })
    writeFileSync(join(sprintDir, 'attempts', '1-check-1', 'exit'), '0\n')
    writeFileSync(join(sprintDir, '.ralph-id'), '01890000-0000-7000-8000-000000000000\n')
    rmSync(join(sprintDir, 'PROGRESS.yaml'))
    restart(sprintDir)

    expect(await open(sprintDir)).toMatchObject({ status: 'in-progress' })
    expect(existsSync(join(stateFolder(sprintDir), 'attempts', '1-check-1'))).toBe(false)
  })

  it('refuses records without the key, at the end of a segment and in a new one', async () => {
    const sprintDir = createTestFolder()
    await open(sprintDir, running)
    const journal = join(stateFolder(sprintDir), 'journal')
    const [segment = ''] = readdirSync(journal)
    const good = readFileSync(join(journal, segment), 'utf8')
    const forged = formatRecord({ seq: 3, epoch: 1, at: '2026-11-16T12:00:00.000Z', kind: 'fact', data: {} })
    writeFileSync(join(journal, segment), good + forged)
    await expect(read(sprintDir)).rejects.toMatchObject({
      code: 'JOURNAL_DAMAGED',
      message: expect.stringContaining('was not written by Ralph'),
    })

    writeFileSync(join(journal, segment), good)
    writeFileSync(join(journal, '00000009.log'), forgedSegment(completed))
    await expect(read(sprintDir)).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' })
  })

  it('refuses the records of another sprint', async () => {
    const [one, other] = [createTestFolder(), createTestFolder()]
    await open(one, running)
    await open(other, running)
    cpSync(join(stateFolder(one), 'journal'), join(stateFolder(other), 'journal'), { recursive: true })

    expect(recordKey(one)).not.toEqual(recordKey(other))
    await expect(read(other)).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' })
  })

  it('takes a PROGRESS.yaml without a journal as a claim, never as an end', async () => {
    const sprintDir = createTestFolder()
    writeFileSync(join(sprintDir, 'PROGRESS.yaml'), formatProgress(completed))

    expect(await read(sprintDir)).toMatchObject({ status: 'in-progress' })
    expect(await open(sprintDir)).toMatchObject({ status: 'in-progress', reason: expect.stringContaining('imported') })
  })

  it('is refused in one sentence if RALPH_HOME cannot be written', async () => {
    const file = join(createTestFolder(), 'file')
    writeFileSync(file, '')
    const before = process.env['RALPH_HOME']
    onTestFinished(() => void (process.env['RALPH_HOME'] = before))
    process.env['RALPH_HOME'] = join(file, 'home')

    await expect(bind(createTestFolder())).rejects.toMatchObject({
      code: 'STATE_UNWRITABLE',
      hint: expect.stringContaining('RALPH_HOME'),
    })
  })
})

describe('a sprint folder under another path', () => {
  it('that was moved keeps its state after a question, and not without', async () => {
    const root = createTestFolder()
    const [old, moved] = [join(root, 'old'), join(root, 'moved')]
    mkdirSync(old)
    await open(old, running)
    const state = stateFolder(old)
    renameSync(old, moved)
    restart(old)

    await expect(bind(moved)).rejects.toMatchObject({ code: 'SPRINT_MOVED', hint: expect.stringContaining('--rebind') })
    const questions: string[] = []
    await bind(moved, async (from) => questions.push(from) > 0)
    expect(questions).toEqual([old])
    expect(stateFolder(moved)).toBe(state)
    mkdirSync(old)
    expect(stateFolder(old)).toBe(old)
    restart(moved)
    await bind(moved)
    expect(stateFolder(moved)).toBe(state)
  })

  it('that is a copy gets its own state, and does not end by it', async () => {
    const root = createTestFolder()
    const [first, copy] = [join(root, 'first'), join(root, 'copy')]
    mkdirSync(first)
    await open(first, { ...completed, rev: 1 })
    cpSync(first, copy, { recursive: true })

    expect(await open(copy)).toMatchObject({ status: 'in-progress' })
    expect(await open(first)).toMatchObject({ status: 'completed' })
    expect(stateFolder(copy)).not.toBe(stateFolder(first))
  })
})

describe('a sprint of version 0.1.0', () => {
  it('is read in its own folder until it runs', async () => {
    const sprintDir = createOldSprint('stopped')

    expect(await read(sprintDir)).toMatchObject({ status: 'limit-reached', iterations: [{ number: 1 }, { number: 2 }] })
    expect(readdirSync(sprintDir)).toContain('journal')
  })

  it('moves with its journal, attempts and transcripts', async () => {
    const sprintDir = createOldSprint('stopped')
    const before = await read(sprintDir)
    const transcript = readFileSync(join(sprintDir, 'attempts', '2-1', 'transcript.jsonl'), 'utf8')
    await bind(sprintDir)

    expect(await read(sprintDir)).toEqual(before)
    expect(readdirSync(sprintDir).toSorted()).toEqual(['.ralph-id', 'PROGRESS.yaml', 'SPRINT.yaml', 'transcripts'])
    expect(readdirSync(join(stateFolder(sprintDir), 'attempts')).toSorted()).toEqual(['0-check-1', '1-1', '2-1'])
    expect(readFileSync(join(sprintDir, 'transcripts', 'iteration-2.jsonl'), 'utf8')).toBe(transcript)
    const log = readFileSync(join(stateFolder(sprintDir), 'journal', '00000001.log'), 'utf8')
    expect(
      log
        .trim()
        .split('\n')
        .every((line) => /,"mac":"[0-9a-f]{16}"\}$/.test(line)),
    ).toBe(true)
  })

  it('that says completed becomes a claim: its journal may be forged', async () => {
    const sprintDir = createOldSprint('completed')
    expect(await read(sprintDir)).toMatchObject({ status: 'completed' })

    expect(await open(sprintDir)).toMatchObject({ status: 'in-progress', iterations: [{}, {}, {}] })
  })

  it('stays where it is if its journal is damaged', async () => {
    const sprintDir = createOldSprint('stopped')
    const file = join(sprintDir, 'journal', '00000001.log')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('"seq":4', '"seq":5'))

    await expect(bind(sprintDir)).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' })
    expect(existsSync(statePathFile(sprintDir))).toBe(false)
    writeFileSync(file, text)
    await bind(sprintDir)
    expect(await read(sprintDir)).toMatchObject({ iterations: [{ number: 1 }, { number: 2 }] })
  })
})
