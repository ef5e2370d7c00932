import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { readPacked } from '../support/packed.ts'
import { isRunning, kill } from '../support/processes.ts'
import { createTestSprint, waitUntil, type RawProgress, type RunningRalph, type TestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'on', pendingSteps: [{ id: null, prompt: 'more' }] }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

it.each([
  ['Ctrl-C', async (_: TestSprint, run: RunningRalph) => run.signal('SIGINT')],
  [
    'ralph pause',
    async (sprint: TestSprint) => {
      expect(await sprint.ralph('pause', 's')).toMatchObject({ exitCode: 0 })
      await sprint.requestsTaken()
    },
  ],
])('C8: a pause by %s happens after the iteration, and the next run continues the count', async (_, pauseIt) => {
  const sprint = await createTestSprint({
    answers: { 1: proceed, 2: { waits: 'go', report: proceed }, 3: goalComplete },
  })
  const run = sprint.startRun()
  await sprint.called(2)
  await pauseIt(sprint, run)
  await sprint.release('go')

  expect(await run.ended).toMatchObject({ exitCode: 4 })
  expect((await sprint.progress()).status).toBe('paused')
  const transcripts = await readTranscripts(sprint)
  expect(Object.keys(transcripts)).toEqual(['iteration-1.jsonl', 'iteration-2.jsonl'])

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(listIterationNumbers(await sprint.progress())).toEqual([1, 2, 3])
  expect(await readTranscripts(sprint)).toEqual({
    ...transcripts,
    'iteration-3.jsonl': expect.stringContaining('done'),
  })
})

it('C9: after kill -9 the next run joins the agent that is still working', async () => {
  const sprint = await createTestSprint({
    answers: { 1: proceed, 2: { waits: 'go', report: proceed }, 3: goalComplete },
  })
  const first = sprint.startRun()
  await sprint.called(2)
  first.signal('SIGKILL')
  await first.ended
  const [, agent] = await sprint.calls()
  expect(isRunning(agent?.pid ?? 0)).toBe(true)

  const second = sprint.startRun()
  await waitUntil('the second run to be at work', () => second.printed().includes('resumed'))
  await pause(500)
  expect(await sprint.calls()).toHaveLength(2)
  await sprint.release('go')

  expect(await second.ended).toMatchObject({ exitCode: 0 })
  const progress = await sprint.progress()
  expect(listIterationNumbers(progress)).toEqual([1, 2, 3])
  expect(progress.iterations?.map(({ attempts }) => attempts)).toEqual([1, 1, 1])
  expect(listAddedSteps(progress)).toEqual(new Set([1, 2]))
  expect(await sprint.calls()).toHaveLength(3)
})

it('C9: after kill -9 the next run uses the result that the agent has left since', async () => {
  const sprint = await createTestSprint({
    answers: { 1: proceed, 2: { waits: 'go', report: proceed }, 3: goalComplete },
  })
  const first = sprint.startRun()
  await sprint.called(2)
  first.signal('SIGKILL')
  await first.ended
  await sprint.release('go')
  await waitUntil('the agent to end', () => sprint.processes().length === 0)

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const progress = await sprint.progress()
  expect(listIterationNumbers(progress)).toEqual([1, 2, 3])
  expect(listAddedSteps(progress)).toEqual(new Set([1, 2]))
  expect(await sprint.calls()).toHaveLength(3)
})

it('C9: after kill -9 of Ralph and the agent the iteration gets another attempt', async () => {
  const sprint = await createTestSprint({ answers: { 1: proceed, 2: { waits: 'never' }, 3: proceed, 4: goalComplete } })
  const first = sprint.startRun()
  await sprint.called(2)
  first.signal('SIGKILL')
  await first.ended
  for (const { pid } of sprint.processes()) kill(pid)

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const { iterations } = await sprint.progress()
  expect(iterations?.map(({ number, attempts }) => [number, attempts])).toEqual([
    [1, 1],
    [2, 2],
    [3, 1],
  ])
  expect(await sprint.calls()).toHaveLength(4)
})

it('C9: a shim serves several attempts, outlives Ralph while its agent works, and ends with either', async () => {
  const sprint = await createTestSprint({
    answers: { 1: proceed, 2: { waits: 'go', report: proceed }, 3: goalComplete },
  })
  const first = sprint.startRun()
  await sprint.called(2)
  const shim = await findShim(sprint, '2-1')
  expect(await findShim(sprint, '1-1')).toBe(shim)
  first.signal('SIGKILL')
  await first.ended
  expect(isRunning(shim)).toBe(true)
  await sprint.release('go')
  await waitUntil('the shim to end', () => !isRunning(shim))
  expect(await readFile(sprint.state('attempts/2-1/exit'), 'utf8')).toBe('0\n')

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  const next = await findShim(sprint, '3-1')
  await waitUntil('the shim of the second run to end', () => !isRunning(next))
})

it('C10: a second run of the same sprint is refused while the first one is running', async () => {
  const sprint = await createTestSprint({ answers: { 1: { waits: 'go', report: proceed }, 2: goalComplete } })
  const first = sprint.startRun()
  await sprint.called(1)

  const second = sprint.startRun()
  const settled = await Promise.race([second.ended, first.ended, pause(60_000, 'it is still running')])
  expect(settled).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/error [A-Z_]+ /) })
  expect(await sprint.calls()).toHaveLength(1)

  await sprint.release('go')
  expect(await first.ended).toMatchObject({ exitCode: 0 })
  expect(listIterationNumbers(await sprint.progress())).toEqual([1, 2])
  expect(await sprint.calls()).toHaveLength(2)
})

const findShim = async (sprint: TestSprint, attempt: string): Promise<number> => {
  const file = sprint.state(`attempts/${attempt}/pid`)
  const text = existsSync(file) ? await readFile(file, 'utf8') : readPacked(sprint.state()).get(`${attempt}/pid`)
  return Number(text?.toString().split(' ')[0])
}

const listAddedSteps = (progress: RawProgress) =>
  new Set(progress['dynamic-steps'].map((step) => step['added-in-iteration']))

const listIterationNumbers = ({ iterations = [] }: RawProgress) => iterations.map(({ number }) => number)

async function readTranscripts(sprint: TestSprint): Promise<Record<string, string>> {
  const { iterations = [] } = await sprint.progress()
  const names = iterations.map(({ number }) => `iteration-${number}.jsonl`)
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await sprint.read(`s/transcripts/${name}`)] as const)),
  )
}
