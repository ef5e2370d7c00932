import { expect, it, onTestFinished } from 'vitest'
import { createTestIo } from '../../../test/support/test-io.ts'
import { fails, noon, reports, started } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { openOwnedSprint } from '../../../test/support/owned-sprint.ts'
import { watch } from './watch.ts'

async function createOwnedSprint() {
  const dir = createTestFolder()
  const sprint = await openOwnedSprint(dir, { goal: 'Build login' })
  onTestFinished(() => sprint.close().catch(() => {}))
  return { dir, ...sprint }
}

it('shows a sprint that is not running once, and says so', async () => {
  const { dir, play, close } = await createOwnedSprint()
  await play(started(), { type: 'stop-requested', at: noon, as: 'paused', when: 'now' })
  await close()
  const { io, text } = createTestIo()

  expect(await watch.run([dir], io)).toBe(4)

  expect(text()).toMatch(/paused[\s\S]*Build login[\s\S]*this sprint is not running; start it with: ralph run /)
})

it.each([
  ['completed', reports({ status: 'goal-complete' }), 0, /agent claims done:[\s\S]*✓ goal reached/],
  ['needs-human', fails({ class: 'auth', reason: 'not logged in', retryable: false }), 2, /a human is needed/],
])('follows a sprint to its end: %s, with the exit code of the run', async (_, end, exitCode, shown) => {
  const { dir, play, close } = await createOwnedSprint()
  await play(started())
  const { io, text } = createTestIo()
  const watching = watch.run([dir, '--plain'], io)
  await expect.poll(text).toContain('Build login')
  await play(end)
  await close()

  expect(await watching).toBe(exitCode)
  expect(text()).toMatch(shown)
})

it('reports that the process is gone if it left the sprint in progress', async () => {
  const { dir, play, close } = await createOwnedSprint()
  await play(started())
  const { io, text } = createTestIo()
  const watching = watch.run([dir], io)
  await expect.poll(text).toContain('Build login')
  await close()

  expect(await watching).toBe(1)
  expect(text()).toMatch(/gone and did not finish it[\s\S]*resume with: ralph run/)
})

it.each([
  [[], 0],
  [['--ci'], 5],
] as const)('exits as the run does if the goal is reached without proof: %s with %i', async (flags, exitCode) => {
  const { dir, play, close } = await createOwnedSprint()
  await play(started())
  const { io, text } = createTestIo()
  const watching = watch.run([dir, '--plain', ...flags], io)
  await expect.poll(text).toContain('Build login')
  await play(reports({ status: 'goal-complete' }))
  await close()

  expect(await watching).toBe(exitCode)
  expect(await watch.run([dir, '--json', ...flags], io)).toBe(exitCode)
})

it('exits with 130 when its output is closed', async () => {
  const { dir, play } = await createOwnedSprint()
  await play(started())

  expect(await watch.run([dir], createTestIo({ outputClosed: AbortSignal.abort() }).io)).toBe(130)
})

it('exits with 130 on Ctrl-C while the sprint continues', async () => {
  const { dir, play } = await createOwnedSprint()
  await play(started())
  const { io, text } = createTestIo()
  const before = process.listenerCount('SIGINT')
  const watching = watch.run([dir], io)
  await expect.poll(() => process.listenerCount('SIGINT')).toBe(before + 1)
  process.emit('SIGINT')

  expect(await watching).toBe(130)
  expect(text()).toMatch(/the sprint continues; watch it again with: ralph watch /)
  expect(process.listenerCount('SIGINT')).toBe(before)
})

it('refuses a folder without a sprint', async () => {
  await expect(watch.run([createTestFolder()], createTestIo().io)).rejects.toMatchObject({ code: 'PROGRESS_NOT_FOUND' })
})
