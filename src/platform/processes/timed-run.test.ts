import { expect, it, vi } from 'vitest'
import { commandLines } from '../../../test/support/processes.ts'
import { runWithTimeout } from './timed-run.ts'

const ask = (script: string, more: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {}) =>
  runWithTimeout({
    file: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    timeoutMs: 10_000,
    ...more,
  })
const seconds = `87654.${process.pid}`
/** A killed process stays in the table until the kernel has scheduled it. */
const expectNoneLeft = () => vi.waitFor(() => expect(findSleeping()).toEqual([]), { timeout: 10_000 })
const findSleeping = () => commandLines().filter((line) => line.startsWith(`sleep ${seconds}`))

it('returns the output and the exit code', async () => {
  expect(await ask('echo 1.2.3; echo noise >&2; exit 3')).toEqual({ code: 3, stdout: '1.2.3\n' })
})

it('provides no input', async () => {
  expect(await ask('cat; echo read')).toEqual({ code: 0, stdout: 'read\n' })
})

it('kills a program that takes too long, with everything that it started', async () => {
  expect(await ask(`echo 1; setsid sleep ${seconds} & sleep ${seconds}`, { timeoutMs: 300 })).toEqual({
    code: null,
    stdout: '1\n',
  })
  await expectNoneLeft()
})

it('does not wait for background processes, and leaves none', async () => {
  const started = performance.now()

  expect(await ask(`setsid sleep ${seconds} & echo 1`)).toEqual({ code: 0, stdout: '1\n' })
  expect(performance.now() - started).toBeLessThan(5000)
  await expectNoneLeft()
})

it('ends the program when the signal aborts', async () => {
  expect(await ask(`sleep ${seconds}`, { signal: AbortSignal.abort() })).toEqual({ code: null, stdout: '' })
  await expectNoneLeft()
})

it('does not throw if the program does not exist', async () => {
  const job = { file: '/no/such/program', args: [], cwd: '/', env: {}, timeoutMs: 1000 }

  expect(await runWithTimeout(job)).toEqual({ code: null, stdout: '' })
})
