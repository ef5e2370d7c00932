import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildProgress, buildSteps } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { root } from '../../../test/support/paths.ts'
import type { Progress } from '../../contract/progress.ts'
import { fileSignature } from '../../platform/files/files.ts'
import type { DetectedEdit } from '../edits/edit-watch.ts'
import { parseProgress } from '../state/progress-file.ts'
import { formatProgress } from '../state/progress-text.ts'
import { openProjection, type Projection } from './projection.ts'

const at = (rev: number, overrides: Partial<Progress> = {}) =>
  buildProgress({ rev, status: 'in-progress', dynamicSteps: buildSteps('one', 'two'), ...overrides })

const progressFile = (dir: string) => join(dir, 'PROGRESS.yaml')
const shown = (dir: string) => parseProgress(readFileSync(progressFile(dir), 'utf8'), 'PROGRESS.yaml')

/** A projection that already shows this progress, and the edits that it reported. */
async function openShowing(dir: string, progress: Progress) {
  const projection = openProjection(dir)
  const detected: DetectedEdit[] = []
  projection.onEdited((found) => detected.push(found))
  onTestFinished(async () => {
    for (const _ of detected) projection.settled()
    await projection.close()
  })
  await projection.update(progress)
  return { projection, detected }
}

/** Edits the file the way `yq -i` does: reads it, changes it, puts a new file in place. */
function edit(dir: string, change: (text: string) => string, text = readFileSync(progressFile(dir), 'utf8')): void {
  writeFileSync(`${progressFile(dir)}.theirs`, change(text))
  renameSync(`${progressFile(dir)}.theirs`, progressFile(dir))
}
const pausing = (text: string) => text.replace('status: in-progress', 'status: paused')

describe('PROGRESS.yaml', () => {
  it('shows the first changes at once, then about one a second, and is current at rest', async () => {
    const dir = createTestFolder()
    const { projection } = await openShowing(dir, at(0))
    for (let rev = 1; rev < 6; rev++) await projection.update(at(rev))
    expect(shown(dir).rev).toBe(5)
    const versions = new Set<string | undefined>()
    const until = performance.now() + 1500
    for (let rev = 6; performance.now() < until; rev++) {
      await projection.update(at(rev))
      versions.add(fileSignature(progressFile(dir)))
      await sleep(1)
    }
    expect(versions.size).toBeLessThanOrEqual(9)
    expect(versions.size).toBeGreaterThanOrEqual(5)

    await projection.update(at(100_000))
    await expect.poll(() => shown(dir).rev, { timeout: 20_000 }).toBe(100_000)
    await projection.update(at(100_001))
    await projection.close()
    expect(shown(dir).rev).toBe(100_001)
    expect(readdirSync(dir)).toEqual(['PROGRESS.yaml'])
  })

  it('can be read at any moment', async () => {
    const dir = createTestFolder()
    const { projection } = await openShowing(dir, at(0))
    const reader = startReader(progressFile(dir))
    for (let rev = 1; rev < 150 || reader.seen().reads < 20; rev++) {
      const names = Array.from({ length: 2 + (rev % 100) }, (_, n) => `step no. ${n}`)
      await projection.update(at(rev, { dynamicSteps: buildSteps(...names) }))
      await projection.flush()
    }

    expect(reader.seen().bad).toEqual([])
  })

  it('is written again at the end if it was deleted', async () => {
    const dir = createTestFolder()
    const { projection } = await openShowing(dir, at(1))
    rmSync(progressFile(dir))
    await projection.close()

    expect(shown(dir)).toEqual(at(1))
  })
})

describe('an edit from outside', () => {
  it('is reported, and stays in the file until it is settled', async () => {
    const dir = createTestFolder()
    const { projection, detected } = await openShowing(dir, at(1))
    edit(dir, pausing)
    await projection.update(at(2))

    expect(detected).toMatchObject([{ edits: [{ kind: 'pause' }], refused: [] }])
    expect(readFileSync(progressFile(dir), 'utf8')).toContain('status: paused')

    projection.settled()
    await projection.update(at(3))
    expect(shown(dir)).toEqual(at(3))
  })

  it('is reported once, even if the file is checked repeatedly', async () => {
    const dir = createTestFolder()
    const { projection, detected } = await openShowing(dir, at(1))
    edit(dir, pausing)
    for (let looks = 0; looks < 3; looks++) await projection.checkForEdits()
    await projection.update(at(2))

    expect(detected).toHaveLength(1)
  })

  it('is compared with the revision that its author had read', async () => {
    const dir = createTestFolder()
    const { projection, detected } = await openShowing(dir, at(1))
    const stale = readFileSync(progressFile(dir), 'utf8')
    for (let rev = 2; rev < 6; rev++) await projection.update(at(rev, { goal: `goal ${rev}` }))
    edit(dir, (text) => text.replace('prompt: two', 'prompt: two and a half'), stale)
    await projection.checkForEdits()

    expect(detected).toMatchObject([
      { edits: [{ kind: 'step-reworded', id: 'step-1', prompt: 'two and a half' }], refused: [] },
    ])
  })

  it('is not read while it is half-written', async () => {
    const dir = createTestFolder()
    const { projection, detected } = await openShowing(dir, at(1))
    const whole = pausing(readFileSync(progressFile(dir), 'utf8'))
    writeFileSync(progressFile(dir), whole.slice(0, 200))
    await projection.update(at(2))
    expect(detected).toEqual([])
    expect(readFileSync(progressFile(dir), 'utf8')).toBe(whole.slice(0, 200))

    writeFileSync(progressFile(dir), whole)
    await projection.checkForEdits()
    expect(detected).toMatchObject([{ edits: [{ kind: 'pause' }] }])
  })

  it('is copied beside the file and reported if it cannot be read', async () => {
    const dir = createTestFolder()
    const { projection, detected } = await openShowing(dir, at(1))
    writeFileSync(progressFile(dir), 'not: [finished')

    expect(await projection.close()).toBe('edited')
    const [aside = ''] = readdirSync(dir).filter((name) => name.startsWith('PROGRESS.yaml.refused-'))
    expect(readFileSync(join(dir, aside), 'utf8')).toBe('not: [finished')
    expect(detected).toMatchObject([{ edits: [], refused: [expect.stringContaining(aside)] }])
  })

  it('does not fill the disk with copies if it is repeatedly unreadable', async () => {
    const dir = createTestFolder()
    const { projection, detected } = await openShowing(dir, at(1))
    for (let rev = 2; rev < 72; rev++) {
      writeFileSync(progressFile(dir), `nonsense: [${rev}`)
      await projection.close()
      projection.settled()
      await projection.update(at(rev))
      await projection.flush()
    }
    expect(detected).toHaveLength(70)
    expect(readdirSync(dir)).toHaveLength(51)
  })

  it('is found at the start if it was made between two runs', async () => {
    const dir = createTestFolder()
    const base = at(5)
    writeFileSync(progressFile(dir), pausing(formatProgress(base)))
    const detected = await startWith(openProjection(dir, { bases: new Map([[5, base]]) }), base)

    expect(detected).toMatchObject([{ edits: [{ kind: 'pause' }] }])
    expect(readFileSync(progressFile(dir), 'utf8')).toContain('status: paused')
  })

  it('is not reported again at the start if the journal has it', async () => {
    const dir = createTestFolder()
    const base = at(5)
    writeFileSync(progressFile(dir), pausing(formatProgress(base)))
    const [first] = await startWith(openProjection(dir, { bases: new Map([[5, base]]) }), base)
    const detected = await startWith(openProjection(dir, { bases: new Map([[5, base]]), edit: first?.source }), at(6))

    expect(detected).toEqual([])
    expect(shown(dir)).toEqual(at(6))
  })

  it('is empty if the file is only older than the journal, as after a crash', async () => {
    const dir = createTestFolder()
    writeFileSync(progressFile(dir), formatProgress(at(5)))
    const detected = await startWith(openProjection(dir, { bases: new Map([[5, at(5)]]) }), at(9))

    expect(detected).toEqual([])
    expect(shown(dir)).toEqual(at(9))
  })
})

async function startWith(projection: Projection, progress: Progress): Promise<DetectedEdit[]> {
  const detected: DetectedEdit[] = []
  projection.onEdited((found) => detected.push(found))
  await projection.update(progress)
  await projection.flush()
  return detected
}

/** Another process that reads the file constantly. */
function startReader(file: string) {
  const script = `
    const { parse } = require('yaml'); const { readFileSync } = require('node:fs')
    let reads = 0; const bad = []
    const read = () => {
      try {
        const { rev, 'dynamic-steps': steps, stats } = parse(readFileSync(process.argv[1], 'utf8'))
        if (rev > 0 && steps.length !== 2 + rev % 100 || stats === undefined) bad.push('rev ' + rev + ': ' + steps.length)
      } catch (error) { bad.push(String(error)) }
      reads++
      console.log(JSON.stringify({ reads, bad: bad.slice(0, 5) }))
      setImmediate(read)
    }
    read()`
  const child = spawn(process.execPath, ['-e', script, file], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let seen: { reads: number; bad: string[] } = { reads: 0, bad: [] }
  createInterface(child.stdout).on('line', (line) => (seen = JSON.parse(line)))
  return { seen: () => seen }
}
