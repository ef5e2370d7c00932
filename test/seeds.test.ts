import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { root } from './support/paths.ts'

const Row = z.strictObject({
  row: z.int(),
  seed: z.string().regex(/^00[0-4]:\d/),
  requirement: z.string().min(1),
  verdict: z.enum(['as written', 'differently']),
  /** Why the user is better off. */
  why: z.string().min(10).optional(),
  note: z.string().optional(),
  /** The title of a test, which carries the number of the row. */
  evidence: z.strictObject({ file: z.string(), text: z.string().min(1) }),
})
const rows = z.array(Row).parse(JSON.parse(readFileSync(join(root, 'docs/seeds.json'), 'utf8')))

it('lists all 269 requirements once, in order', () => {
  expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 269 }, (_, index) => index + 1))
})

it.each(rows.map((row) => [row.row, row.seed, row] as const))(
  'row %i (%s) has its evidence: a test that carries its number',
  (row, _, { evidence, verdict, why }) => {
    expect(evidence.file).toMatch(/\.test\.ts$/)
    expect(listTitles(evidence.file)).toContain(evidence.text)
    expect(listRowNumbers(evidence.text)).toContain(row)
    expect({ isDifferent: verdict === 'differently', hasReason: why !== undefined && why.endsWith('.') }).toEqual({
      isDifferent: why !== undefined,
      hasReason: why !== undefined,
    })
  },
)

it('finds row numbers in titles, and refuses a title without them', () => {
  expect(listRowNumbers('does it (rows 1, 3-5, 9)')).toEqual([1, 3, 4, 5, 9])
  expect(listRowNumbers('does it (row 12)')).toEqual([12])
  expect(listRowNumbers('does 12 of them')).toEqual([])
})

it('shows them on docs/seeds.md', () => {
  const check = () => execFileSync(process.execPath, [join(root, 'scripts/seeds.mjs'), '--check'], { cwd: root })
  expect(check).not.toThrow()
})

/** Titles of tests in a file: the first argument of `it` and `describe`, also after `.each(…)`. */
function listTitles(file: string): string[] {
  const path = join(root, file)
  expect(existsSync(path), `${file} exists`).toBe(true)
  const calls = /(?:\b(?:it|describe)(?:\.runIf\([^)]*\))?|\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g
  return [...readFileSync(path, 'utf8').matchAll(calls)].map(([, , title = '']) => title.replaceAll("\\'", "'"))
}

/** `(row 4)` or `(rows 1, 3-5)` in a title. */
function listRowNumbers(title: string): number[] {
  const [, list = ''] = /\brows? (\d[\d, -]*)/.exec(title) ?? []
  return [...list.matchAll(/(\d+)(?:-(\d+))?/g)].flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
  )
}
