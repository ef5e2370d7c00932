import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildProgress, noon, buildSteps } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import type { Progress } from '../../contract/progress.ts'
import type { ExternalChanges } from '../edits/edit-watch.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import type { Fold } from '../state/journal.ts'
import { parseProgress } from '../state/progress-file.ts'
import { formatProgress } from '../state/progress-text.ts'
import { readProgress } from '../state/read-progress.ts'
import { readSprintOwner } from '../state/sprint-lock.ts'
import { openSprintStore } from './sprint-store.ts'

/** Records messages and edits, which is enough to see what gets lost. */
const fold: Fold = (progress, fact) => {
  const texts =
    fact.type === 'told'
      ? [fact.text]
      : fact.type === 'edited'
        ? [...fact.edits.map(({ kind }) => `edit: ${kind}`), ...fact.refused.map((reason) => `refused: ${reason}`)]
        : []
  const messages = [...(progress.messages ?? []), ...texts.map((text) => ({ text, at: noon }))]
  return { ...progress, rev: progress.rev + 1, messages }
}
const message = (text: string) => ({ type: 'told' as const, at: noon, text, now: false })
const running = buildProgress({
  status: 'in-progress',
  dynamicSteps: buildSteps('one'),
  stats: { currentIteration: 1 },
})

async function open(sprintDir: string, first: Progress | undefined = running) {
  const opened = await openSprintStore({ sprintDir, fold, now: () => noon }, first)
  if (!opened) throw new Error('there is nothing to open')
  let { progress } = opened
  const { store, tornBytes } = opened
  const tell = async (text: string) => {
    progress = fold(progress, message(text))
    await store.save(progress, message(text))
  }
  const take = async (edited: ExternalChanges) => {
    const fact = { type: 'edited' as const, at: noon, edits: edited.edits, refused: edited.refused }
    progress = fold(progress, fact)
    await store.save(progress, fact)
  }
  onTestFinished(() => store.close().catch(() => {}))
  return { store, tell, take, tornBytes }
}

const progressFile = (dir: string) => join(dir, 'PROGRESS.yaml')
const shown = (dir: string) => parseProgress(readFileSync(progressFile(dir), 'utf8'), 'PROGRESS.yaml')
const readMessages = async (dir: string) =>
  (await readProgress({ sprintDir: dir, fold }))?.messages?.map(({ text }) => text)
const findStep = (text: string) => `  - id: ${text.replaceAll(' ', '-')}\n    prompt: ${text}\n    status: pending\n`
const pause = (dir: string) =>
  writeFileSync(
    progressFile(dir),
    readFileSync(progressFile(dir), 'utf8').replace('status: in-progress', 'status: paused'),
  )

describe('the owner of a sprint', () => {
  it('is unique, and is named with pid, host and start', async () => {
    const dir = createTestFolder()
    await open(dir)
    const owner = `pid ${process.pid} on ${hostname()} since 2026-01-18T12:00:00.000Z`

    expect(readSprintOwner(dir)).toBe(owner)
    await expect(open(dir)).rejects.toMatchObject({
      code: 'SPRINT_LOCKED',
      message: `the sprint is run by ${owner}`,
    })
  })

  it('is undefined when the store is closed, and where there never was one', async () => {
    const dir = createTestFolder()
    expect(readSprintOwner(dir)).toBeUndefined()
    const { store } = await open(dir)
    await store.close()
    expect(readSprintOwner(dir)).toBeUndefined()
  })

  it('stops before writing anything if another process took the sprint while its lock was gone', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.tell('by the first')
    rmSync(join(stateFolder(dir), '.lock'))
    const second = await open(dir)

    await expect(first.tell('too late')).rejects.toMatchObject({ code: 'SPRINT_LOCKED' })
    await second.tell('by the second')
    expect(await readMessages(dir)).toEqual(['by the first', 'by the second'])
  })

  it('stops even if the other process is gone again: it would continue from an old state', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    rmSync(join(stateFolder(dir), '.lock'))
    const second = await open(dir)
    await second.tell('by the second')
    await second.store.close()

    await expect(first.tell('too late')).rejects.toMatchObject({
      code: 'SPRINT_LOCKED',
      message: 'another process has taken the sprint over',
    })
    expect(await readMessages(dir)).toEqual(['by the second'])
  })

  it('continues if only its lock was deleted', async () => {
    const dir = createTestFolder()
    const { tell } = await open(dir)
    await tell('one')
    rmSync(join(stateFolder(dir), '.lock'))
    await tell('two')

    expect(readSprintOwner(dir)).toContain(`pid ${process.pid}`)
    expect(await readMessages(dir)).toEqual(['one', 'two'])
  })

  it('writes everything again when the folder was emptied during the run', async () => {
    const dir = createTestFolder()
    const { store, tell } = await open(dir)
    await tell('one')
    for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true })
    await tell('two')
    await store.close()

    expect(await readMessages(dir)).toEqual(['one', 'two'])
    expect(shown(dir).messages).toHaveLength(2)
    expect(existsSync(join(dir, '.gitignore'))).toBe(true)
  })
})

describe('a resumed sprint', () => {
  it('is where it was, and its file says so', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.tell('one')
    await first.store.close()
    const before = shown(dir)
    const second = await open(dir)
    await second.store.close()

    expect(shown(dir)).toEqual(before)
    expect(before).toEqual(fold(running, message('one')))
  })

  it('takes its state from a PROGRESS.yaml without a journal', async () => {
    const dir = createTestFolder()
    writeFileSync(progressFile(dir), formatProgress(running))
    const { tell } = await open(dir, undefined)
    await tell('first')

    expect(await readMessages(dir)).toEqual(['first'])
  })

  it('trusts the journal, not an older file', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    const old = readFileSync(progressFile(dir))
    await first.tell('one')
    await first.store.close()
    writeFileSync(progressFile(dir), old)
    const second = await open(dir)
    await second.store.close()

    expect(shown(dir).messages).toHaveLength(1)
  })

  it('is cut where its writer was interrupted, and says how much was lost', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.tell('one')
    await first.store.close()
    writeFileSync(join(stateFolder(dir), 'journal', '00000001.log'), 'half a reco', { flag: 'a' })

    expect((await open(dir)).tornBytes).toBe(11)
    expect(await readMessages(dir)).toEqual(['one'])
  })

  it('removes the drafts of a killed run', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.store.close()
    writeFileSync(`${progressFile(dir)}.123.4.tmp`, 'x')
    writeFileSync(join(stateFolder(dir), 'journal', '00000002.log.123.4.tmp'), 'x')
    writeFileSync(join(dir, 'mine.tmp'), 'x')
    await open(dir)

    expect(readdirSync(dir).toSorted()).toEqual(['.ralph-id', 'PROGRESS.yaml', 'mine.tmp'])
    expect(readdirSync(join(stateFolder(dir), 'journal'))).toEqual(['00000001.log'])
  })

  it('does not find the attempts of an earlier sprint if it starts over', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.store.close()
    const state = stateFolder(dir)
    rmSync(progressFile(dir))
    rmSync(join(state, 'journal'), { recursive: true })
    mkdirSync(join(state, 'attempts', '1-1'), { recursive: true })
    await open(dir, buildProgress())

    expect(readdirSync(state).toSorted()).toEqual(['.lock', `attempts-before-${noon}`, 'journal', 'sprint.json'])
  })
})

describe('an edit of PROGRESS.yaml', () => {
  it('is reported, saved once and then shown', async () => {
    const dir = createTestFolder()
    const { store, take } = await open(dir)
    const edits: ExternalChanges[] = []
    store.onEdited((edited) => edits.push(edited))
    pause(dir)
    await store.checkForEdits()
    for (const edited of edits) await take(edited)
    await store.close()

    expect(await readMessages(dir)).toEqual(['edit: pause'])
    expect(shown(dir).messages).toHaveLength(1)
  })

  it('is saved when the store is closed, if the listener has not saved it', async () => {
    const dir = createTestFolder()
    const { store } = await open(dir)
    store.onEdited(() => {})
    pause(dir)
    await store.close()

    expect(await readMessages(dir)).toEqual(['edit: pause'])
  })

  it('is reported at the next start if it was made between two runs', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.store.close()
    pause(dir)
    const second = await open(dir)
    const edits: ExternalChanges[] = []
    second.store.onEdited((edited) => edits.push(edited))
    expect(edits).toMatchObject([{ edits: [{ kind: 'pause' }] }])
    for (const edited of edits) await second.take(edited)
    await second.store.close()

    expect(await readMessages(dir)).toEqual(['edit: pause'])
  })

  it('is applied exactly once, no matter where the run is killed', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.store.close()
    pause(dir)
    const text = readFileSync(progressFile(dir))

    // Killed before the fact is saved: the file still has the edit.
    const killed = await open(dir)
    expect(readFileSync(progressFile(dir))).toEqual(text)
    rmSync(join(stateFolder(dir), '.lock'))

    // Killed after that, before the file is written again.
    const next = await open(dir)
    await next.store.close()
    writeFileSync(progressFile(dir), text)
    const last = await open(dir)
    await last.store.close()

    expect(await readMessages(dir)).toEqual(['edit: pause'])
    expect(shown(dir).messages).toHaveLength(1)
    await expect(killed.tell('x')).rejects.toMatchObject({ code: 'SPRINT_LOCKED' })
  })

  it('is applied once, although its author keeps editing without reading, and the run is killed in between', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.store.close()
    const file = readFileSync(progressFile(dir), 'utf8')
    const withSteps = (...texts: readonly string[]) =>
      file.replace('dynamic-steps:\n', `dynamic-steps:\n${texts.map(findStep).join('')}`)
    writeFileSync(progressFile(dir), withSteps('mine'))
    const second = await open(dir)
    await second.store.checkForEdits()
    second.store.onEdited(() => {})
    const edited = {
      type: 'edited' as const,
      at: noon,
      edits: [{ kind: 'step-added' as const, prompt: 'mine' }],
      refused: [],
    }
    await second.store.save(fold(running, edited), edited)
    writeFileSync(progressFile(dir), withSteps('mine', 'and another'))
    rmSync(join(stateFolder(dir), '.lock'))

    const third = await open(dir)
    const edits: ExternalChanges[] = []
    third.store.onEdited((found) => edits.push(found))
    expect(edits).toMatchObject([{ edits: [{ kind: 'step-added', prompt: 'and another' }], refused: [] }])
  })

  it('is understood no matter how long ago its author read the file, even by the next run', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.store.flush()
    const file = readFileSync(progressFile(dir), 'utf8')
    for (let n = 0; n < 1200; n++) await first.tell(`message ${n}`)
    await first.store.close()
    writeFileSync(progressFile(dir), file.replace('dynamic-steps:\n', `dynamic-steps:\n${findStep('mine')}`))

    const second = await open(dir)
    const edits: ExternalChanges[] = []
    second.store.onEdited((found) => edits.push(found))
    expect(edits).toMatchObject([{ edits: [{ kind: 'step-added', prompt: 'mine' }], refused: [] }])
  })

  it('is not applied twice by the next run, although another author has edited since', async () => {
    const dir = createTestFolder()
    const first = await open(dir)
    await first.store.flush()
    const file = readFileSync(progressFile(dir), 'utf8')
    const withStep = (text: string, step: string) =>
      text.replace('dynamic-steps:\n', `dynamic-steps:\n${findStep(step)}`)
    const take = async (text: string) => {
      writeFileSync(progressFile(dir), text)
      const opened = await open(dir)
      const edits: ExternalChanges[] = []
      opened.store.onEdited((found) => edits.push(found))
      for (const edited of edits) await opened.take(edited)
      await opened.store.close()
      return edits.flatMap((found) => found.edits)
    }
    await first.tell('rev 2')
    await first.store.close()
    const later = readFileSync(progressFile(dir), 'utf8')

    expect(await take(withStep(file, 'mine'))).toMatchObject([{ prompt: 'mine' }])
    expect(await take(withStep(later, 'of another'))).toMatchObject([{ prompt: 'of another' }])
    expect(await take(withStep(withStep(file, 'mine'), 'and more'))).toMatchObject([{ prompt: 'and more' }])
  })

  it('is reported and copied if it cannot be understood', async () => {
    const dir = createTestFolder()
    const { store } = await open(dir)
    writeFileSync(progressFile(dir), 'status: [')
    await store.close()

    expect(await readMessages(dir)).toEqual([expect.stringMatching(/^refused: it cannot be read .* a copy is in /)])
    expect(shown(dir).status).toBe('in-progress')
  })
})
