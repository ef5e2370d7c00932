import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSprintUnderFire, findComplaints, type UnderFire } from './sprint-under-fire.ts'

/** Only on request: every point starts the program under strace. */
const canTrace = process.env['CHAOS'] === '1' && spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0

/** System calls that change the state of a sprint on disk, or start programs. */
const calls = ['pwrite64', 'fdatasync', 'fsync', 'rename', 'renameat2', 'link', 'unlink', 'mkdir', 'ftruncate', 'clone']
/** Which call, counted per thread: every one of the first, fewer of the later ones. */
const turns = (process.env['POINTS'] ?? '1,2,3,5,8,13').split(',').map(Number)

/** A run in which the n-th call of this kind kills it, or fails with this error. Agents and hooks are excluded. */
async function runWith(sprint: UnderFire, call: string, turn: number, what: string): Promise<'hit' | 'not reached'> {
  const strace = ['strace', '-f', '-b', 'execve', '-qq', '-o', '/dev/null', '-e', `trace=${call}`]
  const run = sprint.run([...strace, '-e', `inject=${call}:${what}:when=${turn}`])
  const how = await Promise.race([run.ended, sleep(8000, undefined)])
  run.kill()
  await run.ended
  return how === undefined ? 'not reached' : 'hit'
}

describe.skipIf(!canTrace)('a run that is hit at one system call (needs strace; CHAOS=1)', () => {
  it.each(calls)(
    '%s: killed, loses nothing and goes on',
    async (call) => {
      const sprint = await createSprintUnderFire()
      onTestFinished(() => sprint.remove(), 60_000)
      const hits: string[] = []
      for (const turn of turns) {
        if ((await runWith(sprint, call, turn, 'signal=SIGKILL')) === 'hit') hits.push(`${call} ${turn}`)
        expect(await sprint.ralph('doctor', 's').ended, `after ${call} ${turn}`).toMatchObject({ exitCode: 0 })
      }
      sprint.finish()

      expect(await sprint.run().ended).toMatchObject({ exitCode: 0 })
      expect(findComplaints(sprint.account())).toEqual([])
      expect(sprint.processes()).toEqual([])
      expect(hits.length).toBeGreaterThan(0)
    },
    600_000,
  )

  it.each(['ENOSPC', 'EIO', 'EROFS'])(
    '%s: ends or waits, and the next run resumes',
    async (error) => {
      const sprint = await createSprintUnderFire()
      onTestFinished(() => sprint.remove(), 60_000)
      await warmUp(sprint)
      for (const call of ['pwrite64', 'fdatasync', 'fsync', 'rename', 'renameat2', 'mkdir']) {
        for (const turn of turns.slice(0, 4)) {
          await runWith(sprint, call, turn, `error=${error}`)
          expect(await sprint.ralph('doctor', 's').ended, `after ${call} ${turn}`).toMatchObject({ exitCode: 0 })
        }
      }
      sprint.finish()

      expect(await sprint.run().ended).toMatchObject({ exitCode: 0 })
      const { progress } = sprint.account()
      const texts = progress['dynamic-steps'].map(({ prompt }) => prompt)
      expect(new Set(texts).size).toBe(texts.length)
      expect(sprint.processes()).toEqual([])
    },
    900_000,
  )
})

async function warmUp(sprint: UnderFire): Promise<void> {
  const run = sprint.run()
  await run.ready
  await sleep(1000)
  run.kill()
  await run.ended
}
