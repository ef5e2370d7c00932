import { describe, expect, it } from 'vitest'
import { createTestSprint, type Setup } from '../support/sprint.ts'

const minimal = 'workflow: ralph\ngoal: g\n'
const sprintYaml = (text: string): Setup => ({ files: { 's/SPRINT.yaml': text } })

/** Invalid inputs, and the one line that reports each: place, code, and hint. */
type Row = readonly [what: string, setup: Setup, line: RegExp]

const named: readonly Row[] = [
  [
    'a missing SPRINT.yaml',
    { files: { 's/SPRINT.yaml': null, 's/notes.txt': '' } },
    /^s\/SPRINT\.yaml  error SPRINT_LOAD_ERROR  .*ralph init/,
  ],
  [
    'an unreadable SPRINT.yaml',
    { files: { 's/SPRINT.yaml': null, 's/SPRINT.yaml/x': '' } },
    /s\/SPRINT\.yaml  error FILE_UNREADABLE  .*directory/,
  ],
  ['an empty SPRINT.yaml', sprintYaml(''), /^s\/SPRINT\.yaml:1:1  error INVALID_SPRINT  .*fields/],
  [
    'a YAML syntax error',
    sprintYaml(`${minimal}done-when: [\n`),
    /^s\/SPRINT\.yaml:[34]:\d+  error SPRINT_LOAD_ERROR  .*\]/,
  ],
  [
    'a value of the wrong type',
    sprintYaml(`${minimal}done-when:\n  - 7\n`),
    /^s\/SPRINT\.yaml:4:5  error INVALID_FIELD  done-when\[0\] .*map of fields/,
  ],
  ['a missing goal', sprintYaml('workflow: ralph\n'), /^s\/SPRINT\.yaml:1:1  error RALPH_MISSING_GOAL  .*goal/],
]

const more: readonly Row[] = [
  ['only comments', sprintYaml('# later\n'), /^s\/SPRINT\.yaml:1:1  error INVALID_SPRINT  .*fields/],
  ['one sentence', sprintYaml('please make it work\n'), /^s\/SPRINT\.yaml:1:1  error INVALID_SPRINT  .*fields/],
  [
    'a tab for indentation',
    sprintYaml(`${minimal}limits:\n\titerations: 3\n`),
    /^s\/SPRINT\.yaml:4:1  error SPRINT_LOAD_ERROR  .*Tabs/,
  ],
  ['a key twice', sprintYaml(`${minimal}goal: h\n`), /^s\/SPRINT\.yaml:3:1  error SPRINT_LOAD_ERROR  .*"goal".*twice/],
  ['a missing workflow', sprintYaml('goal: g\n'), /^s\/SPRINT\.yaml:1:1  error MISSING_WORKFLOW  .*workflow/],
  [
    'an unknown workflow',
    sprintYaml('workflow: rolf\ngoal: g\n'),
    /^s\/SPRINT\.yaml:1:11  error MAIN_WORKFLOW_NOT_FOUND  .*"rolf".*workflows\/rolf\.yaml/,
  ],
  [
    'a goal that is a list',
    sprintYaml('workflow: ralph\ngoal: [a, b]\n'),
    /^s\/SPRINT\.yaml:2:7  error RALPH_MISSING_GOAL  .*text/,
  ],
  [
    'a duration without a unit',
    sprintYaml(`${minimal}timeouts: { idle: 30 }\n`),
    /^s\/SPRINT\.yaml:3:19  error INVALID_FIELD  timeouts\.idle .*30s/,
  ],
  [
    'a limit below one',
    sprintYaml(`${minimal}limits:\n  iterations: 0\n`),
    /^s\/SPRINT\.yaml:4:15  error INVALID_FIELD  limits\.iterations .*at least 1/,
  ],
  [
    'an unknown agent',
    sprintYaml(`${minimal}agent: cloude\n`),
    /^s\/SPRINT\.yaml:3:8  error AGENT_UNKNOWN  .*"cloude".*did you mean "claude"\?/,
  ],
  [
    'a workflow with a syntax error',
    { files: { 'wf/ralph.yaml': 'name: R\nmode: [ralph\n' } },
    /^wf\/ralph\.yaml:[23]:\d+  error WORKFLOW_PARSE_ERROR  .*\]/,
  ],
]

describe.each([
  ['compile', [...named, ...more]],
  ['run', named],
] as const)('ralph %s', (name, rows) => {
  it.each(rows)('refuses %s on one line, with exit 1, and writes nothing', async (_, setup, line) => {
    const sprint = await createTestSprint(setup)
    const before = await sprint.contents()

    const { exitCode, stdout, stderr } = await sprint[name]()

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(line)
    expect(stderr.split('\n').slice(1)).toEqual([''])
    expect(await sprint.contents()).toEqual(before)
    expect(await sprint.calls()).toEqual([])
  })

  it('refuses a folder that is missing', async () => {
    const sprint = await createTestSprint()
    const before = await sprint.contents()

    expect(await sprint.ralph(name, 'nowhere')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^nowhere  error SPRINT_NOT_FOUND  .*ralph init.*\n$/),
    })
    expect(await sprint.contents()).toEqual(before)
  })

  it('warns about an unknown field, suggests the likely one, and continues', async () => {
    const sprint = await createTestSprint({
      files: { 's/SPRINT.yaml': 'workflow: ralph\ngoal: g\ndone-wen: []\nlimits:\n  iteration: 3\n' },
      answers: { '*': { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' } },
    })

    const { exitCode, stderr } = await sprint[name]()

    expect(exitCode).toBe(0)
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^s\/SPRINT\.yaml:3:1  warning UNKNOWN_FIELD  done-wen .*did you mean "done-when"\?/),
      expect.stringMatching(
        /^s\/SPRINT\.yaml:5:3  warning UNKNOWN_FIELD  limits\.iteration .*did you mean "iterations"\?/,
      ),
    ])
  })
})

const refused = (line: RegExp) => ({ exitCode: 1, stdout: '', stderr: expect.stringMatching(line) })

describe('an agent program that is not installed', () => {
  const nothingInstalled = { PATH: '/nowhere' }

  it.each([
    [
      'named in SPRINT.yaml',
      { sprint: { agent: 'claude' }, env: nothingInstalled },
      [],
      /^error AGENT_NOT_FOUND  .*"claude".*--agent.*\n$/,
    ],
    [
      'named on the command line',
      { env: nothingInstalled },
      ['--agent', 'codex'],
      /^error AGENT_NOT_FOUND  .*"codex".*--agent.*\n$/,
    ],
    ['not named at all', { env: nothingInstalled }, [], /^error AGENT_NOT_FOUND  .*install.*\n$/],
    ['that no driver knows', {}, ['--agent', 'cloude'], /^error AGENT_UNKNOWN  .*"cloude".*claude.*\n$/],
  ] as const)('%s is refused on one line, with exit 1, and nothing is written', async (_, setup, args, line) => {
    const sprint = await createTestSprint(setup)
    const before = await sprint.contents()

    expect(await sprint.run(...args)).toEqual(refused(line))

    expect(await sprint.contents()).toEqual(before)
  })

  it('leaves no sprint folder behind when only a goal is given', async () => {
    const sprint = await createTestSprint({ env: nothingInstalled })
    const before = await sprint.contents()

    expect(await sprint.ralph('run', '--goal', 'tidy up')).toEqual(refused(/^error AGENT_NOT_FOUND  [^\n]*\n$/))
    expect(await sprint.ralph('run', 'new', '--goal', 'tidy up')).toEqual(refused(/^error AGENT_NOT_FOUND  [^\n]*\n$/))

    expect(await sprint.contents()).toEqual(before)
  })
})

it.each(['run', 'status', 'prompt'])(
  'ralph %s refuses an unreadable PROGRESS.yaml and does not change it',
  async (name) => {
    const sprint = await createTestSprint({ files: { 's/PROGRESS.yaml': 'status: [\n' } })
    const before = await sprint.contents()

    const { exitCode, stdout, stderr } = await sprint.ralph(name, 's')

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^\S*s\/PROGRESS\.yaml\S*  error PROGRESS_INVALID  [^\n]*\n$/)
    expect(await sprint.contents()).toEqual(before)
    expect(await sprint.calls()).toEqual([])
  },
)
