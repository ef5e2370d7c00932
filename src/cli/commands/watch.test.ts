import { expect, it, onTestFinished } from 'vitest'
import { createTestIo } from '../../../test/support/test-io.ts'
import { after, buildProgress, fails, noon, type Play, reports, started } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { openSprintStore } from '../../storage/sprint/sprint-store.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import { watch } from './watch.ts'

async function createOwnedSprint() {
  const dir = createTestFolder()
  let progress = buildProgress({ goal: 'Build login' })
  const first = progress
  const opened = await openSprintStore({ sprintDir: dir, fold: applyFactToProgress, now: () => noon }, first)
  onTestFinished(() => opened?.store.close().catch(() => {}))
  const play = async (...plays: readonly Play[]) => {
    for (const one of plays) {
      const fact = typeof one === 'function' ? one(progress) : one
      progress = after(progress, fact).progress
      await opened?.store.save(progress, fact)
    }
  }
  return { dir, play, close: async () => opened?.store.close() }
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
  ['completed', reports({ status: 'goal-complete' }), 0, /✓ goal reached/],
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

it('exits on Ctrl-C while the sprint continues', async () => {
  const { dir, play } = await createOwnedSprint()
  await play(started())
  const { io, text } = createTestIo()
  const before = process.listenerCount('SIGINT')
  const watching = watch.run([dir], io)
  await expect.poll(() => process.listenerCount('SIGINT')).toBe(before + 1)
  process.emit('SIGINT')

  expect(await watching).toBe(0)
  expect(text()).toMatch(/the sprint continues; watch it again with: ralph watch /)
  expect(process.listenerCount('SIGINT')).toBe(before)
})

it('refuses a folder without a sprint', async () => {
  await expect(watch.run([createTestFolder()], createTestIo().io)).rejects.toMatchObject({ code: 'PROGRESS_NOT_FOUND' })
})
