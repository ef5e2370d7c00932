import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { findRealYq, runYq, yqStandIn } from '../support/yq.ts'

const Recorded = z.array(z.object({ args: z.array(z.string()), printed: z.string(), after: z.unknown() }))
const fixtures = join(root, 'test/fixtures/seeds')
/** What yq 4.25.3 printed and wrote, for every expression of 000:181-362 on the PROGRESS.yaml of 000:119-173. */
const recorded = Recorded.parse(JSON.parse(readFileSync(join(fixtures, 'yq-4.25.3.json'), 'utf8')))

function run(program: string, args: readonly string[]) {
  const file = join(createTestFolder(), 'PROGRESS.yaml')
  writeFileSync(file, readFileSync(join(fixtures, '000-progress.yaml')))
  const printed = runYq(program, args, file)
  const after: unknown = parse(readFileSync(file, 'utf8'))
  return { printed, after }
}

describe.each([
  ['the stand-in of the tests', yqStandIn],
  ['the real program', findRealYq()],
])('yq v4, %s', (_, program) => {
  it.runIf(program !== undefined).each(recorded)(
    'does $args as yq 4.25.3 does (rows 28, 30, 31)',
    ({ args, printed, after }) => {
      expect(run(program ?? '', args)).toEqual({ printed, after })
    },
  )
})
