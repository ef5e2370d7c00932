import { describe, expect, it } from 'vitest'
import { createTestSprint, type Setup } from '../support/sprint.ts'

/** Forty mistakes of the first hour: each gets a clear line with what to do and the right exit code, and loses nothing. */

const proceed = { status: 'continue', summary: 'on' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }
const noYaml = { 's/SPRINT.yaml': null, 'wf/ralph.yaml': null }
const yaml = (text: string): Setup => ({ files: { 's/SPRINT.yaml': text } })
const minimal = 'workflow: ralph\ngoal: g\n'
const nothingInstalled = { PATH: '/nowhere' }

/** What was typed, in which project, and the line that answers it. */
type Mistake = readonly [what: string, args: readonly string[], line: RegExp, setup?: Setup]

const typed: readonly Mistake[] = [
  ['1 a typo in a command', ['rnu'], /^error USAGE {2}unknown command "rnu" \(did you mean "ralph run"\?\)/],
  ['2 a typo in a flag', ['run', 's', '--max-iteration', '3'], /^error USAGE .*did you mean --max-iterations\?/],
  ['3 another typo in a flag', ['run', 's', '--modle', 'x'], /^error USAGE .*did you mean --model\?/],
  ['4 words for a number', ['run', 's', '-n', 'many'], /^error USAGE .*a whole number above 0, not "many"/],
  ['5 a limit of 0', ['run', 's', '-n', '0'], /^error USAGE .*above 0, not "0"/],
  ['6 a currency sign', ['run', 's', '--budget-usd', '$5'], /^error USAGE .*a number above 0, not "\$5"/],
  ['7 a long unit', ['run', 's', '--max-duration', '2hours'], /^error USAGE .*such as 30m or 2h, not "2hours"/],
  [
    '8 no goal and no sprint',
    ['run'],
    /^error USAGE .*no sprint yet .*ralph run "Make all tests pass"/,
    { files: noYaml },
  ],
  ['9 an empty goal', ['run', '--goal', ' '], /RALPH_MISSING_GOAL/],
  ['9 an empty argument', ['run', ' '], /^error RALPH_MISSING_GOAL {2}the goal is empty/],
  ['9 a goal still to be written', ['run', '--goal', 'TODO'], /^error RALPH_MISSING_GOAL {2}the goal is a placeholder/],
  ['9 the dots of an example', ['run', '--goal', '…'], /^error RALPH_MISSING_GOAL {2}the goal is a placeholder/],
  ['10 a wrong folder', ['run', 'no/where'], /^no\/where {2}error SPRINT_NOT_FOUND .*ralph list|ralph init/],
  ['11 a typo in an agent', ['run', 's', '--agent', 'cloude'], /^error AGENT_UNKNOWN .*"cloude".*claude/],
  ['12 an agent that is not installed', ['run', 's', '--agent', 'codex'], /AGENT_NOT_FOUND/, { env: nothingInstalled }],
  ['13 no agent at all', ['run', 's'], /^error AGENT_NOT_FOUND .*install/, { env: nothingInstalled }],
  ['14 a typo in a template', ['init', 'x', '--template', 'bgu'], /^error USAGE .*did you mean bug\?/],
  ['15 a goal for a sprint that has one', ['run', 's', '--goal', 'other'], /^\S*error USAGE|error USAGE .*goal/],
  ['16 one word that is no sprint', ['run', 'refactor'], /SPRINT_NOT_FOUND .*ralph run --goal "refactor"/],
  ['17 a goal file that does not exist', ['run', '--goal', '@none.md'], /FILE_NOT_FOUND/],
  ['18 two goals', ['run', '--goal', 'x y', '--goal-file', 'y'], /^error USAGE/],
  ['19 --resume with --new', ['run', '--goal', 'x y', '--resume', '--new'], /^error USAGE/],
  [
    '20 a state folder that cannot be written',
    ['run', 's'],
    /STATE_UNWRITABLE .*RALPH_HOME/,
    {
      env: { RALPH_HOME: '/proc/none' },
    },
  ],
  ['21 a shell that has no completion', ['completion', 'tcsh'], /USAGE .*shells: bash, zsh, fish/],
  ['22 a transcript that is none', ['transcript', 'wf/ralph.yaml'], /FILE_UNREADABLE .*not the transcript of an agent/],
  ['23 an error as JSON', ['run', 'no/where', '--json'], /^\{"error":\{"code":"SPRINT_NOT_FOUND"/],
]

const written: readonly Mistake[] = [
  [
    '24 YAML that is not closed',
    ['run', 's'],
    /^s\/SPRINT\.yaml:\d+:\d+ {2}error SPRINT_LOAD_ERROR/,
    yaml(`${minimal}done-when: [\n`),
  ],
  [
    '25 a tab',
    ['run', 's'],
    /^s\/SPRINT\.yaml:4:1 {2}error SPRINT_LOAD_ERROR .*Tabs/,
    yaml(`${minimal}limits:\n\titerations: 3\n`),
  ],
  ['26 an empty file', ['run', 's'], /^s\/SPRINT\.yaml:1:1 {2}error INVALID_SPRINT/, yaml('')],
  ['27 a typo in a workflow', ['run', 's'], /MAIN_WORKFLOW_NOT_FOUND .*"rolf"/, yaml('workflow: rolf\ngoal: g\n')],
  [
    '28 a typo in a field',
    ['run', 's'],
    /RALPH_MISSING_GOAL[^\n]*\n[^\n]*did you mean "goal"\?/,
    yaml('workflow: ralph\ngoall: g\n'),
  ],
  [
    '29 three wrong types at once',
    ['run', 's'],
    /limits must be a map[^\n]*\n[^\n]*timeouts\.idle must be a duration[^\n]*\n[^\n]*done-when must be a list/,
    yaml(`${minimal}limits: many\ntimeouts: {idle: 3}\ndone-when: x\n`),
  ],
  [
    '30 a placeholder goal',
    ['run', 's'],
    /RALPH_MISSING_GOAL .*placeholder/,
    yaml('workflow: ralph\ngoal: Describe what the agent should achieve.\n'),
  ],
]

describe('a mistake before the start', () => {
  const rows = [...typed, ...written].map(([what, args, line, setup = {}]) => ({ what, args, line, setup }))

  it.each(rows)('$what: one clear message, exit 1, no agent, nothing written', async ({ args, line, setup }) => {
    const sprint = await createTestSprint({ answers: { '*': goalComplete }, ...setup })
    const before = await sprint.contents()

    const { exitCode, stdout, stderr } = await sprint.ralph(...args)

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(line)
    expect(stderr).not.toContain('INTERNAL')
    expect(await sprint.contents()).toEqual(before)
    expect(await sprint.calls()).toEqual([])
  })
})

describe('a mistake with a sprint that exists', () => {
  it('without git: 31 answer, 32 diff, 33 restore, 34 finish, 35 a limit that is already reached', async () => {
    const sprint = await createTestSprint({
      files: noYaml,
      answers: { '*': { run: 'echo x >> work', report: proceed } },
    })
    expect(await sprint.ralph('run', 'Do parts', '-n', '1')).toMatchObject({ exitCode: 3 })

    for (const [args, exitCode, line] of [
      [['answer', 'yes'], 1, /NO_QUESTION .*ralph tell do-parts/],
      [['diff'], 1, /CHECKPOINT_NOT_FOUND .*not a git repository.*git init/],
      [['restore', '99'], 1, /CHECKPOINT_NOT_FOUND .*no iteration 99; the last one is 1/],
      [['finish', '--commit'], 1, /CHECKPOINT_NOT_FOUND .*git repository/],
      [['run'], 3, /resume with a higher limit: ralph run do-parts --max-iterations 2/],
    ] as const) {
      const ran = await sprint.ralph(...args)
      expect({ args, exitCode: ran.exitCode }).toEqual({ args, exitCode })
      expect(`${ran.stderr}${ran.stdout}`).toMatch(line)
    }
    expect(await sprint.read('work')).toBe('x\n')
    expect(await sprint.calls()).toHaveLength(1)
  })

  it('36 a second run of the same sprint, and 37 a second sprint in the same files', async () => {
    const sprint = await createTestSprint({ files: noYaml, answers: { '*': { waits: 'go', report: goalComplete } } })
    const first = sprint.start('run', 'Do parts')
    await sprint.called(1)

    expect(await sprint.ralph('run', 'do-parts')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/SPRINT_LOCKED .*pid \d+.*ralph stop do-parts\)/),
    })
    expect(await sprint.ralph('run', 'other work')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/WORK_TREE_BUSY .*do-parts.*--worktree/),
    })
    await sprint.release('go')
    expect(await first.ended).toMatchObject({ exitCode: 0 })
    expect(await sprint.calls()).toHaveLength(1)
  })

  it('38 init twice writes nothing', async () => {
    const sprint = await createTestSprint({ files: noYaml })
    expect(await sprint.ralph('init', '2026-11-15_x', '--yes', '--goal', 'Tidy up')).toMatchObject({ exitCode: 0 })
    const before = await sprint.contents()

    expect(await sprint.ralph('answer', 'yes')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/PROGRESS_NOT_FOUND {2}this sprint has not run yet \(start it with: ralph run /),
    })
    expect(await sprint.ralph('init', '2026-11-15_x', '--yes', '--goal', 'Other')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/SPRINT_EXISTS/),
    })
    expect(await sprint.contents()).toEqual(before)
  })
})

describe('a mistake with a sprint that is completed', () => {
  it('tell, answer, stop and pause say so, name follow-up, and lose no message', async () => {
    const sprint = await createTestSprint({ files: noYaml, answers: { '*': goalComplete } })
    expect(await sprint.ralph('run', 'Fix it all')).toMatchObject({ exitCode: 0 })

    for (const [args, line] of [
      [['tell', 'one more thing'], /NOT_RUNNING .*completed.*ralph follow-up fix-it-all "…"/],
      [['answer', 'yes'], /NO_QUESTION .*completed.*ralph follow-up fix-it-all "…"/],
      [['stop'], /NOT_RUNNING .*not running: it is completed/],
      [['pause'], /NOT_RUNNING .*not running: it is completed/],
      [['logs', '-i', '7'], /no transcript of iteration 7 .*ralph logs fix-it-all -i 1\)/],
    ] as const) {
      expect({ args, ...(await sprint.ralph(...args)) }).toEqual({
        args,
        exitCode: 1,
        stdout: '',
        stderr: expect.stringMatching(line),
      })
    }
    expect(await sprint.calls()).toHaveLength(1)
  })
})

describe('a mistake about checks', () => {
  it('39 a check that cannot start stops the sprint before an agent is paid', async () => {
    const sprint = await createTestSprint({ files: noYaml, answers: { '*': goalComplete } })

    const { exitCode, stdout, stderr } = await sprint.ralph('run', 'Fix it all', '--check', 'nonexistent-cmd-xyz')

    expect(exitCode).toBe(1)
    expect(`${stdout}${stderr}`).toMatch(/nonexistent-cmd-xyz/)
    expect(await sprint.calls()).toEqual([])
  })

  it('40 no check at all is said before and after, and is exit 5 with --ci', async () => {
    const sprint = await createTestSprint({ files: noYaml, answers: { '*': goalComplete } })

    const { exitCode, stdout } = await sprint.ralph('run', 'Fix it all', '--ci')

    expect(exitCode).toBe(5)
    expect(stdout).toMatch(/no check found[\s\S]*✓ goal reached, unchecked: no check confirmed it\n/)
  })
})

describe('an agent that refuses to work as root', () => {
  it('stops the sprint with the ways out, and the next run tries again by itself', async () => {
    const result = '--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons'
    const refused = { type: 'result', is_error: true, startup_failure_reason: 'bypass_root', result }
    const sprint = await createTestSprint({
      files: noYaml,
      answers: { 1: { lines: [JSON.stringify(refused)], exit: 1 }, 2: goalComplete },
    })
    const { exitCode, stdout } = await sprint.ralph('run', 'fix it all')
    expect({ exitCode, asks: stdout.includes('answer with') }).toEqual({ exitCode: 2, asks: false })
    expect(stdout).toMatch(/use another user or a sandbox, or set IS_SANDBOX=1 .*, then: ralph run fix-it-all\n/)

    expect(await sprint.ralph('run')).toMatchObject({ exitCode: 0 })
  })
})
