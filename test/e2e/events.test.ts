import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { EventReader } from '../../src/host/event-reader.ts'
import { createTestSprint, type TestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'planned', pendingSteps: [{ id: null, prompt: 'alpha' }] }
const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'done' }

const readLog = async (sprint: TestSprint) =>
  (await new EventReader(sprint.state('events')).read()).map(({ event }) => event)

/** The events that `--json` printed, without those of the start, which are printed before the run has a log. */
const printedEvents = (stdout: string): unknown[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { at: _at, ...event } = z.looseObject({ at: z.unknown() }).parse(JSON.parse(line))
      return event
    })

const fromStart = (events: readonly unknown[]) =>
  events.slice(events.findIndex((event) => JSON.stringify(event).includes('"sprint-started"')))

it('writes to the event log what `ralph run --json` prints', async () => {
  const sprint = await createTestSprint({ answers: { 1: proceed, '*': claim } })
  const { stdout, exitCode } = await sprint.run('--json')
  expect(exitCode).toBe(0)
  const logged = await readLog(sprint)
  expect(logged.map(({ event }) => event)).toEqual(fromStart(printedEvents(stdout)))
  expect(logged.map(({ seq }) => seq)).toEqual(logged.map((_, index) => index + 1))
})

it('logs each event of an agent once if its run is killed and the next one joins it', async () => {
  const sprint = await createTestSprint({ answers: { 1: { waits: 'go', report: proceed }, '*': claim } })
  const first = sprint.start('run', 's', '-w', 'wf')
  await sprint.called(1)
  const isStarted = async () => (await readLog(sprint)).some(({ event }) => event.type === 'attempt-started')
  await expect.poll(isStarted, { timeout: 20_000 }).toBe(true)
  first.signal('SIGKILL')
  await first.ended
  const second = sprint.start('run', 's', '-w', 'wf')
  await sleep(500)
  await sprint.release('go')
  expect(await second.ended).toMatchObject({ exitCode: 0 })
  const logged = (await readLog(sprint)).map(({ event }) => event)
  const attemptEvents = logged.filter((event) => 'attempt' in event && event.iteration === 1)
  const kinds = attemptEvents.map((event) => (event.type === 'agent' ? event.event.kind : event.type))
  expect(kinds.filter((kind) => kind === 'session')).toHaveLength(1)
  expect(kinds.filter((kind) => kind === 'attempt-started')).toHaveLength(1)
  expect(kinds.at(-1)).toBe('terminal')
})
