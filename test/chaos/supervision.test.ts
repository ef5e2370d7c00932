import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { claude } from '../../src/agents/drivers/claude.ts'
import type { Driver } from '../../src/agents/drivers/driver.ts'
import { superviseAgent } from '../../src/agents/supervise/supervisor.ts'
import type { AgentRequest } from '../../src/runtime/ports.ts'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { kill, markedProcesses } from '../support/processes.ts'

const program = join(root, 'test/fixtures/agents/misbehaving.mjs')
const graceMs = 500
const outputCapBytes = 100 * 1024 * 1024

/** The real driver and the real supervisor, with an agent that misbehaves in this way. */
function runMisbehavingAgent(mode: string, timeouts: Partial<AgentRequest['timeouts']> = {}, argument = '') {
  const sprintDir = join(createTestFolder(), 's')
  onTestFinished(() => markedProcesses(sprintDir.slice(0, -2)).forEach(({ pid }) => kill(pid)))
  const hashFile = join(sprintDir, '..', 'hash')
  const driver: Driver = {
    ...claude,
    program: process.execPath,
    command: () => ({
      file: process.execPath,
      args: [program, mode, argument || sprintDir],
      env: { HASH_FILE: hashFile },
    }),
  }
  const runner = superviseAgent({ sprintDir, cwd: root, driver, env: process.env, pass: [], graceMs, outputCapBytes })
  const request: AgentRequest = {
    attempt: '1-1',
    transcript: 'iteration-1.jsonl',
    prompt: 'the prompt',
    timeouts: { idle: 30_000, attempt: 60_000, afterResult: 30_000, ...timeouts },
    budget: {},
    onEvent: () => {},
  }
  const transcript = join(sprintDir, 'attempts/1-1/transcript.jsonl')
  return {
    sprintDir,
    transcript,
    run: async (signal = new AbortController().signal) => {
      const before = performance.now()
      const outcome = await runner.run(request, signal)
      return { outcome, ms: performance.now() - before }
    },
    /** A killed agent could not record its output. */
    saidAsPrinted: async () =>
      mode === 'kills itself' || (await hashOutput(transcript)) === readFileSync(hashFile, 'utf8'),
  }
}

async function hashOutput(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

/** Processes that still run two seconds later. */
async function findLeftovers(sprintDir: string): Promise<string[]> {
  const deadline = performance.now() + 2000
  while (performance.now() < deadline && markedProcesses(sprintDir.slice(0, -2)).length > 0) await sleep(50)
  return markedProcesses(sprintDir.slice(0, -2)).map(({ command }) => command)
}

const ok = { status: 'ok', text: expect.stringContaining('"continue"') }

describe('an agent that', () => {
  it.each([
    ['reports', ok],
    ['says nothing and exits with 0', { status: 'failed' }],
    ['exits with 3', { status: 'failed', class: 'crash', exitCode: 3 }],
    ['kills itself', { status: 'failed', class: 'crash', exitCode: 137 }],
    ['exits with 1 after its result', { exitCode: 1 }],
    ['speaks slowly', ok],
    ['leaves children behind', ok],
    ['leaves children behind that ignore TERM and hold its output', ok],
    ['starts forty children', ok],
    ['prints what is no text', ok],
    ['says success about an error', { status: 'failed' }],
    ['gives its result twice', { status: 'ok', text: expect.stringContaining('the second') }],
    ['reaches its limit', { status: 'failed', class: 'usage_limit', resetsAt: expect.any(Number) }],
  ])('%s: is understood, its output is kept verbatim, and none of its processes is left', async (mode, expected) => {
    const agent = runMisbehavingAgent(mode, { idle: 5000 })
    const { outcome } = await agent.run()

    expect(outcome).toMatchObject(expected)
    expect(await findLeftovers(agent.sprintDir)).toEqual([])
    expect(await agent.saidAsPrinted()).toBe(true)
  })

  it.each([
    ['hangs', { idle: 600 }, { status: 'timeout', class: 'hang' }],
    ['hangs and ignores TERM', { idle: 600 }, { status: 'timeout', class: 'hang' }],
    ['only pings', { idle: 600 }, { status: 'timeout', class: 'hang' }],
    ['hangs', { attempt: 600 }, { status: 'timeout', class: 'hang' }],
    ['hangs after its result', { afterResult: 600 }, ok],
  ])('%s is killed when its time (%j) is up', async (mode, timeouts, expected) => {
    const agent = runMisbehavingAgent(mode, timeouts)
    const { outcome, ms } = await agent.run()

    expect(outcome).toMatchObject(expected)
    expect(ms).toBeLessThan(600 + graceMs + 5000)
    expect(await findLeftovers(agent.sprintDir)).toEqual([])
  })

  it('hangs and ignores TERM is gone when the caller aborts it', async () => {
    const agent = runMisbehavingAgent('hangs and ignores TERM')
    const abort = new AbortController()
    const run = agent.run(abort.signal)
    await sleep(700)
    abort.abort()

    expect((await run).outcome).toMatchObject({ status: 'aborted' })
    expect(await findLeftovers(agent.sprintDir)).toEqual([])
  })

  it('prints a line of 64 MB is survived with flat memory, and its result is found', async () => {
    const agent = runMisbehavingAgent('prints one long line', {}, '64')
    const before = process.memoryUsage().rss
    const { outcome } = await agent.run()

    expect(outcome).toMatchObject(ok)
    expect(await agent.saidAsPrinted()).toBe(true)
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
  })

  it('deletes its own folder is still read to its end', async () => {
    const agent = runMisbehavingAgent('deletes the folder under itself')
    const { outcome } = await agent.run()

    expect(outcome).toMatchObject(ok)
    expect(await agent.saidAsPrinted()).toBe(true)
    expect(readFileSync(join(agent.sprintDir, 'transcripts/iteration-1.jsonl'), 'utf8')).toContain('"result"')
  })

  it.each(['floods its output', 'floods its errors and ignores TERM'])(
    '%s is ended at the cap, and the disk is not filled',
    async (mode) => {
      const agent = runMisbehavingAgent(mode)
      const { outcome } = await agent.run()
      const folder = join(agent.sprintDir, 'attempts/1-1')
      const written = ['transcript.jsonl', 'stderr.log'].map((name) => statSync(join(folder, name)).size)

      expect(outcome).toMatchObject({ status: 'failed', class: 'output_cap' })
      expect(Math.max(...written)).toBeLessThan(outputCapBytes * 3)
      expect(await findLeftovers(agent.sprintDir)).toEqual([])
    },
  )

  it('prints its environment sees only what was allowed', async () => {
    process.env['RALPH_TEST_SECRET'] = 'x'
    onTestFinished(() => void delete process.env['RALPH_TEST_SECRET'])
    const { outcome } = await runMisbehavingAgent('shows its environment').run()

    expect(outcome.text).toContain('PATH')
    expect(outcome.text).not.toContain('RALPH_TEST_SECRET')
  })
})
