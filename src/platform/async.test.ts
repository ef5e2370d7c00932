import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { coalesce, serialize } from './async.ts'

it('serializes tasks in the order of the calls, and continues after a failure', async () => {
  const enqueue = serialize()
  const log: string[] = []
  const task = (name: string) => async () => {
    log.push(`${name} starts`)
    await turn()
    log.push(`${name} ends`)
    if (name === 'a') throw new Error('a failed')
    return name
  }
  const results = await Promise.allSettled([enqueue(task('a')), enqueue(task('b'))])
  expect(log).toEqual(['a starts', 'a ends', 'b starts', 'b ends'])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

it('coalesces calls during a run into one more run, and reports failures', async () => {
  const failures: unknown[] = []
  let runs = 0
  const wake = coalesce(
    async () => {
      runs++
      await turn()
      if (runs === 1) throw new Error('first')
    },
    (error) => failures.push(error),
  )
  for (let n = 0; n < 5; n++) wake()
  for (let n = 0; n < 5; n++) await turn()
  expect({ runs, failures: failures.length }).toEqual({ runs: 2, failures: 1 })
})
