import { expect, it } from 'vitest'
import { buildHook, buildProgress, buildReport } from '../../test/support/builders.ts'
import { buildOutcome, createWorld, type PlayResult } from '../../test/support/virtual.ts'
import type { Hook } from '../contract/settings.ts'
import type { ShellRequest } from './ports.ts'

const usage = { inputTokens: 7, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 }

/** One iteration that reaches the goal, and its hooks. */
async function run(hooks: readonly Partial<Hook>[], played: PlayResult = {}, limits = {}) {
  const { agent = () => buildOutcome() } = played
  const claim = buildOutcome({
    text: `\`\`\`json\n${JSON.stringify(buildReport({ status: 'goal-complete' }))}\n\`\`\``,
  })
  const world = createWorld({
    ...played,
    agent: (start, request, name) => (start === 1 ? claim : agent(start, request, name)),
  })
  const perIterationHooks = hooks.map((hook, n) => {
    const { run: _command, ...base } = buildHook({ id: `hook-${n}` })
    return { ...base, ...hook }
  })
  const ended = await world.run(buildProgress({ perIterationHooks, limits })).done
  return { ended, starts: world.starts }
}

it('a prompt has its variables filled in, and the path of the transcript is absolute', async () => {
  const { starts } = await run([{ prompt: '$ITERATION of $SPRINT_ID: $ITERATION_TRANSCRIPT' }])

  expect(starts[1]?.request).toMatchObject({
    attempt: '1-hook-hook-0',
    transcript: 'iter-1-hook-0.jsonl',
    prompt: '1 of 2026-01-18_sprint: /sprint/transcripts/iteration-1.jsonl',
  })
})

it('plugin:command becomes a slash command with the path of the transcript', async () => {
  const { starts } = await run([{ workflow: 'signs:extract' }])

  expect(starts[1]?.request.prompt).toBe('/signs:extract /sprint/transcripts/iteration-1.jsonl')
})

it('a command has the same variables in its environment', async () => {
  const requests: ShellRequest[] = []
  const shell = (request: ShellRequest) => {
    requests.push(request)
    return {}
  }
  await run([{ run: 'npm run lint', timeout: 5000 }], { shell })

  expect(requests).toMatchObject([
    {
      command: 'npm run lint',
      timeoutMs: 5000,
      env: {
        ITEM_ID: '',
        ITERATION: '1',
        ITERATION_TRANSCRIPT: '/sprint/transcripts/iteration-1.jsonl',
        PHASE_ID: 'planning',
        SPRINT_ID: '2026-01-18_sprint',
      },
    },
  ])
})

it('the cost of a prompt counts', async () => {
  const { ended } = await run([{ prompt: 'learn' }], { agent: () => buildOutcome({ usage, costUsd: 0.25 }) })

  expect(ended.stats).toMatchObject({ costUsd: 0.25, usage })
  expect(ended.hookTasks).toMatchObject([{ status: 'completed', costUsd: 0.25 }])
})

it('a prompt gets the remaining budget of the sprint, and does not start without any', async () => {
  const agent = () => buildOutcome({ costUsd: 2 })
  const { ended, starts } = await run([{ prompt: 'one' }, { prompt: 'two' }, { run: 'true' }], { agent }, { usd: 1.5 })

  expect(starts.map(({ request }) => [request.prompt.slice(0, 3), request.budget])).toEqual([
    ['# R', { usd: 1.5 }],
    ['one', { usd: 1.5 }],
  ])
  expect(ended.hookTasks).toMatchObject([
    { hookId: 'hook-0', status: 'completed' },
    { hookId: 'hook-1', status: 'failed', error: 'not started: $2.00 of $1.50 spent (limits.usd)' },
    { hookId: 'hook-2', status: 'completed' },
  ])
})

it.each([
  ['a prompt', { prompt: 'x' }],
  ['a command', { run: 'x' }],
])('%s that cannot start fails, and nothing else does', async (_, hook) => {
  const { ended } = await run([hook], {
    agent: () => Promise.reject(new Error('spawn EAGAIN')),
    shell: () => Promise.reject(new Error('spawn EAGAIN')),
  })

  expect(ended).toMatchObject({
    status: 'completed',
    hookTasks: [{ status: 'failed', exitCode: null, error: 'could not start: spawn EAGAIN' }],
  })
})
