import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { ralphProgram, root } from '../support/paths.ts'
import { readPacked } from '../support/packed.ts'
import { kill, markedProcesses } from '../support/processes.ts'
import type { RawProgress } from '../support/sprint.ts'
import { findState } from '../support/state.ts'

const agent = join(root, 'test/fixtures/agents/ledger.sh')

/** Where commands run, and how to see from here what they see. */
export type CommandScope = { readonly prefix: readonly string[]; readonly seen: (path: string) => string }

const nowhere: CommandScope = { prefix: [], seen: (path) => path }

/** What a run leaves behind, seen from outside: by its agent, its hook and its files. */
export type Ledger = {
  /** One per completed call of the agent, in the order of their start. */
  readonly calls: readonly { readonly label: string; readonly hash: string }[]
  readonly begun: number
  /** The iterations whose hook has run. */
  readonly hooks: readonly number[]
  /** Hashes of all transcripts of the agent. */
  readonly transcripts: readonly string[]
  readonly progress: RawProgress
}

export type UnderFire = Awaited<ReturnType<typeof createSprintUnderFire>>

/**
 * A sprint whose agent is a small shell script with its own ledger: every call adds a step with its own name and records the
 * hash of its output. It claims the goal once the test asks for it.
 */
export async function createSprintUnderFire({
  within,
  checks = [],
}: { within?: (folder: string, workTree: string) => Promise<CommandScope>; checks?: readonly string[] } = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-chaos-')))
  const at = (...names: readonly string[]) => join(base, ...names)
  for (const name of ['bin', 'home', 'project', 'ledger']) mkdirSync(at(name), { recursive: true })
  mkdirSync(at('project', 's'), { recursive: true })
  writeFileSync(at('bin', 'claude'), `#!/bin/sh\nexec sh '${agent}' '${at('ledger')}' "$@"\n`, { mode: 0o755 })
  const hook = { id: 'count', run: `echo "$ITERATION" >> '${at('ledger', 'hooks')}'`, parallel: false }
  writeFileSync(
    at('project', 's', 'SPRINT.yaml'),
    JSON.stringify({
      workflow: 'w',
      goal: 'survive',
      'done-when': checks.map((run) => ({ run })),
      checkpoint: false,
      limits: { 'no-progress': 'off' },
    }),
  )
  mkdirSync(at('project', '.claude', 'workflows'), { recursive: true })
  writeFileSync(
    at('project', '.claude', 'workflows', 'w.yaml'),
    JSON.stringify({
      name: 'W',
      mode: 'ralph',
      'goal-prompt': 'p',
      'reflection-prompt': 'r',
      'per-iteration-hooks': [hook],
    }),
  )
  // On the same disk as the sprint, if that has its own. The room of a check covers the project.
  const ownDisk = checks.length === 0 ? at('project', 's') : at('home')
  const ralphHome = within ? join(ownDisk, '.home') : at('home', '.ralph')
  const env = {
    PATH: [at('bin'), dirname(process.execPath), '/usr/local/bin:/usr/bin:/bin'].join(':'),
    HOME: at('home'),
    RALPH_HOME: ralphHome,
    IS_SANDBOX: '1',
    LANG: 'C.UTF-8',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  }
  const { prefix, seen } = (await within?.(ownDisk, at('project'))) ?? nowhere
  const state = (...names: readonly string[]) => join(findState(seen(ralphHome), at('project', 's')), ...names)
  const command = (tracer: readonly string[], ...args: readonly string[]) => {
    const [file = '', ...words] = [...prefix, ...tracer, process.execPath, ralphProgram, ...args]
    const options = { cwd: at('project'), env, detached: true } as const
    return watched(spawn(file, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }))
  }
  return {
    at,
    env,
    /** `ralph run --json` with its output; under a tracer, if there is one. */
    run: (tracer: readonly string[] = []) => command(tracer, 'run', 's', '--json'),
    ralph: (...args: readonly string[]) => command([], ...args),
    /** From now on the agent claims that the goal is reached. */
    finish: () => writeFileSync(at('ledger', 'finish'), ''),
    state,
    account: () => readLedger(at('ledger'), state(), seen(at('project', 's'))),
    /** How often the agent was called. */
    begun: () => readLedgerLines(at('ledger', 'begun')).length,
    processes: () => markedProcesses(base),
    async remove() {
      for (const { pid } of markedProcesses(base)) kill(pid)
      await sleep(50)
      rmSync(base, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function watched(child: ChildProcess) {
  const output = { stdout: '', stderr: '' }
  const startedAt = performance.now()
  let readyMs: number | undefined
  let tellReady = () => {}
  const ready = new Promise<void>((resolve) => (tellReady = resolve))
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
    if (readyMs !== undefined || !output.stdout.includes('"sprint-started"')) return
    readyMs = performance.now() - startedAt
    tellReady()
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const ended = once(child, 'close').then(() => ({
    exitCode: child.exitCode,
    ...output,
    ms: performance.now() - startedAt,
  }))
  return {
    pid: child.pid ?? 0,
    /** Includes the tracer, if there is one; the processes of Ralph are in groups of their own. */
    kill: (signal: NodeJS.Signals = 'SIGKILL') => kill(-(child.pid ?? 0), signal),
    output: () => output,
    /** Resolves when the sprint continues. */
    ready,
    /** Milliseconds from the start of the process until then. */
    readyMs: () => readyMs,
    ended,
  }
}

function readLedger(ledger: string, state: string, sprintDir: string): Ledger {
  const lines = (name: string) => readLedgerLines(join(ledger, name))
  const ofAgents = /^\d+-\d+(\.\d+)?$/
  const packed = [...readPacked(state)].filter(([path]) => /^\d+-\d+(\.\d+)?\/transcript\.jsonl$/.test(path))
  const open = readdirSync(join(state, 'attempts'))
    .filter((name) => ofAgents.test(name) && !packed.some(([path]) => path.startsWith(`${name}/`)))
    .map((name) => join(state, 'attempts', name, 'transcript.jsonl'))
    .filter((file) => existsSync(file))
  const transcripts = [...packed.map(([, bytes]) => bytes), ...open.map((file) => readFileSync(file))]
  return {
    calls: lines('ended').map((line) => ({ label: line.split(' ')[0] ?? '', hash: line.split(' ')[1] ?? '' })),
    begun: lines('begun').length,
    hooks: lines('hooks').map(Number),
    transcripts: transcripts.filter((bytes) => bytes.length > 0).map(sha256),
    progress: parse(readFileSync(join(sprintDir, 'PROGRESS.yaml'), 'utf8')),
  }
}

const readLedgerLines = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Everything that a sprint under fire has lost, doubled or left behind. Empty if all is well. */
export function findComplaints({ calls, begun, hooks, transcripts, progress }: Ledger): string[] {
  const { iterations = [], stats, 'dynamic-steps': steps } = progress
  const numbers = iterations.map(({ number }) => number)
  const last = stats['current-iteration']
  const shownFrom = Math.max(1, last - 99)
  const expected = Array.from({ length: last - shownFrom + 1 }, (_, n) => shownFrom + n)
  const prompts = new Map<string, number>()
  for (const { prompt } of steps) prompts.set(prompt, (prompts.get(prompt) ?? 0) + 1)
  const claims = calls.length - stats['total-steps']
  return [
    ...(begun === calls.length ? [] : [`${begun} calls of the agent have begun, ${calls.length} have ended`]),
    ...(calls.length === last ? [] : [`${calls.length} calls of the agent, but ${last} iterations`]),
    ...(numbers.join() === expected.join() ? [] : [`iterations ${numbers.join()}`]),
    ...(claims <= 1 ? [] : [`${calls.length} calls, but ${stats['total-steps']} steps`]),
    ...[...prompts]
      .filter(([, count]) => count !== 1)
      .map(([prompt, count]) => `step ${prompt} is there ${count} times`),
    ...calls
      .slice(0, -1)
      .filter(({ label }) => !prompts.has(label))
      .map(({ label }) => `the step of ${label} is lost`),
    ...calls
      .filter(({ hash }) => !transcripts.includes(hash))
      .map(({ label }) => `the transcript of ${label} is not as it was`),
    ...(hooks.join() === Array.from({ length: last }, (_, n) => n + 1).join()
      ? []
      : [`the hook has run for ${hooks.join()}`]),
  ]
}
