import { describe, expect, it } from 'vitest'
import { aSprint, type Setup } from '../support/sprint.ts'

const sprintYaml = (text: string): Setup => ({ files: { 's/SPRINT.yaml': text } })

/** What is wrong, the code, where it is said to be, and what to do about it. */
type Row = readonly [what: string, setup: Setup, code: string, place: string, advice: RegExp]

const rows: readonly Row[] = [
  [
    'no SPRINT.yaml',
    { files: { 's/SPRINT.yaml': null, 's/notes.txt': '' } },
    'SPRINT_LOAD_ERROR',
    's/SPRINT.yaml',
    /ralph init/,
  ],
  [
    'a SPRINT.yaml that cannot be read',
    { files: { 's/SPRINT.yaml': null, 's/SPRINT.yaml/x': '' } },
    'FILE_UNREADABLE',
    's/SPRINT.yaml',
    /read/,
  ],
  ['an empty SPRINT.yaml', sprintYaml(''), 'INVALID_SPRINT', 's/SPRINT.yaml:1:1', /fields/],
  ['a SPRINT.yaml of comments only', sprintYaml('# later\n'), 'INVALID_SPRINT', 's/SPRINT.yaml:1:1', /fields/],
  [
    'a SPRINT.yaml that is one sentence',
    sprintYaml('please make it work\n'),
    'INVALID_SPRINT',
    's/SPRINT.yaml:1:1',
    /fields/,
  ],
  [
    'an unclosed bracket',
    sprintYaml('workflow: ralph\ngoal: g\ndone-when: [\n'),
    'SPRINT_LOAD_ERROR',
    's/SPRINT.yaml:',
    /./,
  ],
  [
    'a tab for indentation',
    sprintYaml('workflow: ralph\ngoal: g\nlimits:\n\titerations: 3\n'),
    'SPRINT_LOAD_ERROR',
    's/SPRINT.yaml:4:1',
    /tab/i,
  ],
  [
    'a key twice',
    sprintYaml('workflow: ralph\ngoal: g\ngoal: h\n'),
    'SPRINT_LOAD_ERROR',
    's/SPRINT.yaml:3:1',
    /twice/i,
  ],
  ['no workflow', sprintYaml('goal: g\n'), 'MISSING_WORKFLOW', 's/SPRINT.yaml:1:1', /workflow/],
  [
    'a workflow that does not exist',
    sprintYaml('workflow: rolf\ngoal: g\n'),
    'MAIN_WORKFLOW_NOT_FOUND',
    's/SPRINT.yaml:1:11',
    /workflow: ralph/,
  ],
  ['no goal', sprintYaml('workflow: ralph\n'), 'RALPH_MISSING_GOAL', 's/SPRINT.yaml:1:1', /goal/],
  [
    'a goal that is a list',
    sprintYaml('workflow: ralph\ngoal: [a, b]\n'),
    'RALPH_MISSING_GOAL',
    's/SPRINT.yaml:2:7',
    /text/,
  ],
  [
    'a check that is a number',
    sprintYaml('workflow: ralph\ngoal: g\ndone-when:\n  - 7\n'),
    'INVALID_FIELD',
    's/SPRINT.yaml:4:5',
    /map of fields/,
  ],
  [
    'a duration without a unit',
    sprintYaml('workflow: ralph\ngoal: g\ntimeouts: { idle: 30 }\n'),
    'INVALID_FIELD',
    's/SPRINT.yaml:3:19',
    /text|30s/,
  ],
  [
    'a limit below one',
    sprintYaml('workflow: ralph\ngoal: g\nlimits:\n  iterations: 0\n'),
    'INVALID_FIELD',
    's/SPRINT.yaml:4:15',
    /at least 1/,
  ],
  [
    'an agent that nobody knows',
    sprintYaml('workflow: ralph\ngoal: g\nagent: cloude\n'),
    'AGENT_UNKNOWN',
    's/SPRINT.yaml:3:8',
    /claude/,
  ],
  [
    'a workflow with a syntax error',
    { files: { 'wf/ralph.yaml': 'name: R\nmode: [ralph\n' } },
    'WORKFLOW_PARSE_ERROR',
    'wf/ralph.yaml:',
    /./,
  ],
]

describe.each(['compile', 'run'] as const)('ralph %s', (name) => {
  it.each(rows)('refuses %s on one line, with exit 1, and writes nothing', async (_, setup, code, place, advice) => {
    const sprint = await aSprint(setup)
    const before = await sprint.contents()

    const { exitCode, stderr } = await sprint[name]()

    expect(exitCode).toBe(1)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stderr).toMatch(new RegExp(`^\\S*${escaped(place)}\\S*  error ${code}  `))
    expect(stderr).toMatch(advice)
    expect(await sprint.contents()).toEqual(before)
    expect(await sprint.calls()).toEqual([])
  })

  it('tells line and column of a syntax error', async () => {
    const sprint = await aSprint(sprintYaml('workflow: ralph\ngoal: "never closed\n'))

    const { exitCode, stderr } = await sprint[name]()

    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^s\/SPRINT\.yaml:[23]:\d+  error SPRINT_LOAD_ERROR  /)
  })

  it('refuses a folder that is missing', async () => {
    const sprint = await aSprint()
    const before = await sprint.contents()

    expect(await sprint.ralph(name, 'nowhere')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^nowhere  error SPRINT_NOT_FOUND  .*ralph init.*\n$/),
    })
    expect(await sprint.contents()).toEqual(before)
  })

  it('warns of a field that it does not know, says what was probably meant, and goes on', async () => {
    const sprint = await aSprint({
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

describe('an agent program that is not found', () => {
  const nothingInstalled = { PATH: '/nowhere' }
  const refused = (line: RegExp) => ({ exitCode: 1, stdout: '', stderr: expect.stringMatching(line) })

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
    const sprint = await aSprint(setup)
    const before = await sprint.contents()

    expect(await sprint.run(...args)).toEqual(refused(line))

    expect(await sprint.contents()).toEqual(before)
  })

  it('leaves no sprint folder behind when there is only a goal', async () => {
    const sprint = await aSprint({ env: nothingInstalled })
    const before = await sprint.contents()

    expect(await sprint.ralph('run', '--goal', 'tidy up')).toEqual(refused(/^error AGENT_NOT_FOUND  [^\n]*\n$/))
    expect(await sprint.ralph('run', 'new', '--goal', 'tidy up')).toEqual(refused(/^error AGENT_NOT_FOUND  [^\n]*\n$/))

    expect(await sprint.contents()).toEqual(before)
  })
})

it.each(['run', 'status', 'prompt'])(
  'ralph %s refuses a PROGRESS.yaml that it cannot read and leaves it alone',
  async (name) => {
    const sprint = await aSprint({ files: { 's/PROGRESS.yaml': 'status: [\n' } })
    const before = await sprint.contents()

    const { exitCode, stdout, stderr } = await sprint.ralph(name, 's')

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^\S*s\/PROGRESS\.yaml\S*  error PROGRESS_INVALID  [^\n]*\n$/)
    expect(await sprint.contents()).toEqual(before)
    expect(await sprint.calls()).toEqual([])
  },
)

const escaped = (text: string) => text.replaceAll('.', String.raw`\.`)
