import { execFile, execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { root } from '../support/paths.ts'
import { createTestSprint, type TestSprint } from '../support/sprint.ts'

const fixture = (name: string): string => readFileSync(join(root, 'test/fixtures/seeds', name), 'utf8')
const project = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-packed-')))
afterAll(() => rmSync(project, { recursive: true, force: true, maxRetries: 5 }))

/** A project with the packed package, as `npm install` leaves it. */
beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/unshipped.mjs')])
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project]
  const printed = execFileSync('npm', pack, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1024 ** 3 })
  const [{ filename }] = z.tuple([z.object({ filename: z.string() })]).parse(JSON.parse(printed.toString()))
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'ralph-mode'), { recursive: true })
  const unpack = ['--extract', '--file', join(project, filename), '--strip-components=1']
  execFileSync('tar', unpack, { cwd: join(modules, 'ralph-mode') })
  for (const name of readdirSync(join(root, 'node_modules')).filter((one) => !one.startsWith('.')))
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
}, 240_000)

/** What the snippets use and do not define. */
const prelude = `import type {
  CompiledTopPhase, CurrentPointer, ParallelTask, ParallelTaskStatus, PhaseStatus, SprintStats, SprintStatus, SprintStep, WorkflowPhase,
} from 'ralph-mode'
`

const uses = `import {
  compile, mergePerIterationHooks, validatePerIterationHook, validateSprintDefinition, validateWorkflowDefinition,
  type CompiledProgress, type CompilerConfig, type CompilerError, type CompilerResult, type DynamicStep, type HookTask,
  type PerIterationHook, type RalphConfig, type RalphExitInfo, type SprintDefinition, type WorkflowDefinition,
} from 'ralph-mode'
import { createClient } from 'ralph-mode/client'
import type * as seed from './snippets.ts'

// What is typed as in the seed fits.
export const hook = (value: seed.PerIterationHook): PerIterationHook => value
export const step = (value: seed.DynamicStep): DynamicStep => value
export const task = (value: seed.HookTask): HookTask => value
export const config = (value: seed.RalphConfig): RalphConfig => value
export const exit = (value: seed.RalphExitInfo): RalphExitInfo => value
export const workflow = (value: seed.WorkflowDefinition): WorkflowDefinition => value
export const sprint = (value: seed.SprintDefinition): SprintDefinition => value
export const progress = (value: seed.CompiledProgress): CompiledProgress => value

// What the package returns can be read and changed as in the seed; pid and ralph-exit are also null, as in 000:157-172.
type WithoutNull = Omit<seed.CompiledProgress, 'hook-tasks' | 'ralph-exit'>
export const readHook = (value: PerIterationHook): seed.PerIterationHook => value
export const readStep = (value: DynamicStep): seed.DynamicStep => value
export const read = (value: CompiledProgress): WithoutNull => value
export function finish(value: CompiledProgress): void {
  for (const each of value['dynamic-steps'] ?? []) each.status = 'completed'
  value['hook-tasks']?.push({ iteration: 1, 'hook-id': 'learning', status: 'running', pid: 12345 })
}

// The functions have the signatures of 004:74, 84, 93, 244 and 281.
export const functions: {
  validateWorkflowDefinition: (workflow: unknown, name: string) => CompilerError[]
  validateSprintDefinition: (sprint: unknown) => CompilerError[]
  validatePerIterationHook: (hook: unknown, index: number) => CompilerError[]
  compile: (config: CompilerConfig) => Promise<CompilerResult>
  mergePerIterationHooks: (hooks: PerIterationHook[], overrides: Record<string, { enabled: boolean }> | undefined) => PerIterationHook[]
} = { compile, mergePerIterationHooks, validatePerIterationHook, validateSprintDefinition, validateWorkflowDefinition }

export const start = (agentId: string, task: string) =>
  createClient({ baseUrl: 'http://localhost:4100' }).startRalphMode({ agentId, taskDescription: task })

// @ts-expect-error -- a hook without parallel and enabled
export const incomplete: PerIterationHook = { id: 'x' }
// @ts-expect-error -- not a status of 004
export const unknownStatus: DynamicStep['status'] = 'done'
`

/** 001:399-409 in a program. */
const loop = (
  progressFile: string,
  sprintDir: string,
) => `import { readProgress, runRalphLoop, runStandardLoop } from 'ralph-mode'

const [progressFile, sprintDir, options] = [${JSON.stringify(progressFile)}, ${JSON.stringify(sprintDir)}, {}]
${fixture('001-loop.txt')}`

it('compiles the snippets of 004 against the packed package, strictly (rows 15, 223-230, 261-266)', () => {
  const files = {
    'snippets.ts': `${prelude}${fixture('004-snippets.txt')}`,
    'uses.ts': uses,
    'loop.ts': loop('a', 'b'),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--allowImportingTsExtensions']
  const modules = ['--module', 'nodenext', '--target', 'es2022', '--types', 'node', '--skipLibCheck']
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const run = () =>
    execFileSync(process.execPath, [tsc, ...options, ...modules, ...Object.keys(files)], {
      cwd: project,
      encoding: 'utf8',
    })
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  expect(readOutput(run)).toBe('')
})

it('runs the loop of 001:399-409 from the packed package, by a sprint folder and nothing else (row 147)', async () => {
  const answers = { 1: { run: 'touch done', report: { status: 'continue', summary: 'did it' } }, 2: claim }
  const sprint = await createTestSprint({
    answers,
    files: {
      'wf/ralph.yaml': null,
      's/SPRINT.yaml':
        'workflow: ralph\ngoal: Make it done\ndone-when: [{ run: test -f done, room: "off" }]\nproof: optional\n',
    },
  })
  await sprint.ralph('compile', 's')

  expect(await runProgram(sprint, loop('s/PROGRESS.yaml', 's'))).toEqual({ exitCode: 0, output: '' })
  expect(await sprint.progress()).toMatchObject({
    status: 'completed',
    'ralph-exit': { 'final-summary': 'all done' },
    stats: { 'current-iteration': 2 },
  })
  expect(await sprint.calls()).toHaveLength(2)
})

it('ends the attempt when the caller aborts, and the next call resumes the sprint', async () => {
  const sprint = await createTestSprint({ answers: { '*': { sleep: 600 } }, sprint: { 'done-when': [] } })
  const program = `import { runRalphLoop } from 'ralph-mode'
const aborter = new AbortController()
const abort = ({ type }) => type === 'attempt-started' && process.argv[2] !== 'resume' && aborter.abort()
const options = { workflowsDir: 'wf', maxIterations: 3, signal: aborter.signal, onEvent: abort }
console.log((await runRalphLoop('s', options)).status)`

  expect(await runProgram(sprint, program)).toEqual({ exitCode: 0, output: 'interrupted\n' })
  await sprint.answer({ '*': claim })
  expect(await runProgram(sprint, program, 'resume')).toEqual({ exitCode: 0, output: 'completed\n' })
})

it('rejects with a code and a place what "ralph run" refuses', async () => {
  const sprint = await createTestSprint({ files: { 'bad/SPRINT.yaml': 'workflow: ralph\n' } })
  const program = `import { compile, runRalphLoop, runStandardLoop } from 'ralph-mode'
const code = (run) => run.then(({ status }) => status, ({ code, place }) => code + ' ' + (place?.file ?? ''))
console.log(await code(runStandardLoop('s', { workflowsDir: 'wf' })))
console.log(await code(runRalphLoop('bad')))
console.log(await code(runRalphLoop('nowhere')))
console.log(JSON.stringify(await compile({ sprintDir: 'bad' })))
console.log((await compile({ sprintDir: 'nowhere' })).errors[0].code)
console.log((await compile({ sprintDir: 's', workflowsDir: 'wf' })).progress['dynamic-steps'].length)`
  const missing = {
    code: 'RALPH_MISSING_GOAL',
    message: 'Ralph mode requires goal field in SPRINT.yaml',
    path: 'bad/SPRINT.yaml:1:1',
  }

  const { exitCode, output } = await runProgram(sprint, program)
  const [standard, bad, nowhere, compiled = '', absent, steps] = output.split('\n')
  expect({ exitCode, standard, bad, nowhere, absent, steps }).toEqual({
    exitCode: 0,
    standard: 'USAGE s',
    bad: 'RALPH_MISSING_GOAL bad/SPRINT.yaml',
    nowhere: 'SPRINT_LOAD_ERROR nowhere/SPRINT.yaml',
    absent: 'SPRINT_LOAD_ERROR',
    steps: '0',
  })
  expect(JSON.parse(compiled)).toEqual({ success: false, errors: [expect.objectContaining(missing)], warnings: [] })
  expect(await sprint.calls()).toEqual([])
})

it('reads what was edited in PROGRESS.yaml since the last run', async () => {
  const sprint = await createTestSprint({ sprint: { steps: ['first', 'second'] } })
  await sprint.compile()
  await sprint.write(
    's/PROGRESS.yaml',
    (await sprint.read('s/PROGRESS.yaml')).replace('status: pending', 'status: completed'),
  )
  const program = `import { readProgress } from 'ralph-mode'
console.log((await readProgress('s'))['dynamic-steps'].map(({ status }) => status).join())`

  expect(await runProgram(sprint, program)).toEqual({ exitCode: 0, output: 'completed,pending\n' })
})

const claim = { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'all done' }

/** A program of the project with the packed package, in the environment of the sprint. */
async function runProgram(
  sprint: TestSprint,
  text: string,
  ...args: readonly string[]
): Promise<{ exitCode: number; output: string }> {
  const file = join(project, 'program.mjs')
  writeFileSync(file, text)
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [file, ...args],
      { cwd: sprint.at(), env: sprint.env },
      (_, stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, output: stdout + stderr }),
    )
  })
}

/** What a program printed, also if it failed. */
function readOutput(run: () => string): string {
  try {
    return run()
  } catch (error) {
    return String(Reflect.get(error ?? {}, 'stdout'))
  }
}
