import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import type { z } from 'zod'
import type { Progress } from '../../src/contract/progress.ts'
import { fakeClaude, ralphProgram } from './paths.ts'
import { kill, markedProcesses } from './processes.ts'
import { findState } from './state.ts'

/** What the fake agent does in one call, in this order. */
export type Play = {
  /** Waits until the test releases it under this name. */
  readonly waits?: string
  /** Seconds. */
  readonly sleep?: number
  readonly run?: string
  readonly stderr?: string
  /** Printed verbatim, but `"<in N s>"` becomes the Unix time N seconds after the call. */
  readonly lines?: readonly string[]
  readonly report?: Readonly<Record<string, unknown>>
  /** The final message, verbatim. */
  readonly text?: string
  /** Its final message is its prompt. */
  readonly echoes?: boolean
  /** Answers, but does not exit. */
  readonly lingers?: boolean
  readonly exit?: number
}

/** A report, a final message without one, or a full play. */
type Answer = { readonly status: string; readonly [field: string]: unknown } | string | Play

/** By the number of the call, by `/pattern/` of the prompt (such calls are not numbered), else `*`. */
export type Answers = Readonly<Record<string, Answer>>

export type Setup = {
  /** Fields of SPRINT.yaml besides workflow and goal. */
  readonly sprint?: Readonly<Record<string, unknown>>
  /** Fields of the workflow besides name, mode and prompts. */
  readonly workflow?: Readonly<Record<string, unknown>>
  /** More files of the project, and other texts for `s/SPRINT.yaml` and `wf/ralph.yaml`; null omits one. */
  readonly files?: Readonly<Record<string, string | null>>
  readonly answers?: Answers
  readonly env?: Readonly<Record<string, string>>
  /** How long a run may take before the test aborts it. */
  readonly timeoutMs?: number
  /** Also for root, a file of mode 0 is unreadable. */
  readonly obeysPermissions?: boolean
  /** Words before the command, for a run on a machine that lacks something. */
  readonly within?: readonly string[]
}

export type RunResult = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }

export type RunningRalph = {
  readonly pid: number
  readonly signal: (name: NodeJS.Signals) => void
  /** Stops reading its output, as `| head` does. */
  readonly closeOutput: () => void
  /** Output so far. */
  readonly printed: () => string
  readonly ended: Promise<RunResult>
}

/** One call of the fake agent. `sees`: the last line of each transcript that the prompt named, at that moment. */
export type Call = {
  readonly kind: 'numbered' | 'matched'
  readonly number: number
  readonly prompt: string
  readonly argv: readonly string[]
  readonly env: readonly string[]
  readonly cwd: string
  readonly pid: number
  readonly sees: Readonly<Record<string, string>>
  readonly startedAt: number
  /** Absent: it was killed, or still works. */
  readonly endedAt?: number
}

/** PROGRESS.yaml as in the file. */
export type RawProgress = z.input<typeof Progress>

export type TestSprint = Awaited<ReturnType<typeof createTestSprint>>

/** A folder with a workflow in wf/, a sprint in s/, and a fake `claude` first on PATH. Removed after the test, with all its processes. */
export async function createTestSprint(setup: Setup = {}) {
  const { sprint = {}, workflow = {}, files = {}, answers = {}, env = {}, timeoutMs = defaultTimeoutMs } = setup
  const around = setup.within ?? (setup.obeysPermissions === true ? withoutRootRights() : [])
  const program = [...around, process.execPath, ralphProgram]
  const base = await realpath(await mkdtemp(join(tmpdir(), 'ralph-e2e-')))
  const at = (...names: readonly string[]) => join(base, 'project', ...names)
  /** A path in the state of the sprint, which is not in the project. */
  const state = (...names: readonly string[]) =>
    join(findState(env['RALPH_HOME'] ?? join(base, 'home', '.ralph'), at('s')), ...names)
  const running = new Set<RunningRalph>()
  onTestFinished(() => cleanUp(base, running))

  const write = async (name: string, text: string) => {
    await mkdir(dirname(at(name)), { recursive: true })
    await writeFile(at(name), text)
  }
  const answer = (next: Answers) =>
    writeFile(join(base, 'fake', 'script.json'), JSON.stringify({ answers: next, progress: at('s', 'PROGRESS.yaml') }))
  const variables: Readonly<Record<string, string | null>> = {
    's/SPRINT.yaml': stringify({ workflow: 'ralph', goal: 'g', ...sprint }),
    'wf/ralph.yaml': stringify({ name: 'R', mode: 'ralph', ...advice, ...workflow }),
    ...files,
  }
  for (const folder of ['project', 'fake', 'bin', 'home', 'tmp']) await mkdir(join(base, folder))
  for (const [name, text] of Object.entries(variables)) if (text !== null) await write(name, text)
  await writeWrapper(base)
  await answer(answers)

  const whole = { ...environment(base), ...env }
  const start = (...args: readonly string[]): RunningRalph => {
    const started = startRalph([...program, ...args], at(), whole, timeoutMs)
    running.add(started)
    return started
  }
  const ralph = (...args: readonly string[]): Promise<RunResult> => start(...args).ended
  const progress = async (): Promise<RawProgress> => parse(await readFile(at('s', 'PROGRESS.yaml'), 'utf8'))
  const calls = () => readCalls(join(base, 'fake'))
  return {
    at,
    /** Of the user whose agents are the fake ones. */
    env: whole,
    state,
    write,
    answer,
    start,
    ralph,
    compile: (...args: readonly string[]) => ralph('compile', 's', '--workflows', 'wf', ...args),
    run: (...args: readonly string[]) => ralph('run', 's', '--workflows', 'wf', ...args),
    startRun: (...args: readonly string[]) => start('run', 's', '--workflows', 'wf', ...args),
    progress,
    iterations: async () => (await progress()).iterations ?? [],
    /** In the order of their start. */
    calls,
    /** Resolves when the agent has been called this often. */
    called: (count: number) => waitUntil(`call ${count}`, async () => (await calls()).length >= count),
    /** Resolves when the run has accepted the request of another command. */
    requestsTaken: () =>
      waitUntil('the request to be taken', async () => (await readdir(state('requests'))).length === 0),
    /** Releases a call that waits for this name. */
    release: (name: string) => writeFile(join(base, 'fake', name), ''),
    read: (name: string) => readFile(at(name), 'utf8'),
    has: (name: string) => existsSync(at(name)),
    /** Everything in the project folder: the text of each file by its path. */
    contents: () => readFolder(at()),
    /** Live processes of all attempts. */
    processes: () => markedProcesses(base),
  }
}

/** A workflow without it causes a warning. */
const advice = { 'goal-prompt': 'Plan well.', 'reflection-prompt': 'Look again.' }

/** Polls until the condition holds. */
export async function waitUntil(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + defaultTimeoutMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`)
    await pause(20)
  }
}

/** Below the time limit of a test; a busy computer needs a minute for what takes seconds otherwise. */
const defaultTimeoutMs = 150_000

const withoutRootRights = (): string[] =>
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : []

function startRalph(
  [program = '', ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): RunningRalph {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const ended = async (): Promise<RunResult> => {
    const late = setTimeout(() => {
      output.stderr += `\nkilled by the test: ${args.join(' ')} did not end`
      child.kill('SIGKILL')
    }, timeoutMs)
    await once(child, 'close')
    clearTimeout(late)
    return { exitCode: child.exitCode, ...output }
  }
  return {
    pid: child.pid ?? 0,
    signal: (name) => void child.kill(name),
    closeOutput: () => void child.stdout.destroy(),
    printed: () => output.stdout,
    ended: ended(),
  }
}

/** Independent of the user who runs the tests: no home, no settings, no other agent before the fake one. */
const environment = (base: string): Record<string, string> => ({
  PATH: [join(base, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
  HOME: join(base, 'home'),
  TMPDIR: join(base, 'tmp'),
  LANG: 'C.UTF-8',
  IS_SANDBOX: '1',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
})

async function writeWrapper(base: string): Promise<void> {
  const words = [process.execPath, fakeClaude, join(base, 'fake')].map((word) => `'${word}'`)
  await writeFile(join(base, 'bin', 'claude'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 })
}

async function readCalls(folder: string): Promise<Call[]> {
  const names = (await readdir(folder)).filter((name) => /^(numbered|matched)-\d+\.json$/.test(name))
  const calls = await Promise.all(
    names.map(async (name): Promise<Call> => JSON.parse(await readFile(join(folder, name), 'utf8'))),
  )
  return calls.toSorted((a, b) => a.startedAt - b.startedAt || a.number - b.number)
}

async function readFolder(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const texts = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path.slice(folder.length + 1), entry.isFile() ? await readFile(path, 'utf8') : ''] as const
  })
  return Object.fromEntries((await Promise.all(texts)).toSorted(([a], [b]) => a.localeCompare(b)))
}

/** Fails a test that leaves a process behind, whatever else it checks. */
async function cleanUp(base: string, running: ReadonlySet<RunningRalph>): Promise<void> {
  for (const process of running) process.signal('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
  const left = markedProcesses(base)
  for (const { pid } of left) kill(pid)
  await rm(base, { recursive: true, force: true, maxRetries: 5 })
  if (left.length > 0) throw new Error(`left behind: ${left.map(({ command }) => command).join('; ')}`)
}
