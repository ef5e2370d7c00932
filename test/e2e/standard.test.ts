import { describe, expect, it } from 'vitest'
import { completedReport, readStatuses, readTasks, createPhasesSprint } from '../support/phases-sprint.ts'
import { waitUntil, type Answers } from '../support/sprint.ts'

const abc = ['a', 'b', 'c'].map((id) => ({ id, prompt: `Task ${id.toUpperCase()}.` }))

it('D1: runs the phases in order, once each (row 150)', async () => {
  const sprint = await createPhasesSprint(abc, { answers: { '*': completedReport } })

  expect(await sprint.run()).toMatchObject({ exitCode: 0, stderr: '' })

  expect(await readTasks(sprint)).toEqual(['Task A.', 'Task B.', 'Task C.'])
  const progress = await sprint.progress()
  expect(progress.status).toBe('completed')
  expect(progress.phases).toEqual(
    abc.map((phase) => ({
      ...phase,
      status: 'completed',
      summary: 'ok',
      'started-at': isoTime,
      'completed-at': isoTime,
    })),
  )
  expect(progress.stats).toMatchObject({ 'completed-phases': 3, 'total-phases': 3, 'completed-at': isoTime })
  expect([1, 2, 3].map((number) => sprint.has(`s/transcripts/iteration-${number}.jsonl`))).toEqual([true, true, true])
})

it('D1: runs the items of a collection through all phases of their workflow', async () => {
  const item = {
    name: 'I',
    phases: [
      { id: 'write', prompt: 'Write {{item.prompt}}.' },
      { id: 'test', prompt: 'Test {{item.id}}.' },
    ],
  }
  const sprint = await createPhasesSprint([{ id: 'work', 'for-each': 'bug', workflow: 'item' }], {
    sprint: { collections: { bug: [{ prompt: 'one' }, { prompt: 'two', id: 'second' }] } },
    files: { 'wf/item.yaml': JSON.stringify(item) },
    answers: { '*': completedReport },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  expect(await readTasks(sprint)).toEqual(['Write one.', 'Test bug-0.', 'Write two.', 'Test second.'])
  expect((await sprint.progress()).stats).toMatchObject({
    'completed-phases': 5,
    'total-phases': 5,
    'completed-steps': 2,
    'total-steps': 2,
  })
})

it('D1: needs no agent for an empty collection', async () => {
  const sprint = await createPhasesSprint([{ id: 'work', 'for-each': 'bug' }, abc[1] ?? {}], {
    sprint: { collections: { bug: [] } },
    answers: { '*': completedReport },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await readTasks(sprint)).toEqual(['Task B.'])
  expect(readStatuses(await sprint.progress())).toEqual({ work: 'completed', b: 'completed' })
})

describe('D2: completes only what the agent reports as completed', () => {
  it.each<readonly [string, Answers, error: RegExp, category: string]>([
    ['failed', { 1: { status: 'failed', summary: 'tried', error: 'boom' } }, /boom/, 'logic'],
    ['failed, without an error', { 1: { status: 'failed', summary: 'tried' } }, /tried/, 'logic'],
    ['nothing, twice', { 1: 'I did it all.', 2: 'I really did.' }, /no ```json block/, 'validation'],
    ['a broken report, twice', { '*': '```json\n{"status": "completed", \n```' }, /not JSON/, 'validation'],
    [
      'a report of another mode',
      { '*': { status: 'goal-complete', summary: 's', goalCompleteSummary: 'x' } },
      /status/,
      'validation',
    ],
    ['its own prompt', { '*': { echoes: true } }, /no ```json block/, 'validation'],
  ])('the agent says %s', async (_, answers, error, category) => {
    const sprint = await createPhasesSprint(abc, { answers })

    expect(await sprint.run()).toMatchObject({ exitCode: 1 })

    const progress = await sprint.progress()
    expect(progress).toMatchObject({ status: 'blocked', 'failed-phase': 'a', error: expect.stringMatching(error) })
    expect(readStatuses(progress)).toEqual({ a: 'blocked', b: 'pending', c: 'pending' })
    expect(progress.phases?.[0]).toMatchObject({ 'error-category': category, error: expect.stringMatching(error) })
    expect(progress.stats['completed-phases']).toBe(0)
  })

  it('the agent exits with 1', async () => {
    const sprint = await createPhasesSprint(abc, {
      answers: { '*': completedReport, 2: { stderr: 'out of cheese\n', exit: 1 } },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 1 })

    const progress = await sprint.progress()
    expect(progress).toMatchObject({
      status: 'blocked',
      'failed-phase': 'b',
      error: expect.stringContaining('out of cheese'),
    })
    expect(readStatuses(progress)).toEqual({ a: 'completed', b: 'blocked', c: 'pending' })
    expect(await sprint.calls()).toHaveLength(2)
  })

  it('and the next run retries what failed, and tells the agent about it', async () => {
    const sprint = await createPhasesSprint(abc, {
      answers: { '*': completedReport, 2: { status: 'failed', summary: 'tried', error: 'the parser is missing' } },
    })
    expect(await sprint.run()).toMatchObject({ exitCode: 1 })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect(await readTasks(sprint)).toEqual(['Task A.', 'Task B.', 'Task B.', 'Task C.'])
    expect((await sprint.calls())[2]?.prompt).toContain('the parser is missing')
    expect(await sprint.progress()).not.toHaveProperty('failed-phase')
  })

  it('but a missing report is requested once, in the same session', async () => {
    const sprint = await createPhasesSprint(abc, { answers: { '*': completedReport, 1: 'All done, trust me.' } })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const calls = await sprint.calls()
    expect(calls).toHaveLength(4)
    expect(calls[1]?.argv).toContain('--resume')
    expect(calls[1]?.prompt).toMatch(/no valid report/)
    expect(await sprint.iterations()).toMatchObject([{ attempts: 2 }, { attempts: 1 }, { attempts: 1 }])
  })
})

it('stops at a question, and passes its answer to the phase that asked', async () => {
  const question = { status: 'needs-human', summary: 's', humanNeeded: { reason: 'which database?' } }
  const sprint = await createPhasesSprint(abc, { answers: { '*': completedReport, 2: question } })

  expect(await sprint.run()).toMatchObject({ exitCode: 2 })
  expect(await sprint.progress()).toMatchObject({
    status: 'needs-human',
    'human-needed': { reason: 'which database?' },
  })
  expect(await sprint.run()).toMatchObject({ exitCode: 2 })
  expect(await sprint.calls()).toHaveLength(2)

  expect(await sprint.ralph('answer', 's', 'postgres')).toMatchObject({ exitCode: 0 })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await readTasks(sprint)).toEqual(['Task A.', 'Task B.', 'Task B.', 'Task C.'])
  expect((await sprint.calls())[2]?.prompt).toMatch(/which database\?[^]*postgres/)
})

describe('D4: a breakpoint', () => {
  it('stops after its phase, and the next run continues with the next one', async () => {
    const [a, b, c] = abc
    const sprint = await createPhasesSprint([{ ...a, break: true }, b ?? {}, c ?? {}], {
      answers: { '*': completedReport },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 4, stdout: expect.stringContaining('breakpoint') })
    expect(await sprint.progress()).toMatchObject({
      status: 'paused-at-breakpoint',
      'breakpoint-phase-id': 'a',
      current: { phase: 1 },
    })
    expect(await sprint.calls()).toHaveLength(1)

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await readTasks(sprint)).toEqual(['Task A.', 'Task B.', 'Task C.'])
    expect(await sprint.progress()).not.toHaveProperty('breakpoint-phase-id')
  })

  it('on the last phase stops before the sprint completes', async () => {
    const [a, b, c] = abc
    const sprint = await createPhasesSprint([a ?? {}, b ?? {}, { ...c, break: true }], {
      answers: { '*': completedReport },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 4 })
    expect(await sprint.progress()).toMatchObject({ status: 'paused-at-breakpoint', 'breakpoint-phase-id': 'c' })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect((await sprint.progress()).status).toBe('completed')
    expect(await sprint.calls()).toHaveLength(3)
  })
})

it('D5: a limit of iterations is resumable', async () => {
  const sprint = await createPhasesSprint(abc, { answers: { '*': completedReport } })

  expect(await sprint.run('-n', '2')).toMatchObject({ exitCode: 3 })
  expect(await sprint.calls()).toHaveLength(2)

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await readTasks(sprint)).toEqual(['Task A.', 'Task B.', 'Task C.'])
  expect((await sprint.progress()).status).toBe('completed')
})

describe('D6: SIGTERM', () => {
  it('during a call ends the agent, and the next run gives its phase another attempt', async () => {
    const sprint = await createPhasesSprint(abc, {
      answers: { '*': completedReport, 2: { run: 'sleep 600 & setsid sleep 600 & wait' } },
    })
    const run = sprint.startRun()
    await waitUntil('the programs that the agent starts', () => sprint.processes().length >= 4)
    const signalled = performance.now()
    run.signal('SIGTERM')

    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(performance.now() - signalled).toBeLessThan(5000)
    expect(sprint.processes()).toEqual([])
    expect((await sprint.progress()).status).toBe('interrupted')

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await readTasks(sprint)).toEqual(['Task A.', 'Task B.', 'Task B.', 'Task C.'])
    expect(await sprint.iterations()).toMatchObject([{ attempts: 1 }, { attempts: 2 }, { attempts: 1 }])
  })

  it('during the pause before a retry ends immediately, and the next run waits for the remaining time', async () => {
    const sprint = await createPhasesSprint(abc, {
      sprint: { retry: { maxAttempts: 2, backoffMs: [5000], retryOn: ['logic'] } },
      answers: { '*': completedReport, 1: { status: 'failed', summary: 's' } },
    })
    const began = performance.now()
    const run = sprint.startRun()
    await sprint.called(1)
    await waitUntil('the wait', async () => (await sprint.progress()).live?.[0]?.stage === 'waiting')
    run.signal('SIGTERM')

    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(performance.now() - began).toBeLessThan(5000)
    expect((await sprint.progress()).status).toBe('interrupted')

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(performance.now() - began).toBeGreaterThan(5000)
    expect(await readTasks(sprint)).toEqual(['Task A.', 'Task A.', 'Task B.', 'Task C.'])
  })

  it('between two hooks loses nothing', async () => {
    const sprint = await createPhasesSprint(abc, {
      sprint: {
        'per-iteration-hooks': [{ id: 'slow', run: 'test -f ready || { touch begun; sleep 600; }', parallel: false }],
      },
      answers: { '*': completedReport },
    })
    const run = sprint.startRun()
    await waitUntil('the hook to begin', () => sprint.has('begun'))
    run.signal('SIGTERM')
    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(sprint.processes()).toEqual([])

    await sprint.write('ready', '')
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await readTasks(sprint)).toEqual(['Task A.', 'Task B.', 'Task C.'])
  })
})

it('joins the agent that is still working after kill -9, and does no phase twice', async () => {
  const sprint = await createPhasesSprint(abc, {
    answers: { '*': completedReport, 2: { waits: 'go', report: completedReport } },
  })
  const first = sprint.startRun()
  await sprint.called(2)
  first.signal('SIGKILL')
  await first.ended

  const second = sprint.startRun()
  await waitUntil('the second run to be at work', () => second.printed().includes('resumed'))
  await sprint.release('go')

  expect(await second.ended).toMatchObject({ exitCode: 0 })
  expect(await readTasks(sprint)).toEqual(['Task A.', 'Task B.', 'Task C.'])
})

describe('retries', () => {
  it('follow the categories and pauses of the sprint, and are counted', async () => {
    const sprint = await createPhasesSprint(abc, {
      sprint: { retry: { maxAttempts: 3, backoffMs: [10, 20], retryOn: ['logic'] } },
      answers: { '*': completedReport, 1: { status: 'failed', summary: 'first' }, 2: { exit: 1 } },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect(await readTasks(sprint)).toEqual(['Task A.', 'Task A.', 'Task A.', 'Task B.', 'Task C.'])
    expect((await sprint.progress()).phases?.[0]).toMatchObject({ status: 'completed', 'retry-count': 2 })
    expect((await sprint.calls())[1]?.prompt).toMatch(/earlier attempt failed[^]*first/)
  })

  it('end after max-attempts', async () => {
    const sprint = await createPhasesSprint(abc, {
      sprint: { retry: { 'max-attempts': 2, 'backoff-ms': [10], 'retry-on': ['logic', 'validation'] } },
      answers: { '*': { status: 'failed', summary: 'no', error: 'never' } },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 1 })
    expect(await sprint.calls()).toHaveLength(2)
    expect(await sprint.progress()).toMatchObject({ status: 'blocked', error: 'never' })
  })

  it('do not happen for other categories', async () => {
    const sprint = await createPhasesSprint(abc, {
      sprint: { retry: { 'max-attempts': 5, 'backoff-ms': [10], 'retry-on': ['timeout'] } },
      answers: { '*': { status: 'failed', summary: 'no' } },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 1 })
    expect(await sprint.calls()).toHaveLength(1)
  })
})

describe('checks of done-when', () => {
  const checks = { 'done-when': [{ run: 'test -f ok', name: 'file' }] }

  it('run after the last phase, and a red one blocks until it is green', async () => {
    const sprint = await createPhasesSprint(abc, {
      sprint: { ...checks, limits: { iterations: 3 } },
      answers: { '*': completedReport },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('file') })
    const progress = await sprint.progress()
    expect(progress).toMatchObject({ status: 'blocked', error: expect.stringContaining('file: exit code 1') })
    expect(readStatuses(progress)).toEqual({ a: 'completed', b: 'completed', c: 'completed' })

    await sprint.write('ok', '')
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await sprint.calls()).toHaveLength(3)
    expect((await sprint.progress()).status).toBe('completed')
    expect(await sprint.ralph('doctor', 's')).toMatchObject({ exitCode: 0 })
  })
})

it('runs hooks after each phase, and tells them which one it was (row 149)', async () => {
  const sprint = await createPhasesSprint(abc, {
    sprint: {
      'sprint-id': 'S',
      'per-iteration-hooks': [{ id: 'h', run: 'echo "$ITERATION $PHASE_ID" >> hooked.txt', parallel: false }],
    },
    answers: { '*': completedReport },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await sprint.read('hooked.txt')).toBe('1 a\n2 b\n3 c\n')
})

it("uses the sprint's own prompts, and still asks for the report", async () => {
  const sprint = await createPhasesSprint(abc, {
    sprint: {
      'sprint-id': 'S',
      prompts: {
        header: '# {{sprint-id}} {{iteration}}',
        position: 'This is {{phase.id}}, {{phase.index}}/{{phase.total}}.',
        instructions: 'Be brief.',
        'result-reporting': 'Say how it went.',
      },
    },
    answers: { '*': completedReport },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const { prompt = '' } = (await sprint.calls())[1] ?? {}
  expect(prompt).toMatch(/^# S 2\n[^]*This is b, 2\/3\.[^]*Task B\.[^]*Be brief\.[^]*Say how it went\.[^]*"status"/)
  expect(prompt).not.toContain('## Rules')
})

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
