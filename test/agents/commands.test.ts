import { once } from 'node:events'
import { existsSync, createWriteStream, readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../support/paths.ts'
import { commandLines, isRunning } from '../support/processes.ts'
import { createTestSprint, type TestSprint, waitUntil } from '../support/sprint.ts'

const recorded = (name: string) => join(root, 'test/fixtures/transcripts', name)
const final = 'All done.\n\n```json\n{\n  "status": "goal-complete",\n  "summary": "Wrote hello.txt and checked it",\n'

describe('ralph transcript', () => {
  it('prints the outcome of a recorded stream as JSON', async () => {
    const { ralph } = await createTestSprint()
    const { exitCode, stdout } = await ralph('transcript', recorded('claude/tool.jsonl'), '--agent', 'claude', '--json')

    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      status: 'ok',
      class: null,
      retryable: false,
      resetsAt: null,
      sessionId: 'e00434ba-2980-41b7-9747-4bbca1a8ed42',
      usage: { inputTokens: 3900, outputTokens: 128, cacheReadTokens: 2800, cacheWriteTokens: 0 },
      costUsd: 0.01872,
      text: expect.stringContaining(final),
    })
  })

  it('reads the output of any agent, with the way in which it ended', async () => {
    const { ralph } = await createTestSprint()
    const streams = [
      ['claude', 'limitoauth', '1', { status: 'failed', class: 'usage_limit', resetsAt: '2026-11-15T20:49:04.000Z' }],
      ['claude', 'SIGKILL-tool', 'SIGKILL', { status: 'failed', class: 'crash', retryable: true, resetsAt: null }],
      ['codex', 'tool', '0', { status: 'ok', class: null, costUsd: null, text: expect.stringContaining(final) }],
      ['codex', 'SIGTERM-tool', 'TERM', { status: 'failed', class: 'crash' }],
      ['gemini', 'r401', '145', { status: 'failed', class: 'auth', retryable: false }],
      ['opencode', 'tool', '0', { status: 'ok', text: expect.stringContaining(final) }],
      ['acp', 'claude-tool', '0', { status: 'ok', text: expect.stringContaining(final) }],
    ] as const
    const read = streams.map(async ([agent, name, exit]) => {
      const file = recorded(`${agent}/${name}.jsonl`)
      const { stdout } = await ralph('transcript', file, '--agent', agent, '--exit', exit, '--json')
      return { name, outcome: JSON.parse(stdout) }
    })

    expect(await Promise.all(read)).toMatchObject(streams.map(([, name, , outcome]) => ({ name, outcome })))
  })

  it('shows readable turns, and detects which agent printed them', async () => {
    const { ralph } = await createTestSprint()
    const { stdout } = await ralph('transcript', recorded('codex/tool.jsonl'))

    expect(stdout).toContain('> file_change')
    expect(stdout).toMatch(/> command_execution .*\n[\s\S]* \. done\n[\s\S]*All done\./)
    expect(stdout).toMatch(/\noutcome: ok\ntokens: .*unpriced\n$/)
  })

  it('takes the exit code and stderr from the folder of an attempt', async () => {
    const sprint = await createTestSprint({ answers: { 1: { stderr: 'segmentation fault\n', exit: 3 } } })
    const run = sprint.startRun()
    await waitUntil('its end', () => existsSync(sprint.state('attempts/1-1/exit')))
    run.signal('SIGTERM')
    await run.ended

    const { stdout } = await sprint.ralph('transcript', 's/transcripts/iteration-1.jsonl', '--agent', 'claude')
    expect(stdout).toMatch(/^reason: .*exit code 3 and without a result: segmentation fault$/m)
  })

  it('reads a stream that is bigger than its memory', async () => {
    const sprint = await createTestSprint({ env: { NODE_OPTIONS: '--max-old-space-size=64' } })
    const lines = readFileSync(recorded('claude/tool.jsonl'), 'utf8')
    const text = JSON.stringify({
      type: 'assistant',
      message: {
        id: 'm',
        content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'x'.repeat(8000) } }],
      },
    })
    const result = JSON.stringify({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'y'.repeat(8000) }] },
    })
    const file = createWriteStream(sprint.at('big.jsonl'))
    const chunk = `${text}\n${result}\n`.repeat(1000)
    for (let megabytes = 0; megabytes < 120; megabytes += 16) if (!file.write(chunk)) await once(file, 'drain')
    file.end(lines)
    await once(file, 'finish')

    const json = await sprint.ralph('transcript', 'big.jsonl', '--agent', 'claude', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'ok' })
    const shown = await sprint.ralph('transcript', 'big.jsonl', '--agent', 'claude')
    expect(shown.stdout).toMatch(/outcome: ok\n.*\n$/)
  })

  it('rejects invalid calls with the reason', async () => {
    const { ralph } = await createTestSprint()

    expect(
      await refusals(ralph, [
        ['transcript', 'nothing.jsonl'],
        ['transcript', 's'],
        ['transcript', 's/SPRINT.yaml', '--agent', 'cluade'],
        ['transcript', 's/SPRINT.yaml', '--exit', '256'],
        ['transcript', 's/SPRINT.yaml', '--exit', 'SIGTREM'],
        ['transcript'],
      ]),
    ).toEqual([
      expect.stringContaining('nothing.jsonl  error FILE_NOT_FOUND'),
      expect.stringContaining('s  error FILE_UNREADABLE'),
      expect.stringContaining('did you mean "claude"?'),
      expect.stringContaining('error USAGE  --exit expects an exit code'),
      expect.stringContaining('did you mean SIGTERM?'),
      expect.stringContaining('missing <file>'),
    ])
  })
})

describe('ralph agents', () => {
  /** Only these programs are on PATH; each prints a version and is not logged in. */
  async function createMachine(versions: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
    const script = (version: string) => `#!/bin/sh\ntest "$1" = --version && echo "${version}"\n`
    const files = Object.entries(versions).map(([name, version]) => [`../only/${name}`, script(version)] as const)
    const sprint = await createTestSprint({ env: { PATH: '../only', ...env }, files: Object.fromEntries(files) })
    for (const [file] of files) await chmod(sprint.at(file), 0o755)
    return sprint
  }

  it('shows for each agent whether it is installed, its version, whether that was tested, and its login', async () => {
    const machine = await createMachine({ claude: '2.1.325 (Claude Code)', codex: 'codex-cli 9.9.9', gemini: '0.61.0' })
    const { exitCode, stdout } = await machine.ralph('agents', '--json')

    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual([
      {
        name: 'claude',
        program: 'claude',
        way: 'headless',
        installed: true,
        path: '../only/claude',
        version: '2.1.325',
        tested: true,
        testedVersions: { from: '2.1.0', below: '2.2.0' },
        login: 'no',
      },
      expect.objectContaining({ name: 'codex', version: '9.9.9', tested: false, login: 'no' }),
      expect.objectContaining({ name: 'gemini', version: '0.61.0', tested: true, login: 'unknown' }),
      {
        name: 'opencode',
        program: 'opencode',
        way: 'headless',
        installed: false,
        path: null,
        version: null,
        tested: null,
        testedVersions: { from: '1.18.0', below: '1.19.0' },
        login: 'unknown',
      },
      expect.objectContaining({ name: 'acp:claude', way: 'acp', program: 'claude-agent-acp', installed: false }),
      expect.objectContaining({ name: 'acp:codex', way: 'acp', installed: false }),
      expect.objectContaining({ name: 'acp:gemini', way: 'acp', installed: true, version: '0.61.0' }),
      expect.objectContaining({ name: 'acp:opencode', way: 'acp', installed: false }),
    ])
  })

  it('prints a table', async () => {
    const machine = await createMachine({ codex: 'codex-cli 9.9.9' }, { CODEX_API_KEY: 'k' })
    const { stdout } = await machine.ralph('agents')

    expect(stdout).toMatch(
      /^codex +headless +9\.9\.9 +no: tested with 0\.166\.0 to 0\.167\.0 +yes +\.\.\/only\/codex$/m,
    )
    expect(stdout).toMatch(/^claude +headless +- +- +- +claude is not on PATH$/m)
    expect(stdout).toContain('ralph agents try codex')
  })

  it('leaves nothing behind of a program that starts others instead of answering', async () => {
    const seconds = `87653.${process.pid}`
    const machine = await createMachine({})
    await machine.write('../only/codex', `#!/bin/sh\nPATH=/usr/bin:/bin\ntouch asked\nsetsid sleep ${seconds} &\n`)
    await chmod(machine.at('../only/codex'), 0o755)

    expect((await machine.ralph('agents')).stdout).toMatch(/^codex +headless +unknown +unknown/m)
    expect(machine.has('asked')).toBe(true)
    expect(commandLines().filter((line) => line.includes(seconds))).toEqual([])
  })

  it('rejects invalid calls with the reason', async () => {
    const { ralph } = await createMachine({})

    expect(
      await refusals(ralph, [
        ['agents', 'claude'],
        ['agents', 'try'],
        ['agents', 'try', 'cluade'],
        ['agents', 'try', 'opencode'],
      ]),
    ).toEqual([
      expect.stringContaining('did you mean "ralph agents try claude"?'),
      expect.stringContaining('missing name of the agent to try'),
      expect.stringContaining('did you mean "claude"?'),
      expect.stringContaining('the program "opencode" is not on PATH'),
    ])
  })

  it('tries an agent in an empty folder, as a sprint would start it', async () => {
    const machine = await createTestSprint({ answers: { 1: 'ready', 2: { exit: 1 } } })

    expect(await machine.ralph('agents', 'try', 'claude')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('claude answers: ready'),
    })
    expect(await machine.ralph('agents', 'try', 'claude')).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/claude did not answer: failed, crash: .*\n.*\n.*full output: .*try.jsonl/),
    })
  })

  it('ends the agent under trial on a stop signal', async () => {
    const machine = await createTestSprint({ answers: { 1: { run: 'sleep 600' } } })
    const run = machine.start('agents', 'try', 'claude')
    await machine.called(1)
    const [call] = await machine.calls()
    run.signal('SIGINT')

    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(isRunning(call?.pid ?? 0)).toBe(false)
  })
})

/** The error messages of these calls; all of them must fail. */
const refusals = (ralph: TestSprint['ralph'], calls: readonly (readonly string[])[]): Promise<string[]> =>
  Promise.all(
    calls.map(async (args) => {
      const { exitCode, stderr } = await ralph(...args)
      return exitCode === 1 ? stderr : `exit code ${exitCode}`
    }),
  )
