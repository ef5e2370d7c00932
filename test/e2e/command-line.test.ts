import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ralphProgram, root } from '../support/paths.ts'
import { createTestSprint, waitUntil } from '../support/sprint.ts'

/** Every command in the help, so that new ones follow the same rules. */
const commands = [
  ...execFileSync(process.execPath, [ralphProgram, '--help'], { encoding: 'utf8' }).matchAll(/^ {2}([a-z-]+) {2,}\S/gm),
].map(([, name = '']) => name)
const proceed = { status: 'continue', summary: 'on' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

const succeeds = (output: unknown) => ({ exitCode: 0, stderr: '', output })
const refused = (line: RegExp) => ({ exitCode: 1, stdout: '', stderr: expect.stringMatching(line) })

it('lists the commands, and does nothing without one', async () => {
  const { ralph } = await createTestSprint()
  const help = await ralph('--help')

  expect(commands).toEqual(expect.arrayContaining(['init', 'compile', 'run', 'status', 'prompt', 'demo']))
  expect(help).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await ralph()).toEqual({ ...help, exitCode: 1 })
})

it.each(['--version', '-v', 'version'])('prints its version for %s', async (word) => {
  const { ralph } = await createTestSprint()
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))

  expect(await ralph(word)).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
})

it.each([
  [['--hlep'], /unknown command "--hlep" \(did you mean "ralph --help"\?\)/],
  [['run', '--budget', '5'], /Unknown option "--budget" \(did you mean --budget-usd\?/],
])('suggests what was meant by %s', async (args, line) => {
  const { ralph } = await createTestSprint()

  expect(await ralph(...args)).toEqual(refused(line))
})

it.each(commands)('ralph %s --help shows usage and options, and does nothing else', async (name) => {
  const sprint = await createTestSprint()
  const before = await sprint.contents()

  const { exitCode, stdout, stderr } = await sprint.ralph(name, '--help')

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toMatch(new RegExp(`^Usage: ralph ${name}\\b`, 'm'))
  expect(stdout).toMatch(/^ +(?:-\w, )?--json\b/m)
  expect(await sprint.contents()).toEqual(before)
})

it('accepts "ralph help run" as "ralph run --help"', async () => {
  const { ralph } = await createTestSprint()

  expect(await ralph('help', 'run')).toEqual(await ralph('run', '--help'))
})

it.each(commands)('ralph %s refuses an unknown flag', async (name) => {
  const sprint = await createTestSprint()
  const before = await sprint.contents()

  expect(await sprint.ralph(name, 's', '--frobnicate=1')).toEqual(
    refused(new RegExp(`^error USAGE  ${name}: .*--frobnicate.*ralph ${name} --help.*\n$`)),
  )
  expect(await sprint.contents()).toEqual(before)
})

it.each([
  [
    'a flag that is almost right',
    ['compile', 's', '--workflow', 'wf'],
    /^error USAGE  .*did you mean --workflows\?.*\n$/,
  ],
  ['a flag that it does not know', ['run', 's', '--frobnicate'], /^error USAGE  .*--frobnicate.*ralph run --help.*\n$/],
  ['a value for a flag that takes none', ['compile', 's', '--strict=yes'], /^error USAGE  .*--strict.*\n$/],
  ['a flag without its value', ['run', 's', '--max-iterations'], /^error USAGE  .*--max-iterations.*\n$/],
  ['a number that is none', ['run', 's', '--max-iterations=many'], /^error USAGE  .*--max-iterations .*"many".*\n$/],
  ['a limit of nothing', ['run', 's', '-n', '0'], /^error USAGE  .*above 0.*\n$/],
  ['a duration without a unit', ['run', 's', '--max-duration', '30'], /^error USAGE  .*30m.*\n$/],
  ['an argument too many', ['compile', 's', 'other'], /^error USAGE  .*"other".*\n$/],
  ['an argument too few', ['validate'], /^error USAGE  .*<workflow.yaml>.*\n$/],
  ['no name where there is no sprint', ['compile'], /^error SPRINT_NOT_FOUND  .*ralph run .*\n$/],
  [
    'a command that is almost right',
    ['complie', 's'],
    /^error USAGE  .*"complie".*did you mean "ralph compile"\?.*\n$/,
  ],
  ['a command that is nothing like it', ['launch'], /^error USAGE  .*"launch".*ralph --help.*\n$/],
  ['a name that objects have by themselves', ['constructor'], /^error USAGE  .*"constructor".*\n$/],
] as const)('refuses %s on one line, with exit 1', async (_, args, line) => {
  const sprint = await createTestSprint()
  const before = await sprint.contents()

  expect(await sprint.ralph(...args)).toEqual(refused(line))

  expect(await sprint.contents()).toEqual(before)
  expect(await sprint.calls()).toEqual([])
})

it('accepts --flag=value as --flag value', async () => {
  const sprint = await createTestSprint({ answers: { '*': { status: 'continue', summary: 'on' } } })

  expect(await sprint.ralph('run', 's', '--workflows=wf', '--max-iterations=2')).toMatchObject({ exitCode: 3 })

  expect(await sprint.calls()).toHaveLength(2)
})

it('prints JSON for every command when asked to', async () => {
  const sprint = await createTestSprint({
    answers: {
      1: { status: 'needs-human', summary: 's', humanNeeded: { reason: 'Which?', details: 'a or b' } },
      2: { waits: 'go', report: proceed },
      3: { waits: 'go on', report: proceed },
      '*': goalComplete,
    },
  })
  execFileSync('git', ['init', '--quiet'], { cwd: sprint.at() })
  const tried = new Set<string>()
  const json = async (...args: readonly [string, ...string[]]) => {
    tried.add(args[0])
    const { exitCode, stdout, stderr } = await sprint.ralph(...args, '--json')
    return { exitCode, stderr, output: parseJsonLines(stdout) }
  }
  /** A command for a running sprint, and the status of that run afterwards. */
  const controlRun = async (...[resume, stop, release]: readonly ['run' | 'resume', 'pause' | 'stop', string]) => {
    tried.add(resume)
    const before = (await sprint.calls()).length
    const run = sprint.start(resume, 's', '--json')
    await sprint.called(before + 1)
    const reply = await json(stop, 's')
    await sprint.requestsTaken()
    await sprint.release(release)
    const { exitCode, stdout } = await run.ended
    return { asked: reply, exitCode, last: parseJsonLines(stdout).at(-1) }
  }

  expect(await json('compile', 's', '-w', 'wf')).toEqual(succeeds([expect.objectContaining({ valid: true })]))
  expect(await json('validate', 'wf/ralph.yaml')).toEqual(succeeds([expect.objectContaining({ valid: true })]))
  expect(await json('prompt', 's')).toEqual(
    succeeds([expect.objectContaining({ iteration: 1, mode: 'planning', prompt: expect.stringContaining('## Goal') })]),
  )
  const questioned = await json('run', 's')
  expect(questioned).toMatchObject({ exitCode: 2, stderr: '' })
  expect(questioned.output).toContainEqual(expect.objectContaining({ type: 'question-asked', reason: 'Which?' }))
  expect(await json('answer', 's', 'a')).toEqual(succeeds([{ question: 'Which?', answer: 'a' }]))
  expect(await controlRun('run', 'pause', 'go')).toEqual({
    asked: succeeds([{ requested: 'paused', when: 'iteration' }]),
    exitCode: 4,
    last: expect.objectContaining({ type: 'sprint-rested', status: 'paused', at: expect.any(String) }),
  })
  expect(await controlRun('resume', 'stop', 'go on')).toEqual({
    asked: succeeds([{ requested: 'interrupted', when: 'iteration' }]),
    exitCode: 130,
    last: expect.objectContaining({ type: 'sprint-rested', status: 'interrupted' }),
  })
  for (const [name, ...rest] of [
    ['serve', '--port', 'x'],
    ['machine', 'list'],
    ['agents-server'],
    ['backup'],
    ['migrate'],
    ['user', 'list'],
    ['budget', 'list'],
  ] as const) {
    const { exitCode, stderr } = await json(name, ...rest)
    expect([exitCode, JSON.parse(stderr)]).toEqual([
      1,
      { error: expect.objectContaining({ code: expect.any(String) }) },
    ])
  }
  const unversioned = await json(
    'agents-server',
    'join',
    'ralph1.x',
    '--backend',
    'h:1',
    '--update',
    'npm install -g x',
  )
  expect([unversioned.exitCode, JSON.parse(unversioned.stderr)]).toEqual([
    1,
    { error: expect.objectContaining({ code: 'USAGE', message: 'the command for --update must contain {version}' }) },
  ])
  expect(await json('tell', 's', 'hurry')).toEqual(succeeds([{ told: 'hurry', now: false }]))
  expect(await json('diff', 's')).toEqual(succeeds([{ from: 0, to: 3, diff: '' }]))
  expect(await json('restore', 's', '0')).toEqual(
    succeeds([{ restored: 0, saved: null, refs: [], revived: [], missing: [] }]),
  )
  expect(await json('status', 's')).toEqual(
    succeeds([{ folder: 's', progress: expect.objectContaining({ status: 'interrupted', 'dynamic-steps': [] }) }]),
  )
  expect(await json('watch', 's')).toEqual({
    exitCode: 130,
    stderr: '',
    output: [
      expect.objectContaining({ type: 'note', text: 'this sprint is not running' }),
      expect.objectContaining({ type: 'sprint-rested', status: 'interrupted' }),
    ],
  })
  expect(await json('logs', 's')).toEqual(
    succeeds(expect.arrayContaining([expect.objectContaining({ type: 'agent', iteration: 3, attempt: 1 })])),
  )
  expect(await json('report', 's')).toEqual(succeeds([{ format: 'html', file: 's/report.html' }]))
  expect(await json('completion', 'bash')).toEqual(
    succeeds([{ shell: 'bash', script: expect.stringContaining('complete -F _ralph ralph') }]),
  )
  expect(await json('init', 'auth', '--goal', 'x')).toEqual(
    succeeds([{ folder: expect.stringMatching(/^\.claude\/sprints\/.*_auth$/) }]),
  )
  expect(await json('status')).toEqual(succeeds([[{ folder: expect.any(String), progress: null }]]))
  expect(await json('list')).toEqual(succeeds([[{ folder: expect.any(String), progress: null }]]))
  const unfinished = await json('follow-up', 's', 'more')
  expect([unfinished.exitCode, JSON.parse(unfinished.stderr)]).toEqual([
    1,
    { error: expect.objectContaining({ code: 'USAGE', place: { file: 's' } }) },
  ])
  const [agents] = (await json('agents')).output
  expect(agents).toContainEqual(expect.objectContaining({ name: 'claude', installed: true }))
  expect(await json('doctor', 's')).toEqual(
    succeeds([
      expect.objectContaining({
        machine: expect.arrayContaining([expect.objectContaining({ name: 'git', ok: true })]),
      }),
    ]),
  )
  expect(await json('transcript', 's/transcripts/iteration-3.jsonl')).toMatchObject({
    exitCode: 0,
    output: [{ status: 'ok' }],
  })
  expect(await json('mcp')).toEqual(
    succeeds([{ tools: expect.arrayContaining([expect.objectContaining({ name: 'list_sprints' })]) }]),
  )
  expect(await json('checks', 'list')).toEqual(succeeds([{ checks: [] }]))
  expect(await json('plugin', 'list')).toMatchObject({ exitCode: 0, output: [expect.anything()] })
  expect(await json('prune', 's', '--dry-run')).toEqual(
    succeeds([{ dryRun: true, transcripts: { files: 0, bytes: 0 }, checkpoints: 0 }]),
  )
  expect(await json('finish', 's')).toEqual(
    succeeds([expect.objectContaining({ status: 'interrupted', repositories: expect.any(Array) })]),
  )
  expect([...tried, 'demo'].toSorted()).toEqual(commands.toSorted())
})

it('prints the demo as JSON, one event per line', async () => {
  const sprint = await createTestSprint()
  const run = sprint.start('demo', 'pancakes', '--fast', '--json')
  await waitUntil('the agent to say something', () => run.printed().includes('"type":"agent"'))
  run.signal('SIGTERM')

  const { exitCode, stdout, stderr } = await run.ended

  expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: '' })
  for (const event of parseJsonLines(stdout))
    expect(event).toMatchObject({ at: expect.any(String), type: expect.any(String) })
})

it.each([
  ['init', ['init', 'no/name'], 'USAGE'],
  ['compile', ['compile', 'nowhere'], 'SPRINT_NOT_FOUND'],
  ['validate', ['validate', 'nowhere.yaml'], 'FILE_NOT_FOUND'],
  ['run', ['run', 'nowhere'], 'SPRINT_NOT_FOUND'],
  ['status', ['status', 'nowhere'], 'SPRINT_NOT_FOUND'],
  ['watch', ['watch', 's'], 'PROGRESS_NOT_FOUND'],
  ['logs', ['logs', 's'], 'PROGRESS_NOT_FOUND'],
  ['report', ['report', 's'], 'PROGRESS_NOT_FOUND'],
  ['completion', ['completion', 'csh'], 'USAGE'],
  ['answer', ['answer', 's', 'x'], 'PROGRESS_NOT_FOUND'],
  ['prompt', ['prompt', 's'], 'PROGRESS_NOT_FOUND'],
  ['resume', ['resume', 'nowhere'], 'SPRINT_NOT_FOUND'],
  ['pause', ['pause', 's'], 'NOT_RUNNING'],
  ['stop', ['stop', 's'], 'NOT_RUNNING'],
  ['tell', ['tell', 's', 'x'], 'PROGRESS_NOT_FOUND'],
  ['diff', ['diff', 's'], 'PROGRESS_NOT_FOUND'],
  ['restore', ['restore', 's', '0'], 'PROGRESS_NOT_FOUND'],
  ['demo', ['demo', 's'], 'SPRINT_EXISTS'],
] as const)('ralph %s --json reports an error as JSON too', async (_, args, code) => {
  const { ralph } = await createTestSprint()

  const { exitCode, stdout, stderr } = await ralph(...args, '--json')

  expect({ exitCode, stdout, stderr: parseJsonLines(stderr) }).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: [{ error: expect.objectContaining({ code, message: expect.any(String) }) }],
  })
})

it.each(['compile', 'run'] as const)('ralph %s --json reports errors in SPRINT.yaml as JSON', async (name) => {
  const sprint = await createTestSprint({ files: { 's/SPRINT.yaml': 'workflow: ralph\n' } })

  const { exitCode, stdout, stderr } = await sprint[name]('--json')

  expect(exitCode).toBe(1)
  expect(parseJsonLines(stdout + stderr)).toEqual([
    expect.objectContaining({ diagnostics: [expect.objectContaining({ code: 'RALPH_MISSING_GOAL' })] }),
  ])
})

it('creates a sprint folder with a SPRINT.yaml that compiles, and overwrites nothing', async () => {
  const sprint = await createTestSprint()

  const { exitCode, stdout } = await sprint.ralph('init', '2026-11-15_auth', '--goal', 'Build login: "safe"')

  expect(exitCode).toBe(0)
  const folder = '.claude/sprints/2026-11-15_auth'
  expect(stdout).toContain('ralph run auth\n')
  expect(await sprint.ralph('compile', folder)).toMatchObject({ exitCode: 0, stderr: '' })
  const before = await sprint.contents()
  expect(await sprint.ralph('init', '2026-11-15_auth')).toEqual(refused(/error SPRINT_EXISTS  .*\n$/))
  expect(await sprint.contents()).toEqual(before)
})

/** Fails if a line is not JSON. */
const parseJsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))
