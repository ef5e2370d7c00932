import { mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from './support/folder.ts'
import { removeStaleFolders } from './support/stale-folders.ts'

it('removes the old folders of killed test runs, and no folder of another program or of a run in progress', () => {
  const parent = createTestFolder()
  const now = Date.now()
  const create = (name: string, ageHours: number) => {
    mkdirSync(join(parent, name, 'inner'), { recursive: true })
    const time = (now - ageHours * 3_600_000) / 1000
    utimesSync(join(parent, name), time, time)
  }
  for (const name of ['ralph-test-old', 'ralph-home-old', 'ralph-data-old', 'conformance-old']) create(name, 4)
  const kept = ['other-old', 'ralph-data-template-ready', 'ralph-soak-old'].toSorted()
  for (const name of kept) create(name, 100)
  create('ralph-test-new', 1)

  removeStaleFolders(parent, now)

  expect(readdirSync(parent).toSorted()).toEqual([...kept, 'ralph-test-new'].toSorted())
})
