import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { superviseProcess } from './supervised-process.ts'

/** Processes with this text in their command line. */
const processes = (text: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
      } catch {
        return false
      }
    })

const run = (script: string, signal = new AbortController().signal) => {
  const folder = join(createTestFolder(), 'attempts', '1-1')
  return superviseProcess({
    folder,
    file: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
    stdin: '',
    files: {},
    mark: folder,
    onOutput: () => {},
    overdue: () => undefined,
    signal,
    graceMs: 300,
  })
}

const hide = (seconds: string) =>
  `env -i setsid sh -c "env -i setsid sleep ${seconds} & exec sleep ${seconds}" >/dev/null 2>&1 &`

describe('a process that clears its environment and leaves its session', () => {
  it('ends with the program that started it', async () => {
    expect(await run(`${hide('7001.5')} sleep 0.2`)).toMatchObject({ code: 0 })
    await expect.poll(() => processes('7001.5')).toEqual([])
  })

  it('ends with a program that has to be killed', async () => {
    const stop = new AbortController()
    const ended = run(`${hide('7002.5')} trap "" TERM; while :; do sleep 1; done`, stop.signal)
    await expect.poll(() => processes('7002.5').length, { timeout: 20_000 }).toBeGreaterThan(1)
    await sleep(50)
    stop.abort()
    expect(await ended).toMatchObject({ ended: 'aborted' })
    await expect.poll(() => processes('7002.5')).toEqual([])
  })
})
