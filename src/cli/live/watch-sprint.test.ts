import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { buildCheck, checksEnd, green, noon, reports, started } from '../../../test/support/builders.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { openOwnedSprint } from '../../../test/support/owned-sprint.ts'
import type { LoggedEvent, SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { watchRequests, type RunRequest } from '../../storage/sprint/requests.ts'
import { createRemoteRun, watchSprint } from './watch-sprint.ts'

async function createRunningSprint(overrides: Partial<Progress> = {}) {
  const dir = createTestFolder()
  const sprint = await openOwnedSprint(dir, { doneWhen: [buildCheck()], ...overrides })
  onTestFinished(() => sprint.close().catch(() => {}))
  return { dir, ...sprint }
}

function startWatching(sprint: Awaited<ReturnType<typeof createRunningSprint>>) {
  const seen: LoggedEvent[] = []
  const leaving = new AbortController()
  const done = watchSprint({
    sprintDir: sprint.dir,
    progress: sprint.progress(),
    show: (event) => void seen.push(event),
    onProgress: () => {},
    signal: leaving.signal,
  })
  const saw = async (is: (event: SprintEvent) => boolean) =>
    await expect.poll(() => seen.some(({ event }) => is(event)), { timeout: 5000 }).toBe(true)
  return { seen, saw, done, leave: () => leaving.abort() }
}

it("shows later events as the owner emits them, and the agent's messages, until the owner is gone", async () => {
  const sprint = await createRunningSprint()
  await sprint.play(started({ agents: ['claude'] }))
  const before = sprint.events.length
  sprint.startAgent()
  sprint.say('Hello')
  const watcher = startWatching(sprint)
  await watcher.saw((event) => event.type === 'agent' && event.event.kind === 'text')

  await sprint.play(reports({ status: 'goal-complete' }), checksEnd(green()))
  await sprint.close()

  expect(await watcher.done).toEqual({ progress: sprint.progress(), owner: 'gone' })
  expect(watcher.seen.map(({ event }) => event)).toEqual(sprint.events.slice(before))
  expect(sprint.events.at(-1)).toEqual({ type: 'sprint-rested', status: 'completed' })
})

it('shows the messages of an agent whose attempt began and ended between two polls', async () => {
  const sprint = await createRunningSprint({ checkpoint: true })
  const before = sprint.progress()
  await sprint.play(started({ agents: ['claude'] }))
  sprint.startAgent()
  sprint.say('Hello')
  await sprint.play(reports())
  const watcher = startWatching({ ...sprint, progress: () => before })

  await watcher.saw((event) => event.type === 'agent' && event.event.kind === 'text')
  watcher.leave()
  await watcher.done
  expect(watcher.seen.map(({ event }) => event.type)).toContain('attempt-started')
})

it('reports when events happened, not when they were read', async () => {
  const sprint = await createRunningSprint()
  const watcher = startWatching(sprint)
  await sprint.play(started({ agents: ['claude'] }))
  await watcher.saw(({ type }) => type === 'sprint-started')
  watcher.leave()

  expect(await watcher.done).toMatchObject({ owner: 'running' })
  expect(watcher.seen.map(({ at }) => at)).toEqual(watcher.seen.map(() => noon))
})

it('reads an event only when it is complete, and continues in a new segment', async () => {
  const sprint = await createRunningSprint()
  await sprint.play(started({ agents: ['claude'] }))
  const watcher = startWatching(sprint)
  const long = 'x'.repeat(15_000)
  sprint.startAgent()
  for (let n = 0; n < 300; n++) sprint.say(`${n} ${long}`)
  const folder = join(stateFolder(sprint.dir), 'events')
  await expect.poll(() => readdirSync(folder).length, { timeout: 10_000 }).toBeGreaterThan(1)
  const last = readdirSync(folder).toSorted().at(-1) ?? ''
  writeFileSync(join(folder, last), 'deadbeef {"line":', { flag: 'a' })
  await watcher.saw(
    (event) => event.type === 'agent' && event.event.kind === 'text' && event.event.text.startsWith('299 '),
  )
  for (const text of ['one', 'two', 'three'])
    await sprint.play({ type: 'told', at: noon, text: text.repeat(70_000), now: false })
  await sprint.play(reports())
  await watcher.saw(({ type }) => type === 'iteration-ended')
  watcher.leave()
  expect(watcher.seen.map(({ seq }) => seq)).toEqual(
    watcher.seen.map((_, index) => (watcher.seen[0]?.seq ?? 0) + index),
  )
  expect(readdirSync(join(stateFolder(sprint.dir), 'journal')).length).toBeGreaterThan(1)
  expect((await watcher.done).progress).toEqual(sprint.progress())
})

it('supports several watchers, and changes nothing in the folder', async () => {
  const sprint = await createRunningSprint()
  await sprint.play(started({ agents: ['claude'] }))
  sprint.startAgent()
  sprint.say('Hello')
  const files = () =>
    readdirSync(sprint.dir, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .map((name) => `${name} ${statSync(join(sprint.dir, name)).mtimeMs}`)
  const before = files()
  const watchers = [startWatching(sprint), startWatching(sprint), startWatching(sprint)]
  for (const watcher of watchers) await watcher.saw((event) => event.type === 'agent')
  for (const watcher of watchers) watcher.leave()
  await Promise.all(watchers.map(({ done }) => done))

  expect(files()).toEqual(before)
})

it("does not end when an agent deletes the sprint's lock", async () => {
  const sprint = await createRunningSprint()
  await sprint.play(started({ agents: ['claude'] }))
  const watcher = startWatching(sprint)
  rmSync(join(stateFolder(sprint.dir), '.lock'))
  await expect
    .poll(() => Promise.race([watcher.done, sleep(1500, 'still there')]), { timeout: 5000 })
    .toBe('still there')
  watcher.leave()

  expect(await watcher.done).toMatchObject({ owner: 'running' })
})

it('asks the owner to stop, to pause and to message the agent', async () => {
  const dir = createTestFolder()
  const got: RunRequest[] = []
  const notes: string[] = []
  onTestFinished(await watchRequests(dir, (request) => got.push(request)))
  const run = createRemoteRun(
    dir,
    (text) => notes.push(text),
    () => noon,
  )
  run.send({ type: 'stop-requested', at: noon, as: 'paused', when: 'iteration' })
  await expect.poll(() => got.length).toBe(1)
  run.send({ type: 'told', at: noon, text: 'hurry', now: false })
  await expect.poll(() => got.length).toBe(2)

  expect(got).toEqual([
    { type: 'stop', as: 'paused', when: 'iteration' },
    { type: 'tell', text: 'hurry', now: false },
  ])
  expect(notes).toEqual([])
})

it('ignores a damaged line at the end', async () => {
  const sprint = await createRunningSprint()
  await sprint.play(started({ agents: ['claude'] }))
  const [segment = ''] = readdirSync(join(stateFolder(sprint.dir), 'journal'))
  writeFileSync(join(stateFolder(sprint.dir), 'journal', segment), 'deadbeef {"v":1,', { flag: 'a' })
  const watcher = startWatching(sprint)
  sprint.startAgent()
  sprint.say('Hello')
  await watcher.saw((event) => event.type === 'agent')
  watcher.leave()

  expect((await watcher.done).progress).toEqual(sprint.progress())
})
