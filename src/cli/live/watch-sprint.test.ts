import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import {
  after,
  buildCheck,
  buildProgress,
  checksEnd,
  green,
  noon,
  type Play,
  reports,
  started,
  emittedEvents,
} from '../../../test/support/builders.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { watchRequests, type RunRequest } from '../../storage/sprint/requests.ts'
import { openSprintStore } from '../../storage/sprint/sprint-store.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import { createRemoteRun, watchSprint } from './watch-sprint.ts'

const lines = [
  { type: 'system', subtype: 'init', session_id: 's', model: 'fake' },
  {
    type: 'assistant',
    session_id: 's',
    message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
  },
].map((line) => `${JSON.stringify(line)}\n`)

/** Creates a sprint that this process owns, like another process would, and keeps the events it would emit. */
async function createRunningSprint(given: Partial<Progress> = {}) {
  const dir = createTestFolder()
  const first = buildProgress({ doneWhen: [buildCheck()], ...given })
  const opened = await openSprintStore({ sprintDir: dir, fold: applyFactToProgress, now: () => noon }, first)
  if (!opened) throw new Error('not opened')
  onTestFinished(() => opened.store.close().catch(() => {}))
  let { progress } = opened
  const events: SprintEvent[] = []
  const play = async (...plays: readonly Play[]) => {
    for (const one of plays) {
      const fact = typeof one === 'function' ? one(progress) : one
      const next = after(progress, fact)
      events.push(...emittedEvents(next.orders))
      progress = next.progress
      await opened.store.save(progress, fact)
    }
  }
  const transcript = (text: string) => {
    const folder = join(stateFolder(dir), 'attempts', '1-1')
    mkdirSync(folder, { recursive: true })
    mkdirSync(join(dir, 'transcripts'), { recursive: true })
    appendFileSync(join(folder, 'transcript.jsonl'), text)
    const link = join(dir, 'transcripts', 'iteration-1.jsonl')
    if (!readdirSync(join(dir, 'transcripts')).includes('iteration-1.jsonl'))
      symlinkSync(join(folder, 'transcript.jsonl'), link)
  }
  return { dir, play, transcript, events, progress: () => progress, close: opened.store.close }
}

type WatchedEvent = { readonly event: SprintEvent; readonly at: number }

function startWatching(sprint: Awaited<ReturnType<typeof createRunningSprint>>) {
  const seen: WatchedEvent[] = []
  const leaving = new AbortController()
  const done = watchSprint({
    sprintDir: sprint.dir,
    progress: sprint.progress(),
    show: (event, at) => seen.push({ event, at }),
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
  sprint.transcript(lines.join(''))
  sprint.events.length = 0
  const watcher = startWatching(sprint)
  await watcher.saw((event) => event.type === 'agent' && event.event.kind === 'text')

  await sprint.play(reports({ status: 'goal-complete' }), checksEnd(green()))
  await sprint.close()

  expect(await watcher.done).toEqual({ progress: sprint.progress(), owner: 'gone' })
  const journalled = watcher.seen
    .map(({ event }) => event)
    .filter(({ type }) => !/^(agent|attempt-started|check-)/.test(type))
  expect(journalled).toEqual(sprint.events)
  expect(sprint.events.at(-1)).toEqual({ type: 'sprint-rested', status: 'completed' })
  expect(watcher.seen.map(({ event }) => event)).toEqual(
    expect.arrayContaining([
      { type: 'agent', iteration: 1, attempt: 1, event: { kind: 'text', text: 'Hello' } },
      { type: 'check-ended', iteration: 1, result: green() },
    ]),
  )
})

it('shows the messages of an agent whose attempt began and ended between two polls', async () => {
  const sprint = await createRunningSprint({ checkpoint: true })
  const before = sprint.progress()
  await sprint.play(started({ agents: ['claude'] }))
  sprint.transcript(lines.join(''))
  const toldBefore = sprint.events.length
  await sprint.play(reports())
  expect(sprint.events.slice(toldBefore)).toEqual([])
  const watcher = startWatching({ ...sprint, progress: () => before })

  await watcher.saw((event) => event.type === 'agent' && event.event.kind === 'text')
  watcher.leave()
  await watcher.done
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

it('reads a line of the agent only when it is complete, and continues in a new segment', async () => {
  const sprint = await createRunningSprint()
  await sprint.play(started({ agents: ['claude'] }))
  const whole = lines.join('')
  sprint.transcript(whole.slice(0, -20))
  const watcher = startWatching(sprint)
  await watcher.saw((event) => event.type === 'agent' && event.event.kind === 'session')
  expect(watcher.seen.some(({ event }) => event.type === 'agent' && event.event.kind === 'text')).toBe(false)
  sprint.transcript(whole.slice(-20))
  await watcher.saw((event) => event.type === 'agent' && event.event.kind === 'text')

  const long = 'x'.repeat(200_000)
  for (const text of ['one', 'two', 'three'])
    await sprint.play({ type: 'told', at: noon, text: text + long, now: false })
  await sprint.play(reports())
  await watcher.saw(({ type }) => type === 'iteration-ended')
  watcher.leave()

  expect(readdirSync(join(stateFolder(sprint.dir), 'journal')).length).toBeGreaterThan(1)
  expect((await watcher.done).progress).toEqual(sprint.progress())
})

it('supports several watchers, and changes nothing in the folder', async () => {
  const sprint = await createRunningSprint()
  await sprint.play(started({ agents: ['claude'] }))
  sprint.transcript(lines.join(''))
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
  const said: string[] = []
  onTestFinished(await watchRequests(dir, (request) => got.push(request)))
  const run = createRemoteRun(
    dir,
    (text) => said.push(text),
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
  expect(said).toEqual([])
})

it('ignores a damaged line at the end', async () => {
  const sprint = await createRunningSprint()
  await sprint.play(started({ agents: ['claude'] }))
  const [segment = ''] = readdirSync(join(stateFolder(sprint.dir), 'journal'))
  writeFileSync(join(stateFolder(sprint.dir), 'journal', segment), 'deadbeef {"v":1,', { flag: 'a' })
  const watcher = startWatching(sprint)
  sprint.transcript(lines.join(''))
  await watcher.saw((event) => event.type === 'agent')
  watcher.leave()

  expect((await watcher.done).progress).toEqual(sprint.progress())
})
