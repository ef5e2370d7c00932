import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished, expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { root } from '../../../test/support/paths.ts'
import { lockFile, readLockOwner, type FileLock } from './file-lock.ts'

const createLockFile = () => join(createTestFolder(), '.lock')

function taken(path: string, about = 'me'): FileLock {
  const result = lockFile(path, about)
  if ('owner' in result) throw new Error(`it belongs to ${result.owner}`)
  return result.lock
}

/** Another process that holds the lock. */
async function startHolder(path: string, forMs = 60_000) {
  const script = `
    const { openSync, writeSync } = require('node:fs')
    const fd = openSync(process.argv[1], 'a+')
    if (!require('fs-native-extensions').tryLock(fd)) process.exit(3)
    writeSync(fd, 'the other one\\n')
    console.log('locked')
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${forMs})`
  const child = spawn(process.execPath, ['-e', script, path], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

it('has one holder, whose name all others get', () => {
  const path = createLockFile()
  const lock = taken(path, 'pid 1 on here since noon')

  expect(lockFile(path, 'a second one')).toEqual({ owner: 'pid 1 on here since noon' })
  expect(readLockOwner(path)).toBe('pid 1 on here since noon')

  lock.release()
  expect(readLockOwner(path)).toBeUndefined()
  taken(path).release()
})

it('is refused within a fraction of a second', () => {
  const path = createLockFile()
  const lock = taken(path)
  const before = performance.now()
  lockFile(path, 'a second one')

  expect(performance.now() - before).toBeLessThan(500)
  lock.release()
})

it('can be taken repeatedly, even after its file was deleted', () => {
  const path = createLockFile()
  for (let round = 0; round < 200; round++) {
    expect(readLockOwner(path)).toBeUndefined()
    const lock = taken(path, `round ${round}`)
    expect(readLockOwner(path)).toBe(`round ${round}`)
    if (round % 7 === 0) rmSync(path)
    lock.release()
  }
})

it('is free at once after kill -9 of its holder', async () => {
  const path = createLockFile()
  const holder = await startHolder(path)
  expect(readLockOwner(path)).toBe('the other one')

  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const before = performance.now()
  const lock = taken(path, 'me')
  expect(performance.now() - before).toBeLessThan(100)
  expect(lockFile(path, 'x')).toEqual({ owner: 'me' })
  lock.release()
})

it('waits as long as a process that only checks may hold it', async () => {
  const results: object[] = []
  // On a busy machine the other process may take longer; then it counts as the holder.
  for (let tries = 0; tries < 5 && !results.some((result) => 'lock' in result); tries++) {
    const path = createLockFile()
    const holder = await startHolder(path, 5)
    results.push(lockFile(path, 'me'))
    holder.kill('SIGKILL')
  }
  expect(results.at(-1)).toHaveProperty('lock')
})

it('detects that its file was deleted or replaced, so that another process can hold it', () => {
  const path = createLockFile()
  const lock = taken(path, 'first')
  expect(lock.isHeld()).toBe(true)

  rmSync(path)
  expect(lock.isHeld()).toBe(false)
  const second = taken(path, 'second')
  expect([lock.isHeld(), second.isHeld()]).toEqual([false, true])

  rmSync(path)
  writeFileSync(path, '')
  expect(second.isHeld()).toBe(false)
  lock.release()
  second.release()
})
