import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './support/paths.ts'

type Verdict = {
  readonly fault: string
  readonly starts: number
  readonly end: number | string
  readonly left: number
  readonly missed: readonly string[]
}

it('handles every fault like a first-class loop', () => {
  // A flood costs a gigabyte; `npm run conformance` includes it.
  const faults =
    'lie,limit,crash,echo,empty,busy,hang,hang-after-result,question,wrong-ids,not-logged-in,setsid-child,kill'
  const verdicts = conformance('--only', faults, '--at-once', '5', '--window', '150')

  expect(verdicts.map(({ fault, missed, left }) => ({ fault, missed, left }))).toEqual(
    faults.split(',').map((fault) => ({ fault, missed: [], left: 0 })),
  )
}, 400_000)

it('fails a loop that only looks for a marker in the text, on every fault that matters', () => {
  const loop = 'exec sh "$LOOPS/while.sh"'
  const verdicts = conformance(
    '--loop',
    loop,
    '--window',
    '8',
    '--at-once',
    '2',
    '--only',
    'lie,echo,setsid-child,kill',
  )

  expect(verdicts.map(({ fault, end, missed }) => [fault, end, missed])).toEqual([
    ['lie', 0, ['refuses', 'the output of the check is in a later prompt']],
    ['echo', 0, ['ends by itself, and not with 0']],
    ['setsid-child', 0, ['leaves no process behind']],
    ['kill', 0, ['does not pay twice: takes what the first start did', 'never runs two agents at once']],
  ])
}, 120_000)

it('refuses an unknown fault', () => {
  expect(run('--only', 'nonsense')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no such fault: nonsense'),
  })
})

function conformance(...args: readonly string[]): Verdict[] {
  return JSON.parse(run(...args, '--json').stdout)
}

function run(...args: readonly string[]) {
  return spawnSync(process.execPath, [join(root, 'conformance/run.mjs'), ...args], { encoding: 'utf8' })
}
