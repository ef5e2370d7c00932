import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { createProjectRedactor } from './secrets.ts'

it('redacts the secrets of the environment, and of the current .env files', () => {
  const folder = createTestFolder()
  const redactor = createProjectRedactor(folder, { APP_TOKEN: 'of-the-user-1', HOME: '/home/me-or-you' })
  const text = 'of-the-user-1, of-the-file-1, of-the-file-2, /home/me-or-you'
  const file = join(folder, '.env')

  expect(redactor()(text)).toBe('[redacted APP_TOKEN], of-the-file-1, of-the-file-2, /home/me-or-you')
  writeFileSync(file, 'DB_PASSWORD=of-the-file-1\n')
  expect(redactor()(text)).toBe('[redacted APP_TOKEN], [redacted DB_PASSWORD], of-the-file-2, /home/me-or-you')
  writeFileSync(file, 'DB_PASSWORD=of-the-file-2 # changed\n')
  expect(redactor()(text)).toBe('[redacted APP_TOKEN], of-the-file-1, [redacted DB_PASSWORD], /home/me-or-you')
  rmSync(file)
  expect(redactor()(text)).toBe('[redacted APP_TOKEN], of-the-file-1, of-the-file-2, /home/me-or-you')
})
