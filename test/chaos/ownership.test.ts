import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { waitUntil } from '../support/sprint.ts'
import { createSprintUnderFire } from './sprint-under-fire.ts'

it('refuses a second run as fast as it can start, and names the pid, host and start of the first', async () => {
  const sprint = await createSprintUnderFire()
  onTestFinished(() => sprint.remove())
  const first = sprint.run()
  onTestFinished(async () => {
    first.kill()
    await first.ended
  })
  await waitUntil('the first iteration', () => first.output().stdout.includes('"iteration-started"'))
  const alike = await sprint.ralph('status', 's').ended
  const second = await sprint.ralph('run', 's').ended

  expect(second).toMatchObject({ exitCode: 1, stdout: '' })
  const owner = `run by pid ${first.pid} on ${hostname()} since \\d{4}-\\d\\d-\\d\\dT`
  expect(second.stderr).toMatch(new RegExp(`^\\S+  error SPRINT_LOCKED  the sprint is ${owner}`))
  // A second on an idle machine; a ratio holds on a busy one too. `status` reads the same state and takes no lock.
  expect(second.ms / alike.ms).toBeLessThan(4)
})

it('stops a run that lost its lock, and the new owner continues', async () => {
  const sprint = await createSprintUnderFire()
  onTestFinished(() => sprint.remove())
  const first = sprint.run()
  await waitUntil('the first iteration', () => first.output().stdout.includes('"iteration-ended"'))
  rmSync(sprint.state('.lock'))
  const second = sprint.run()

  const stopped = await Promise.race([first.ended, second.ended])
  expect(stopped).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('SPRINT_LOCKED') })
  sprint.finish()
  const others = await Promise.all([first.ended, second.ended])
  expect(new Set(others.map(({ exitCode }) => exitCode))).toEqual(new Set([0, 1]))
  const doctor = await sprint.ralph('doctor', 's', '--json').ended
  expect(doctor.exitCode).toBe(0)
})

/** Each takes the lock repeatedly, and says so while it holds it; two at the same time would see each other. */
const contender = (lockModule: string, folder: string) => `
  import { lockFile } from ${JSON.stringify(pathToFileURL(lockModule).href)}
  import { rmSync, writeFileSync, readFileSync, appendFileSync } from 'node:fs'
  const mine = String(process.pid)
  let taken = 0
  for (let round = 0; round < 1000 && taken < 40; round++) {
    const result = lockFile('${folder}/.lock', 'pid ' + mine)
    if (!('lock' in result)) continue
    writeFileSync('${folder}/owner', mine)
    for (let spin = 0; spin < 20; spin++) if (readFileSync('${folder}/owner', 'utf8') !== mine) appendFileSync('${folder}/double', mine + '\\n')
    taken++
    if (taken % 10 === 0 && process.argv[2] === 'dies') process.kill(process.pid, 'SIGKILL')
    if (taken % 3 === 0) rmSync('${folder}/.lock')
    result.lock.release()
  }
  appendFileSync('${folder}/taken', mine + ' ' + taken + '\\n')`

it('gives the lock to one of eight at a time, even when owners are killed and its file is deleted', async () => {
  const folder = createTestFolder()
  writeFileSync(join(folder, 'double'), '')
  writeFileSync(join(folder, 'contender.mjs'), contender(join(root, 'dist/platform/files/file-lock.js'), folder))
  const children = Array.from({ length: 8 }, (_, n) =>
    spawn(process.execPath, [join(folder, 'contender.mjs'), n % 2 === 0 ? 'dies' : ''], {
      cwd: root,
      stdio: 'inherit',
    }),
  )
  await Promise.all(children.map((child) => once(child, 'exit')))

  expect(readFileSync(join(folder, 'double'), 'utf8')).toBe('')
  expect(readFileSync(join(folder, 'taken'), 'utf8').trim().split('\n')).toHaveLength(4)
})
