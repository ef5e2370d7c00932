import { describe, expect, it } from 'vitest'
import { buildCheck, buildProgress, buildReport } from '../../test/support/builders.ts'
import { buildOutcome, createWorld, type PlayResult } from '../../test/support/virtual.ts'
import type { Progress } from '../contract/progress.ts'

const claim = buildOutcome({ text: `\`\`\`json\n${JSON.stringify(buildReport({ status: 'goal-complete' }))}\n\`\`\`` })

/** A project as a map of files to texts; the agent changes them and claims that it is done. */
function createTestProject(files: Record<string, string>, agent: (files: Record<string, string>) => void) {
  const kept: Record<string, string> = {}
  const projectFiles = {
    isFile: (name: string) => name in files,
    hash: async (name: string) => files[name] ?? 'missing',
    store: async (name: string) => (kept[name] = files[name] ?? ''),
    restore: async (name: string) => void (files[name] = kept[name] ?? ''),
  }
  const played: PlayResult = {
    agent: () => {
      agent(files)
      return claim
    },
    ports: { projectFiles },
  }
  return { files, projectFiles, played }
}

async function run(progress: Progress, played: PlayResult) {
  const { baseline: _unknown, ...unmeasured } = progress
  const world = createWorld(played)
  return { ended: await world.run(unmeasured).done, events: world.events }
}

const sprint = (overrides: Parameters<typeof buildCheck>[0]) =>
  buildProgress({ doneWhen: [buildCheck({ run: 'npm test', ...overrides })], limits: { iterations: 1 } })

describe('a file that defines a check', () => {
  const weaken = (files: Record<string, string>) => void (files['package.json'] = 'test: true')

  it('is recorded at the start; a change is reported and has no other effect', async () => {
    const { played, files } = createTestProject({ 'package.json': 'test: vitest' }, weaken)
    const { ended, events } = await run(sprint({}), played)

    expect(ended).toMatchObject({
      status: 'completed',
      checkFiles: [{ file: 'package.json', hash: 'test: vitest' }],
      iterations: [{ verdict: 'accepted', tampered: ['package.json'] }],
    })
    expect(files['package.json']).toBe('test: true')
    expect(events).toContainEqual({
      type: 'note',
      level: 'warning',
      text: 'the agent changed files that define the checks: package.json',
    })
  })

  it('is restored before a protected check', async () => {
    const { played, files } = createTestProject({ 'package.json': 'test: vitest' }, weaken)
    const seen: (string | undefined)[] = []
    const shell = () => {
      seen.push(files['package.json'])
      return {}
    }
    const { ended } = await run(sprint({ protect: true }), { ...played, shell })

    expect(seen).toEqual(['test: vitest', 'test: vitest'])
    expect(ended.iterations).toMatchObject([{ tampered: ['package.json'] }])
  })

  it('fails a protected check if it cannot be restored', async () => {
    const { played, projectFiles } = createTestProject({ 'package.json': 'test: vitest' }, weaken)
    const putBack = () => Promise.reject(new Error('EISDIR'))
    const { ended, events } = await run(sprint({ protect: true }), {
      ...played,
      ports: { projectFiles: { ...projectFiles, restore: putBack } },
    })

    expect(ended).toMatchObject({ status: 'limit-reached', iterations: [{ verdict: 'refused' }] })
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'claim-refused',
        reason: 'npm test: package.json could not be restored: EISDIR',
      }),
    )
  })

  it('is reported if it is new, and left in place', async () => {
    const { played, files } = createTestProject({ 'package.json': 'test: vitest' }, (project) => {
      project['vitest.config.ts'] = 'exclude: everything'
    })
    const { ended } = await run(sprint({ protect: true }), played)

    expect(ended.iterations).toMatchObject([{ tampered: ['vitest.config.ts (new)'] }])
    expect(files).toHaveProperty(['vitest.config.ts'])
  })

  it('is not reported if nothing changed', async () => {
    const { played } = createTestProject({ 'package.json': 'test: vitest' }, () => {})
    const { ended } = await run(sprint({}), played)

    expect(ended.iterations[0]).not.toHaveProperty('tampered')
  })
})

describe('a check', () => {
  it('that ran no test fails, although it exited with 0', async () => {
    const shell = () => ({ exitCode: 0, output: '# tests 0\n# pass 0\n' })
    const { ended, events } = await run(sprint({}), { agent: () => claim, shell })

    expect(ended).toMatchObject({ status: 'limit-reached', iterations: [{ verdict: 'refused' }] })
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'claim-refused', reason: 'npm test: it ran no test' }),
    )
  })

  it('that cannot start fails, and the run continues', async () => {
    const shell = () => Promise.reject(new Error('spawn E2BIG'))
    const { ended, events } = await run(sprint({}), { agent: () => claim, shell })

    expect(ended).toMatchObject({
      status: 'limit-reached',
      baseline: [{ name: 'npm test', passed: false }],
      iterations: [{ verdict: 'refused' }],
    })
    expect(events).toContainEqual(expect.objectContaining({ reason: 'npm test: could not start: spawn E2BIG' }))
  })

  it('fails if it was ended, whatever its exit code', async () => {
    const shell = () => ({ exitCode: 0, error: 'timed out after 600 s' })
    const { ended } = await run(sprint({}), { agent: () => claim, shell })

    expect(ended.iterations).toMatchObject([{ verdict: 'refused', checks: [{ passed: false }] }])
  })
})

describe('a reviewer', () => {
  const reviewed = buildProgress({ review: { agent: 'codex', model: 'o3' }, limits: { iterations: 1 } })
  const verdict = (value: string) => `\`\`\`json\n{"verdict": "${value}", "summary": "I looked"}\n\`\`\``

  it('is another agent that gets the goal and the claim; the receipt has its verdict and cost', async () => {
    const agent: PlayResult['agent'] = (_, __, name) =>
      name === 'codex' ? buildOutcome({ text: verdict('pass'), costUsd: 0.5 }) : claim
    const world = createWorld({ agent })
    const ended = await world.run(reviewed).done

    expect(world.starts.map((start) => start.agent)).toEqual(['claude', 'codex'])
    expect(world.starts[1]?.request.prompt).toContain('all done')
    expect(ended.iterations).toMatchObject([
      { verdict: 'accepted', review: { passed: true, summary: 'I looked' }, costUsd: 0.5 },
    ])
  })

  it('that cannot start opens a question for the user', async () => {
    const agent: PlayResult['agent'] = (_, __, name) => {
      if (name === 'codex') throw new Error('codex is not on PATH')
      return claim
    }

    expect(await createWorld({ agent }).run(reviewed).done).toMatchObject({
      status: 'needs-human',
      humanNeeded: { details: expect.stringContaining('codex is not on PATH') },
    })
  })
})
