import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { noon } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { root } from '../../../test/support/paths.ts'
import { openSprintStore } from '../sprint/sprint-store.ts'

const seed = readFileSync(join(root, 'test/fixtures/seeds/001-progress.yaml'), 'utf8')

/** A sprint folder of another program. */
function createSeedSprint() {
  const sprintDir = createTestFolder()
  const file = join(sprintDir, 'PROGRESS.yaml')
  writeFileSync(file, seed)
  return { sprintDir, file }
}

it('leaves a PROGRESS.yaml alone that a user edits during the import, and imports the edit the next time', async () => {
  const { sprintDir, file } = createSeedSprint()
  const edited = seed.replace('Implement JWT token generation', 'Implement sessions')
  const options = { sprintDir, now: () => noon, fold: <P>(progress: P) => progress }

  await expect(
    openSprintStore({
      ...options,
      adopt: (imported) => {
        writeFileSync(file, edited)
        return imported
      },
    }),
  ).rejects.toMatchObject({ code: 'PROGRESS_CHANGED' })
  expect(readFileSync(file, 'utf8')).toBe(edited)

  const opened = await openSprintStore(options)
  await opened?.store.close()
  expect(opened?.progress.dynamicSteps.map(({ prompt }) => prompt)).toContain('Implement sessions')
})

it('keeps the original, beside an earlier one', async () => {
  const { sprintDir, file } = createSeedSprint()
  writeFileSync(`${file}.imported`, 'of an earlier time\n')
  const opened = await openSprintStore({ sprintDir, now: () => noon, fold: (progress) => progress })
  await opened?.store.close()

  expect(opened?.imported?.copy).toBe(`${file}.imported-2`)
  expect(readFileSync(`${file}.imported-2`, 'utf8')).toBe(seed)
  expect(readFileSync(`${file}.imported`, 'utf8')).toBe('of an earlier time\n')
})
