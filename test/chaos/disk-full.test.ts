import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRandom } from '../simulation/random.ts'
import { waitUntil } from '../support/sprint.ts'
import { createSmallDisk, canMount, mountFailure, type SmallDisk } from './small-disk.ts'
import { createSprintUnderFire } from './sprint-under-fire.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

/** A sprint whose folder is on a disk of its own; with checks, Ralph's own folder is. */
async function createSprintOnSmallDisk(options = 'size=32m', checks: readonly string[] = []) {
  let disk: SmallDisk | undefined
  const within = async (folder: string, workTree: string) => (disk = await createSmallDisk(folder, options, workTree))
  const sprint = await createSprintUnderFire({ within, checks })
  onTestFinished(() => sprint.remove())
  if (!disk) throw new Error('there is no disk')
  return { sprint, disk }
}

const isPaused = ({ stdout }: { stdout: string }) => stdout.includes('paused: disk-full')

describe.skipIf(!canMount)(`a disk that is full (${mountFailure})`, () => {
  it('D18: starts nothing before there is room, says so in status, and then continues by itself', async () => {
    const { sprint, disk } = await createSprintOnSmallDisk()
    sprint.finish()
    disk.fill(200 * 1024)
    const run = sprint.run()
    await waitUntil('the pause', () => isPaused(run.output()))
    const text = () => readFileSync(disk.seen(sprint.at('project', 's', 'PROGRESS.yaml')), 'utf8')
    await expect.poll(text).toMatch(/^# paused: disk-full: .* free on the disk/m)
    // Where no file can be written that says it, `status` looks at the disk itself.
    const waiting = expect.stringMatching(/paused: disk-full: .* free on the disk/)
    expect(await sprint.ralph('status', 's').ended).toMatchObject({ exitCode: 0, stdout: waiting })
    const json: unknown = JSON.parse((await sprint.ralph('status', 's', '--json').ended).stdout)
    expect(json).toMatchObject({ waiting })
    expect(sprint.begun()).toBe(0)

    const before = performance.now()
    disk.free()
    expect(await run.ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(performance.now() - before).toBeLessThan(10_000)
    expect(sprint.account().progress.status).toBe('completed')
    expect(text()).not.toContain('disk-full')
  })

  it(`loses nothing, doubles nothing and waits, no matter when the disk fills up (SEED=${seed} npm run test:more -- chaos)`, async () => {
    const { sprint, disk } = await createSprintOnSmallDisk()
    const random = createRandom(seed)
    const run = sprint.run()
    await waitUntil('the first iteration', () => run.output().stdout.includes('"iteration-ended"'))
    for (let round = 0; round < 5; round++) {
      await sleep(200 + random.below(600))
      disk.fill()
      await sleep(500 + random.below(1500))
      disk.free()
    }
    await sleep(500)
    sprint.finish()

    expect(await run.ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(isPaused(run.output())).toBe(true)
    const { progress } = sprint.account()
    const texts = progress['dynamic-steps'].map(({ prompt }) => prompt)
    expect(new Set(texts).size).toBe(texts.length)
    const numbers = progress.iterations?.map(({ number }) => number) ?? []
    expect(numbers).toEqual(numbers.map((_, n) => (numbers[0] ?? 0) + n))
    expect(await sprint.ralph('doctor', 's').ended).toMatchObject({ exitCode: 0 })
  })

  it('ends with DISK_FULL if the user does not want to wait, and can be resumed', async () => {
    const { sprint, disk } = await createSprintOnSmallDisk()
    const run = sprint.run()
    await waitUntil('the first iteration', () => run.output().stdout.includes('"iteration-ended"'))
    disk.fill()
    await waitUntil('the pause', () => isPaused(run.output()))
    run.kill('SIGTERM')
    const ended = await run.ended
    expect([1, 130]).toContain(ended.exitCode)
    disk.free()
    sprint.finish()

    expect(await sprint.run().ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await sprint.ralph('doctor', 's').ended).toMatchObject({ exitCode: 0 })
  })

  it('is reported at the start, and changes nothing', async () => {
    const { sprint, disk } = await createSprintOnSmallDisk()
    disk.fill()
    expect(await sprint.run().ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('DISK_FULL') })
    disk.free()
    sprint.finish()
    expect(await sprint.run().ended).toMatchObject({ exitCode: 0 })
  })

  it('also waits if the disk has no room for file names', async () => {
    const { sprint, disk } = await createSprintOnSmallDisk('size=32m,nr_inodes=400')
    const run = sprint.run()
    await waitUntil('the first iteration', () => run.output().stdout.includes('"iteration-ended"'))
    const folder = disk.seen(sprint.at('project', 's', 'names'))
    mkdirSync(folder)
    const takeAll = () => Array.from({ length: 400 }, (_, n) => tryTo(() => writeFileSync(join(folder, `${n}`), '')))
    takeAll()
    await waitUntil('the pause', () => isPaused(run.output()))
    sprint.finish()
    rmSync(folder, { recursive: true })

    expect(await run.ended).toMatchObject({ exitCode: 0 })
    expect(await sprint.ralph('doctor', 's').ended).toMatchObject({ exitCode: 0 })
  })

  it('makes a check red that has no space, says why, and accepts the claim later', async () => {
    const writes = 'head -c 150000000 /dev/zero >big && rm big && test -e finished'
    const { sprint, disk } = await createSprintOnSmallDisk('size=400m', [writes])
    const run = sprint.run()
    await waitUntil('the first iteration', () => run.output().stdout.includes('"iteration-ended"'))
    disk.fill(120 * 1024 * 1024)
    writeFileSync(sprint.at('project', 'finished'), '')
    sprint.finish()
    await waitUntil('the refusal', () => run.output().stdout.includes('the disk was full'))
    disk.free()

    expect(await run.ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(sprint.account().progress.status).toBe('completed')
  })

  it('reports a read-only disk at the start', async () => {
    const { sprint, disk } = await createSprintOnSmallDisk()
    const run = sprint.run()
    await waitUntil('the first iteration', () => run.output().stdout.includes('"iteration-ended"'))
    run.kill()
    await waitUntil('the agent to end', () => sprint.processes().length === 0)
    disk.remount('ro')
    expect(await sprint.run().ended).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/FILE_UNWRITABLE.*EROFS/),
    })

    disk.remount('rw')
    sprint.finish()
    expect(await sprint.run().ended).toMatchObject({ exitCode: 0 })
    expect(await sprint.ralph('doctor', 's').ended).toMatchObject({ exitCode: 0 })
  })
})

function tryTo(work: () => void): void {
  try {
    work()
  } catch {
    // The disk is full now, as intended.
  }
}
