import { expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { openOwnedSprint } from '../../../test/support/owned-sprint.ts'
import { createTestIo } from '../../../test/support/test-io.ts'
import { buildProgress } from '../../../test/support/builders.ts'
import { watchRequests } from '../../storage/sprint/requests.ts'
import { stop } from './stop.ts'

it('repeats the flags of the run in the hint that resumes it', async () => {
  const dir = createTestFolder()
  const { limits, stats } = buildProgress({ limits: { usd: 2 }, stats: { costUsd: 3 } })
  const sprint = await openOwnedSprint(dir, { limits, stats, runLimits: { usd: 9 } })
  onTestFinished(() => sprint.close())
  onTestFinished(await watchRequests(dir, () => {}))
  const { io, text } = createTestIo()

  expect(await stop.run([dir], io)).toBe(0)

  expect(text()).toMatch(/resume with: ralph run \S+ --budget-usd 9$/)
})
