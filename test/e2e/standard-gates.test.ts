import { expect, it } from 'vitest'
import { completedReport, readStatuses, readTasks, createPhasesSprint } from '../support/phases-sprint.ts'

const b = { id: 'b', prompt: 'Task B.' }
const createGatedPhase = (
  script: string,
  more: Readonly<Record<string, unknown>> = {},
  onFail: Readonly<Record<string, unknown>> = {},
) => ({
  id: 'a',
  prompt: 'Task A.',
  gate: { script, 'on-fail': { prompt: 'FIXIT', ...onFail }, ...more },
})
/** Red until it has run this often. */
const redUntilRun = (times: number) =>
  `echo run >> runs; test $(wc -l < runs) -ge ${times} || { echo "no cheese $SPRINT_ID $PHASE_ID $ATTEMPT_NUMBER"; exit 7; }`

it('D3: the agent fixes a red gate until it is green', async () => {
  const sprint = await createPhasesSprint([createGatedPhase(redUntilRun(3), {}, { 'max-retries': 5 }), b], {
    sprint: { 'sprint-id': 'S' },
    answers: { '*': completedReport },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  expect(await readTasks(sprint)).toEqual(['Task A.', 'FIXIT', 'FIXIT', 'Task B.'])
  const [, first, second] = (await sprint.calls()).map(({ prompt }) => prompt)
  expect(first).toMatch(/exit code 7[^]*no cheese S a 1/)
  expect(second).toMatch(/exit code 7[^]*no cheese S a 2/)
  expect((await sprint.progress()).phases?.[0]).toMatchObject({
    status: 'completed',
    'gate-tracking': { attempts: 3, status: 'passed', 'last-exit-code': 0 },
  })
  expect((await sprint.progress()).iterations).toMatchObject([
    { verdict: 'refused' },
    { verdict: 'refused', work: { phase: 'a', 'gate-fix': 1 } },
    { verdict: 'completed', work: { phase: 'a', 'gate-fix': 2 } },
    { verdict: 'completed', work: { phase: 'b' } },
  ])
})

it('D3: a gate that stays red blocks the sprint after its runs, and runs first once a user has fixed it', async () => {
  const sprint = await createPhasesSprint([createGatedPhase('echo once >> runs; test -f mended'), b], {
    answers: { '*': completedReport },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 1 })

  expect(await sprint.read('runs')).toBe('once\nonce\nonce\n')
  expect(await readTasks(sprint)).toEqual(['Task A.', 'FIXIT', 'FIXIT'])
  const progress = await sprint.progress()
  expect(progress).toMatchObject({
    status: 'blocked',
    'failed-phase': 'a',
    error: expect.stringContaining('exit code 1'),
  })
  expect(progress.phases?.[0]?.['gate-tracking']).toMatchObject({ attempts: 3, status: 'blocked', 'last-exit-code': 1 })

  await sprint.write('mended', '')
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await readTasks(sprint)).toEqual(['Task A.', 'FIXIT', 'FIXIT', 'Task B.'])
})

it('D3: a gate that takes too long is killed with everything it started', async () => {
  const sprint = await createPhasesSprint(
    [createGatedPhase('sleep 15 & setsid sleep 15; true', { timeout: 1 }, { 'max-retries': 1 }), b],
    {
      answers: { '*': completedReport },
    },
  )
  const began = performance.now()

  expect(await sprint.run()).toMatchObject({ exitCode: 1 })

  expect(performance.now() - began).toBeLessThan(8000)
  expect(sprint.processes()).toEqual([])
  expect(await sprint.progress()).toMatchObject({
    status: 'blocked',
    error: expect.stringContaining('timed out after 1 s'),
  })
})

it('lets the gate decide, even if the agent says that it could not fix it', async () => {
  const sprint = await createPhasesSprint([createGatedPhase(redUntilRun(2)), b], {
    answers: { '*': completedReport, 2: { status: 'failed', summary: 'no idea' } },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(readStatuses(await sprint.progress())).toEqual({ a: 'completed', b: 'completed' })
})

it('runs the gate of a phase with items after the last of them, also if there are none', async () => {
  const gate = { script: 'echo "$PHASE_ID" >> gates', 'on-fail': { prompt: 'FIXIT' } }
  const sprint = await createPhasesSprint(
    [
      { id: 'some', 'for-each': 'bug', gate },
      { id: 'none', 'for-each': 'wish', gate },
    ],
    {
      sprint: { collections: { bug: [{ prompt: 'One.' }, { prompt: 'Two.' }], wish: [] } },
      answers: { '*': completedReport },
    },
  )

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await readTasks(sprint)).toEqual(['One.', 'Two.'])
  expect(await sprint.read('gates')).toBe('some\nnone\n')
})

it('repeats a gate that was running when Ralph was killed, and not the agent', async () => {
  const sprint = await createPhasesSprint(
    [createGatedPhase('echo run >> runs; test -f go || { touch begun; sleep 600; }', { timeout: 600 }), b],
    {
      answers: { '*': completedReport },
    },
  )
  const first = sprint.startRun()
  for (let n = 0; n < 200 && !sprint.has('begun'); n++) await new Promise((resolve) => setTimeout(resolve, 50))
  first.signal('SIGTERM')
  expect(await first.ended).toMatchObject({ exitCode: 130 })
  expect(sprint.processes()).toEqual([])

  await sprint.write('go', '')
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await readTasks(sprint)).toEqual(['Task A.', 'Task B.'])
})
