import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createRedactor } from '../../contract/secrets/redact.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { readLearnings } from './learnings.ts'

const redact = createRedactor([{ name: 'DB_PASSWORD', value: 'hunter2-hunter2' }])

it('removes secrets from the text and from the file', async () => {
  const folder = createTestFolder()
  const file = join(folder, 'LEARNINGS.md')
  writeFileSync(file, `- log in with hunter2-hunter2\n- ${Buffer.from('hunter2-hunter2').toString('hex')}\n`)
  const clean = '- log in with [redacted DB_PASSWORD]\n- [redacted DB_PASSWORD]\n'
  expect([await readLearnings(folder, () => redact), readFileSync(file, 'utf8')]).toEqual([clean, clean])
})

it('leaves a file without secrets untouched, and a missing one missing', async () => {
  const folder = createTestFolder()
  expect(await readLearnings(folder, () => redact)).toBeUndefined()
  const file = join(folder, 'LEARNINGS.md')
  writeFileSync(file, '- use pnpm\n')
  const { ino } = statSync(file)
  expect([await readLearnings(folder, () => redact), statSync(file).ino]).toEqual(['- use pnpm\n', ino])
})
