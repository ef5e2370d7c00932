import { basename } from 'node:path'
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { completedReport, readStatuses, readTasks, createPhasesSprint } from '../support/phases-sprint.ts'
import { waitUntil, type Call, type TestSprint } from '../support/sprint.ts'

const items = { id: 'work', 'for-each': 'job', parallel: true }
const parallelWarning = /^(wf.*warning PARALLEL_FOREACH_WARNING.*\n)?$/

it('works on two items at the same time, and keeps both in one checkpoint', async () => {
  const sprint = await createPhasesSprint([items], {
    sprint: { collections: { job: [{ prompt: 'Job one.' }, { prompt: 'Job two.' }] } },
    files: { 'keep.txt': '' },
    answers: {
      '/Job one\\./': {
        run: 'echo 1 > one.txt; date +%s%N > one.start; sleep 1; date +%s%N > one.end',
        report: completedReport,
      },
      '/Job two\\./': {
        run: 'echo 2 > two.txt; date +%s%N > two.start; sleep 1; date +%s%N > two.end',
        report: completedReport,
      },
    },
  })
  git(sprint, 'init', '--quiet')

  expect(await sprint.run()).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(parallelWarning) })

  const [oneStart, oneEnd, twoStart, twoEnd] = await Promise.all(
    ['one.start', 'one.end', 'two.start', 'two.end'].map(async (name) => BigInt((await sprint.read(name)).trim())),
  )
  expect(oneStart! < twoEnd! && twoStart! < oneEnd!).toBe(true)
  const { iterations = [] } = await sprint.progress()
  expect(iterations.filter(({ checkpoint }) => checkpoint)).toHaveLength(1)
  expect(git(sprint, 'ls-tree', '--name-only', `refs/ralph/${basename(sprint.state())}/last`)).toMatch(
    /one\.txt[^]*two\.txt/,
  )
})

it('runs no more items than max-concurrency allows', async () => {
  const jobs = Array.from({ length: 6 }, (_, number) => ({ prompt: `Job ${number}.` }))
  const sprint = await createPhasesSprint([{ id: 'work', 'for-each': 'job' }], {
    sprint: { collections: { job: jobs }, 'parallel-execution': { enabled: true, 'max-concurrency': 2 } },
    answers: { '*': { sleep: 0.3, report: completedReport } },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const calls = await sprint.calls()
  expect(calls).toHaveLength(6)
  expect(maxConcurrent(calls)).toBe(2)
})

it('D7: skips what depends on a failed item, does the others, and does not complete the phase', async () => {
  const item = {
    name: 'I',
    phases: [
      { id: 'one', prompt: '{{item.id}} one' },
      { id: 'two', prompt: '{{item.id}} two' },
    ],
  }
  const sprint = await createPhasesSprint(
    [
      { ...items, workflow: 'item' },
      { id: 'after', prompt: 'After.' },
    ],
    {
      sprint: {
        collections: {
          job: [
            { id: 'x', prompt: 'x' },
            { id: 'y', prompt: 'y', 'depends-on': ['x'] },
            { id: 'z', prompt: 'z' },
          ],
        },
      },
      files: { 'wf/item.yaml': JSON.stringify(item) },
      answers: { '*': completedReport, '/x one/': { status: 'failed', summary: 's', error: 'boom' } },
    },
  )

  expect(await sprint.run()).toMatchObject({ exitCode: 1 })

  const progress = await sprint.progress()
  expect(progress).toMatchObject({ status: 'blocked', 'failed-phase': 'work', error: expect.stringContaining('boom') })
  expect(readStatuses(progress)).toEqual({ work: 'blocked', after: 'pending' })
  expect(progress.phases?.[0]?.steps?.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'x failed',
    'y skipped',
    'z completed',
  ])
  expect((await readTasks(sprint)).toSorted()).toEqual(['x one', 'z one', 'z two'])
  expect(progress.stats).toMatchObject({ 'completed-steps': 1, 'completed-phases': 2 })

  await sprint.answer({ '*': completedReport })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect((await readTasks(sprint)).slice(3)).toEqual(['x one', 'x two', 'y one', 'y two', 'After.'])
  expect(await sprint.ralph('doctor', 's')).toMatchObject({ exitCode: 0 })
})

it.each([
  ['fail-phase', ['x failed', 'y pending', 'z pending']],
  ['continue', ['x failed', 'y completed', 'z completed']],
])('D7: with %s the other items are %j', async (policy, expected) => {
  const sprint = await createPhasesSprint([{ id: 'work', 'for-each': 'job' }], {
    sprint: {
      collections: {
        job: [
          { id: 'x', prompt: 'Job x.' },
          { id: 'y', prompt: 'Job y.', 'depends-on': ['x'] },
          { id: 'z', prompt: 'Job z.' },
        ],
      },
      'parallel-execution': { enabled: true, 'max-concurrency': 1, 'on-dependency-failure': policy },
    },
    answers: { '*': completedReport, 1: { status: 'failed', summary: 's', error: 'boom' } },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 1 })

  const progress = await sprint.progress()
  expect(progress.status).toBe('blocked')
  expect(progress.phases?.[0]?.steps?.map(({ id, status }) => `${id} ${status}`)).toEqual(expected)
})

it('blocks only what depends on a parallel phase', async () => {
  const sprint = await createPhasesSprint(
    [
      { id: 'slow', prompt: 'Slow.', parallel: true },
      { id: 'quick', prompt: 'Quick.' },
      { id: 'next', prompt: 'Next.' },
      { id: 'last', prompt: 'Last.', 'wait-for-parallel': true },
    ],
    { answers: { '*': completedReport, '/Slow\\./': { waits: 'go', report: completedReport } } },
  )
  const run = sprint.startRun()
  await sprint.called(3)
  await waitUntil(
    'the third phase to be over',
    async () => readStatuses(await sprint.progress())['next'] === 'completed',
  )
  expect(readStatuses(await sprint.progress())).toMatchObject({ slow: 'in-progress', last: 'pending' })
  await sprint.release('go')

  expect(await run.ended).toMatchObject({ exitCode: 0 })
  expect((await readTasks(sprint)).at(-1)).toBe('Last.')
})

it('kill -9 with two running agents: both are joined, nothing is done twice', async () => {
  const sprint = await createPhasesSprint([items], {
    sprint: {
      collections: {
        job: [{ prompt: 'Job one.' }, { prompt: 'Job two.' }, { prompt: 'Job three.', 'depends-on': ['job-0'] }],
      },
    },
    answers: { '*': completedReport, '/Job (one|two)\\./': { waits: 'go', report: completedReport } },
  })
  const first = sprint.startRun()
  await sprint.called(2)
  first.signal('SIGKILL')
  await first.ended

  const second = sprint.startRun()
  await waitUntil('the second run to be at work', () => second.printed().includes('resumed'))
  await sprint.release('go')

  expect(await second.ended).toMatchObject({ exitCode: 0 })
  expect((await readTasks(sprint)).toSorted()).toEqual(['Job one.', 'Job three.', 'Job two.'])
  expect(await sprint.ralph('doctor', 's')).toMatchObject({ exitCode: 0 })
})

it('SIGINT lets everything running finish, then pauses', async () => {
  const sprint = await createPhasesSprint([items, { id: 'after', prompt: 'After.' }], {
    sprint: { collections: { job: [{ prompt: 'Job one.' }, { prompt: 'Job two.' }] } },
    answers: {
      '*': completedReport,
      '/Job one/': { waits: 'one', report: completedReport },
      '/Job two/': { waits: 'two', report: completedReport },
    },
  })
  const run = sprint.startRun()
  await sprint.called(2)
  run.signal('SIGINT')
  await sprint.release('one')
  await waitUntil('the first to be over', async () => (await sprint.progress()).stats['completed-steps'] === 1)
  expect((await sprint.progress()).status).toBe('in-progress')
  await sprint.release('two')

  expect(await run.ended).toMatchObject({ exitCode: 0 })
  expect(await sprint.progress()).toMatchObject({ status: 'paused', stats: { 'completed-steps': 2 } })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect(await sprint.calls()).toHaveLength(3)
})

function maxConcurrent(calls: readonly Call[]): number {
  const moments = calls.flatMap(({ startedAt, endedAt = Infinity }) => [
    { at: startedAt, change: 1 },
    { at: endedAt, change: -1 },
  ])
  let now = 0
  let most = 0
  for (const { change } of moments.toSorted((a, b) => a.at - b.at || a.change - b.change)) {
    now += change
    most = Math.max(most, now)
  }
  return most
}

const git = (sprint: TestSprint, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], {
    cwd: sprint.at(),
    encoding: 'utf8',
  })
