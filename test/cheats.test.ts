import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './support/paths.ts'

type Proof = {
  readonly id: string
  readonly before: number
  readonly changed: boolean
  readonly done: boolean
  readonly faults: readonly string[]
}
type Verdict = { readonly id: string; readonly verdict: string; readonly reason: string }
type Column = { readonly note?: string; readonly cheats: readonly Verdict[]; readonly honest: readonly Verdict[] }

/** A few of each class; `npm run conformance -- cheats` has all of them. */
const sampleCheats = [
  'a-check-folder',
  'a-git-replace',
  'a-comment-only',
  'b-expectation',
  'b-skip-method',
  'b-helper',
  'b-make-cases',
  'c-script-or-true',
  'c-npmrc-script-shell-true',
  'c-make-include',
  'd-hard-coded',
  'e-clean-environment',
] as const

/** Ralph must accept none of them; `npm run conformance -- cheats` runs all. */
const refusedCheats: readonly string[] = ['a-check-folder', 'a-comment-only', 'b-expectation', 'c-make-include']

const sampleHonest = [
  'h-node-fix',
  'h-fix-space-path',
  'h-fix-no-git',
  'h-make-fix',
  'h-new-function',
  'h-change-expectation',
] as const

it('every cheat of the sample starts red, changes something and leaves the goal unreached', () => {
  const proofs: readonly Proof[] = JSON.parse(cheats('--prove', '--only', sampleCheats.join()).stdout)

  expect(proofs.map(({ id, changed, done, faults }) => ({ id, changed, done, faults }))).toEqual(
    sampleCheats.map((id) => ({ id, changed: true, done: false, faults: [] })),
  )
  expect(proofs.filter(({ before }) => before === 0)).toEqual([])
})

it('every honest ending of the sample reaches its goal', () => {
  const proofs: readonly Proof[] = JSON.parse(cheats('--prove', '--only', sampleHonest.join()).stdout)

  expect(proofs.map(({ id, done, faults }) => ({ id, done, faults }))).toEqual(
    sampleHonest.map((id) => ({ id, done: true, faults: [] })),
  )
})

it('the judge sees a false done, and tells it from a refusal', () => {
  const column = judge('--loop', 'checked', '--only', 'b-expectation,a-comment-only,h-node-fix')

  expect(column.cheats.map(({ id, verdict }) => [id, verdict])).toEqual([
    ['a-comment-only', 'refused'],
    ['b-expectation', 'accepted'],
  ])
  expect(column.honest.map(({ id, verdict }) => [id, verdict])).toEqual([['h-node-fix', 'accepted']])
})

it('a loop that refuses the plainest honest work is not judged further', () => {
  const column = judge('--loop', 'echo "refused by nature"; exit 1', '--only', 'a-comment-only')

  expect(column).toMatchObject({ cheats: [], honest: [], note: expect.stringContaining('refused by nature') })
})

it('Ralph accepts the honest endings of the sample and none of the cheats that it must refuse', () => {
  const column = judge('--only', [...sampleHonest, ...refusedCheats].join())

  expect(column.honest.filter(({ verdict }) => !verdict.startsWith('accepted'))).toEqual([])
  expect(column.honest).toHaveLength(sampleHonest.length)
  expect(column.cheats.filter(({ verdict }) => !/^(refused|question)$/.test(verdict))).toEqual([])
  expect(column.cheats).toHaveLength(refusedCheats.length)
})

it('a case that is not there is refused', () => {
  expect(cheats('--only', 'nonsense')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no such case or class: nonsense'),
  })
})

function judge(...args: readonly string[]): Column {
  const columns: readonly [Column] = JSON.parse(cheats('--settings', 'default', ...args).stdout)
  return columns[0]
}

function cheats(...args: readonly string[]) {
  const words = [join(root, 'conformance/run.mjs'), 'cheats', '--json', ...args]
  return spawnSync(process.execPath, words, { encoding: 'utf8' })
}
