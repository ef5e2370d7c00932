import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { noon } from '../../test/support/builders.ts'
import { createTestFolder } from '../../test/support/folder.ts'
import { arianaNotes, prepareNotes } from './notes.ts'

/** A home with the notes of Ariana. */
function createHome() {
  const home = createTestFolder()
  const earlier = arianaNotes(home)
  mkdirSync(earlier)
  writeFileSync(join(earlier, 'README.md'), '# Notes\n\nWe use argon2.\n')
  writeFileSync(join(earlier, 'keys.md'), 'rotate weekly\n')
  writeFileSync(join(earlier, '.task-lock'), '')
  return { home, earlier, folder: join(home, '.ralph', 'notes', 'auth') }
}

it('copies the notes of Ariana for a new agent, and leaves the originals in place (row 169)', async () => {
  const { earlier, folder } = createHome()
  await prepareNotes(folder, 'Add logout', noon, earlier)

  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  expect(readme).toContain('We use argon2.')
  expect(readme).toContain('Add logout')
  expect(readFileSync(join(folder, 'keys.md'), 'utf8')).toBe('rotate weekly\n')
  expect(existsSync(join(folder, '.task-lock'))).toBe(true)
  expect(readFileSync(join(earlier, 'README.md'), 'utf8')).not.toContain('Add logout')
})

it('does not copy them twice, nor into a folder that already has notes', async () => {
  const { earlier, folder } = createHome()
  await prepareNotes(folder, 'Add logout', noon)
  await prepareNotes(folder, 'Add login', noon, earlier)
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).not.toContain('We use argon2.')
})

it('uses the folder of Ariana itself when --notes names it', async () => {
  const { earlier } = createHome()
  await prepareNotes(earlier, 'Add logout', noon, earlier)
  expect(readFileSync(join(earlier, 'README.md'), 'utf8')).toContain('Add logout')
})
