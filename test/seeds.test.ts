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
  /** A text in a file: the title of a test, or a line of a page. */
  evidence: z.strictObject({ file: z.string(), text: z.string().min(1) }),
})
const rows = z.array(Row).parse(JSON.parse(readFileSync(join(root, 'docs/seeds.json'), 'utf8')))

it('lists all 269 requirements once, in order', () => {
  expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 269 }, (_, index) => index + 1))
})

it.each(rows.map((row) => [row.row, row.seed, row] as const))(
  'row %i (%s) has its evidence',
  (_, __, { evidence, verdict, why }) => {
    const path = join(root, evidence.file)
    expect(existsSync(path), `${evidence.file} exists`).toBe(true)
    expect(readFileSync(path, 'utf8')).toContain(evidence.text)
    expect({ isDifferent: verdict === 'differently', hasReason: why !== undefined && why.endsWith('.') }).toEqual({
      isDifferent: why !== undefined,
      hasReason: why !== undefined,
    })
  },
)

it('shows them on docs/seeds.md', () => {
  const check = () => execFileSync(process.execPath, [join(root, 'scripts/seeds.mjs'), '--check'], { cwd: root })
  expect(check).not.toThrow()
})
