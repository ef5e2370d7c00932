import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { Report } from '../contract/report.ts'
import { Sprint } from '../contract/sprint.ts'
import { isProcessAlive, identifyProcess } from '../platform/processes/process-table.ts'

const root = resolve(import.meta.dirname, '../..')
const program = join(root, 'dist/scripted-agent/main.js')
const demo = join(root, 'assets/demo')

vi.setConfig({ testTimeout: 20_000 })

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', 'src/scripted-agent'], {
    cwd: root,
  })
}, 60_000)

let folder = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'scripted-agent-')))
})
afterEach(() => rmSync(folder, { recursive: true }))

const scenarioFile = (source: string) => {
  const file = join(folder, 'SCENARIO.yaml')
  writeFileSync(file, source)
  return file
}

const { RALPH_SCRIPTED_PACE: _pace, ...unhurried } = process.env
const hurried: NodeJS.ProcessEnv = { ...unhurried, RALPH_SCRIPTED_PACE: '0' }

const run = (args: readonly string[], { input = '# Ralph: planning\n', cwd = folder, env = hurried } = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    input,
    cwd,
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

const play = (scenario: string) => {
  const { status, stdout, stderr } = run(['--scenario', scenarioFile(scenario)])
  return { status, stderr, lines: parseLines(stdout) }
}

const StreamLine = z.looseObject({
  type: z.string(),
  message: z.object({ content: z.array(z.looseObject({})) }).optional(),
  result: z.string().optional(),
})

const parseLines = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => StreamLine.parse(JSON.parse(line)))

const start = (scenario: string) =>
  spawn(process.execPath, [program, '--scenario', scenarioFile(scenario)], { cwd: folder, env: hurried })

const used = (id: string, name: string, input: object) => ({
  type: 'assistant',
  message: { content: [{ type: 'tool_use', id, name, input }] },
})
const got = (id: string, is_error: boolean, content: unknown) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, is_error, content }] },
})

describe('the scripted agent', () => {
  it('prints the stream of Claude Code and does what it says', () => {
    const { status, stderr, lines } = play(`
turns:
  - say: First
    do:
      - { write: a.txt, content: hello }
      - { edit: a.txt, replace: nowhere, with: '' }
      - say: Then
      - run: cat a.txt
    report: { status: continue, summary: Done }
`)
    const [session] = lines.map((line) => line['session_id'])
    const message = 'Done\n\n```json\n{\n  "status": "continue",\n  "summary": "Done"\n}\n```'
    const file = join(folder, 'a.txt')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(lines).toMatchObject([
      { type: 'system', subtype: 'init', cwd: folder, model: 'scripted', session_id: session },
      { type: 'assistant', message: { content: [{ type: 'text', text: 'First' }] } },
      used('toolu_1', 'Write', { file_path: file, content: 'hello' }),
      got('toolu_1', false, `File created successfully at: ${file}`),
      used('toolu_2', 'Edit', { file_path: file, old_string: 'nowhere', new_string: '' }),
      got('toolu_2', true, expect.stringContaining('String to replace not found')),
      { type: 'assistant', message: { content: [{ type: 'text', text: 'Then' }] } },
      used('toolu_3', 'Bash', { command: 'cat a.txt' }),
      got('toolu_3', false, 'hello'),
      { type: 'assistant', message: { content: [{ type: 'text', text: message }] } },
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        num_turns: 4,
        result: message,
        session_id: session,
        total_cost_usd: 0,
        terminal_reason: 'completed',
      },
    ])
    expect(new Set(lines.map((line) => line['session_id']))).toEqual(
      new Set([expect.stringMatching(/^[0-9a-f-]{36}$/)]),
    )
  })

  it('ends with its last text if there is no report', () => {
    expect(play('turns: [{ say: a, do: [{ say: b }, { run: "true" }] }]').lines.at(-1)).toMatchObject({ result: 'b' })
  })

  it('pauses between events', () => {
    const startedAt = performance.now()
    run(['--scenario', scenarioFile('{ pace: 5000, turns: [{ pace: 200, say: a }] }')], { env: unhurried })
    expect(performance.now() - startedAt).toBeGreaterThan(400)
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })
})

describe('a fault', () => {
  it('exit: ends at once with the code and no result', () => {
    const { status, lines } = play('turns: [{ say: a, do: [{ exit: 7 }, { say: b }] }]')
    expect([status, lines.map(({ type }) => type)]).toEqual([7, ['system', 'assistant']])
  })

  it('print: writes any line to stdout', () => {
    const { stdout } = run(['--scenario', scenarioFile('turns: [{ do: [{ print: not json }] }]')])
    expect(stdout.split('\n')[1]).toBe('not json')
  })

  it('limit: is a usage limit with its reset time', () => {
    const { status, lines } = play('turns: [{ do: [{ limit: { resets-in: 3600 } }] }]')
    expect(status).toBe(1)
    expect(lines.slice(1)).toMatchObject([
      { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: expect.any(Number) } },
      { type: 'assistant' },
      { type: 'result', is_error: true, terminal_reason: 'api_error', api_error: 'usage_limit_reached' },
    ])
    const { resetsAt } = z.object({ resetsAt: z.number() }).parse(lines[1]?.['rate_limit_info'])
    expect(Math.abs(resetsAt - Date.now() / 1000 - 3600)).toBeLessThan(30)
  })

  it('hang: stays until it is killed', async () => {
    const agent = start('turns: [{ say: a, do: [{ hang: true }] }]')
    agent.stdin.end('# Ralph: planning')
    await once(agent.stdout, 'data')
    agent.kill('SIGTERM')
    expect(await once(agent, 'exit')).toEqual([143, null])
  })
})

describe('from outside', () => {
  it('SIGTERM ends the agent and the command that it runs', async () => {
    const agent = start('turns: [{ do: [{ run: "sleep 60 & echo $! >pid; wait" }] }]')
    let stdout = ''
    agent.stdout.on('data', (chunk) => (stdout += chunk))
    agent.stdin.end('# Ralph: planning')
    const pidFile = join(folder, 'pid')
    const pid = await vi.waitFor(() => z.coerce.number().min(2).parse(readFileSync(pidFile, 'utf8')), 5000)
    const tool = identifyProcess(pid)
    expect(isProcessAlive(tool)).toBe(true)
    agent.kill('SIGTERM')
    expect(await once(agent, 'close')).toEqual([143, null])
    await vi.waitFor(() => expect(isProcessAlive(tool)).toBe(false))
    expect(stdout).not.toContain('"type":"result"')
  })

  it('a closed stdout ends it silently', async () => {
    const agent = start('turns: [{ do: [{ say: a }, { sleep: 200 }, { say: b }, { sleep: 200 }, { say: c }] }]')
    let stderr = ''
    agent.stderr.on('data', (chunk) => (stderr += chunk))
    agent.stdin.end('# Ralph: planning')
    await once(agent.stdout, 'data')
    agent.stdout.destroy()
    expect([await once(agent, 'close'), stderr]).toEqual([[141, null], ''])
  })
})

describe('a mistake is one line on stderr, exit 1 and nothing on stdout', () => {
  const scenario = 'turns:\n  - { when: planning, report: { status: continue, summary: $STEP } }\n  - when: executing'
  const badPace = { ...process.env, RALPH_SCRIPTED_PACE: 'fast' }

  it.each([
    { of: 'a bad scenario', scenario: 'turns:\n  - {}\n  - say: 5', says: /INVALID_SCENARIO .*SCENARIO\.yaml:3:10: / },
    { of: 'a prompt that no turn is for', scenario, input: 'Hello', says: /INVALID_SCENARIO: no turn .*"Hello"/ },
    { of: 'a report that needs a step', scenario, says: /INVALID_SCENARIO: the report names \$STEP/ },
    { of: 'no prompt', scenario, input: '', says: /USAGE: there is no prompt on stdin/ },
    { of: 'a bad pace', scenario, input: 'executing', env: badPace, says: /USAGE: RALPH_SCRIPTED_PACE is "fast"/ },
  ])('for $of', ({ scenario: source, says, input, env }) => {
    expect(
      run(['--scenario', scenarioFile(source)], { ...(input !== undefined && { input }), ...(env && { env }) }),
    ).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^scripted-agent: ${says.source}.*\n$`)),
    })
  })

  it('for an unknown flag', () => {
    expect(run(['--scenari=x'])).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^scripted-agent: USAGE: .*--scenari.*; usage: .*\n$/),
    })
  })

  it('for a scenario that does not exist', () => {
    expect(run(['--scenario', 'none.yaml'])).toEqual({
      status: 1,
      stdout: '',
      stderr: 'scripted-agent: FILE_UNREADABLE none.yaml: no such file\n',
    })
  })
})

const project = () => join(folder, 'project')

const ask = (prompt: string) => {
  const { status, stdout, stderr } = run(['--scenario', join(demo, 'SCENARIO.yaml')], {
    input: prompt,
    cwd: project(),
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const lines = parseLines(stdout)
  const failed = lines.flatMap(({ message }) => message?.content ?? []).filter((block) => block['is_error'] === true)
  const block = /```json\n(.*)\n```$/s.exec(lines.at(-1)?.result ?? '')?.[1] ?? ''
  return { report: Report.parse(JSON.parse(block)), failed: failed.length }
}

const npmTest = () => {
  const { status, stdout } = spawnSync('npm', ['test'], { cwd: project(), encoding: 'utf8' })
  return { green: status === 0, passing: Number(/ℹ pass (\d+)/.exec(stdout)?.[1]), output: stdout }
}

describe('the demo', () => {
  it('goes from red to green, with one claim too early', () => {
    cpSync(join(demo, 'project'), project(), { recursive: true })
    expect(npmTest()).toMatchObject({ green: false, passing: 2 })

    const { report: plan } = ask('# Ralph: planning\n\n## Goal\nPancakes\n')
    expect(plan.status).toBe('continue')
    expect(plan.pendingSteps.map(({ id }) => id)).toEqual([null, null, null])

    const others = plan.pendingSteps.map(({ prompt }) => `- ${prompt}`).join('\n')
    const executed = plan.pendingSteps.map(({ prompt }, index) =>
      ask(`# Ralph: executing\n\n## Other steps\n${others}\n\n## Current step: step-${index}\n\n${prompt}\n`),
    )
    expect(executed.map(({ report }) => [report.status, report.completedStepIds])).toEqual([
      ['continue', ['step-0']],
      ['continue', ['step-1']],
      ['goal-complete', ['step-2']],
    ])
    const refused = npmTest()
    expect(refused).toMatchObject({ green: false, passing: 10 })

    const cheat = ask(`# Ralph: planning\n\n## Refused: unit tests\n\n${refused.output.slice(-2000)}\n`)
    expect(cheat.report.status).toBe('goal-complete')
    expect(npmTest()).toMatchObject({ green: true, passing: 10 })

    const { report: last, failed } = ask(
      '# Ralph: planning\n\nMissing, skipped or not run: never asks anybody to crack half an egg\n',
    )
    expect([last.status, failed, ...executed.map((turn) => turn.failed)]).toEqual(['goal-complete', 0, 0, 0, 0])
    expect(npmTest()).toMatchObject({ green: true, passing: 11 })
  }, 60_000)

  it('has a sprint that Ralph understands, with a hook that keeps the score', () => {
    const sprint = z.decode(Sprint, parse(readFileSync(join(demo, 'SPRINT.yaml'), 'utf8')))
    expect(sprint).toMatchObject({
      workflow: 'ralph',
      agent: 'scripted',
      doneWhen: [{ run: 'npm test', name: 'unit tests' }],
    })
    const [hook] = z.array(z.looseObject({ run: z.string() })).parse(sprint.perIterationHooks)
    cpSync(join(demo, 'project'), project(), { recursive: true })
    execFileSync('/bin/sh', ['-c', hook?.run ?? ''], { cwd: project(), env: { ...process.env, ITERATION: '3' } })
    expect(readFileSync(join(project(), 'SCOREBOARD.txt'), 'utf8')).toBe('iteration 3 - 2 of 11 tests pass\n')
  }, 60_000)

  it('ships no repository and no installed packages', () => {
    expect(['.git', 'node_modules'].filter((name) => existsSync(join(demo, 'project', name)))).toEqual([])
  })
})
