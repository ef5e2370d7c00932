import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { root } from '../support/paths.ts'
import { putProgram } from '../support/programs.ts'
import { createTestSprint } from '../support/sprint.ts'
import { inTerminal } from '../support/terminal.ts'

const templates = readdirSync(join(root, 'assets/templates')).map((file) => basename(file, '.yaml'))

const withTests = { 'package.json': '{"scripts":{"test":"test -f done.txt"}}' }

/** Its tests are red until the agent has worked; the fixture also writes everything else a template requires. */
const scenario = stringify({
  turns: [
    {
      when: '^# Ralph: planning',
      report: { status: 'continue', summary: 'Planned.', pendingSteps: [{ id: null, prompt: 'Do it.' }] },
    },
    {
      when: '^## Current step: ',
      do: [
        { write: 'done.txt', content: 'done\n' },
        { write: 'RESEARCH.md', content: 'Yes.\n' },
      ],
      report: { status: 'goal-complete', summary: 'Done.', completedStepIds: ['$STEP'], goalCompleteSummary: 'Done.' },
    },
    { say: 'A hook.' },
  ],
})

describe('templates', () => {
  it('exist for common tasks', async () => {
    const sprint = await createTestSprint()
    const { stdout } = await sprint.ralph('init', '--list-templates', '--json')

    expect(templates).toEqual(['bug', 'docs', 'feature', 'migration', 'refactor', 'research', 'tests'])
    expect(JSON.parse(stdout)).toEqual({
      templates: templates.map((name) => ({ name, summary: expect.stringMatching(/^[A-Z].{20,}\.$/) })),
    })
  })

  it.each(templates)('%s runs to its end unchanged, with the scripted agent', async (template) => {
    const sprint = await createTestSprint({ env: { RALPH_SCRIPTED_PACE: '0' } })
    const flags = ['--goal', 'It works: a & b', '--agent', 'scripted', '--check', 'test -f done.txt']
    const made = await sprint.ralph('init', '2026-11-15_x', '--template', template, ...flags)
    expect(made).toEqual({ exitCode: 0, stdout: expect.stringContaining('SPRINT.yaml written'), stderr: '' })
    await sprint.write('.claude/sprints/2026-11-15_x/SCENARIO.yaml', scenario)

    const { exitCode, stderr } = await sprint.ralph('run', '.claude/sprints/2026-11-15_x')

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const progress = parse(await sprint.read('.claude/sprints/2026-11-15_x/PROGRESS.yaml'))
    const { status, goal, 'ralph-exit': end } = progress
    expect({ status, unchecked: end.unchecked }).toEqual({ status: 'completed', unchecked: undefined })
    expect(goal).toMatch(/^It works: a & b\n\nSuccess criteria:\n- /)
  })

  it('contain the given checks, agent and limits, and keep their comments', async () => {
    const sprint = await createTestSprint({ files: withTests })
    const flags = [
      '--check',
      'make "all"',
      '--agent',
      'codex',
      '-n',
      '7',
      '--budget-usd',
      '1.5',
      '--max-duration',
      '30m',
    ]
    await sprint.ralph('init', '2026-11-15_x', '-t', 'refactor', '--goal', 'g', ...flags)

    const text = await sprint.read('.claude/sprints/2026-11-15_x/SPRINT.yaml')
    expect(parse(text)).toMatchObject({
      'done-when': [{ run: 'make "all"', 'each-iteration': true }],
      agent: 'codex',
      limits: { iterations: 7, usd: 1.5, duration: '30m' },
    })
    expect(text).toMatch(/^# yaml-language-server: \$schema=\S+\/sprint\.schema\.json\n# A refactoring: /)
    expect(text).toContain('# It stops here and can be resumed with more.')
  })

  it.each([
    ['what the project has', withTests, [{ run: 'npm test', 'each-iteration': true }]],
    ['nothing, to be looked for at the start, if it has none', {}, undefined],
  ])('name as checks %s', async (_, files, checks) => {
    const sprint = await createTestSprint({ files })
    await sprint.ralph('init', '2026-11-15_x', '--template', 'migration', '--goal', 'g')

    expect(parse(await sprint.read('.claude/sprints/2026-11-15_x/SPRINT.yaml'))['done-when']).toEqual(checks)
    expect(await sprint.ralph('compile', '.claude/sprints/2026-11-15_x')).toMatchObject({ exitCode: 0, stderr: '' })
  })

  it('get different folders when the same goal is started twice', async () => {
    const sprint = await createTestSprint()
    const folders = []
    for (const template of ['bug', 'tests']) {
      const { stdout } = await sprint.ralph('init', '--template', template, '--goal', 'Same goal', '--json')
      folders.push(JSON.parse(stdout))
    }

    expect(folders).toEqual([
      { folder: expect.stringMatching(/_same-goal$/) },
      { folder: expect.stringMatching(/_same-goal-2$/) },
    ])
  })

  it('that do not exist are refused with a suggestion', async () => {
    const sprint = await createTestSprint()
    expect(await sprint.ralph('init', '--template', 'featur')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/error USAGE .*"featur" \(did you mean feature\?/),
    })
  })
})

describe('questions on a terminal', () => {
  it('ask for goal, check, agent and limits; Enter accepts the default', async () => {
    const sprint = await createTestSprint({ files: withTests })
    const terminal = inTerminal(sprint, ['init', '2026-11-15_x'])
    await terminal.sees('What should the agent achieve?')
    terminal.type('Teach it to read\r')
    await terminal.sees('[npm test]')
    terminal.type('\r')
    await terminal.sees('claude')
    terminal.type('\r')
    await terminal.sees('iterations [40]')
    terminal.type('many\r')
    await terminal.sees('"many" is not a valid limit')
    terminal.type('5\r')
    await terminal.sees('dollars [10]')
    terminal.type('\r')
    await terminal.sees('[off]')
    terminal.type('\r')

    expect(await terminal.ended).toBe(0)
    expect(parse(await sprint.read('.claude/sprints/2026-11-15_x/SPRINT.yaml'))).toEqual({
      workflow: 'ralph',
      goal: 'Teach it to read',
      'done-when': [{ run: 'npm test' }],
      agent: 'claude',
      limits: { iterations: 5, usd: 10, duration: 'off' },
    })
    expect(await sprint.ralph('compile', '.claude/sprints/2026-11-15_x')).toMatchObject({ exitCode: 0, stderr: '' })
  })

  it('accept another check and another agent', async () => {
    const sprint = await createTestSprint({ files: withTests })
    await putProgram(sprint, 'codex', 'exit 1')
    const terminal = inTerminal(sprint, ['init', '2026-11-15_x', '--goal', 'g', '-n', '3', '--budget-usd', '2'])
    await terminal.sees('[npm test]')
    terminal.type('none\r')
    await terminal.sees('2 codex')
    terminal.type('9\r')
    await terminal.sees('"9" is not installed')
    await terminal.sees('2 codex')
    terminal.type('2\r')
    await terminal.sees('[off]')
    terminal.type('1h\r')

    expect(await terminal.ended).toBe(0)
    expect(parse(await sprint.read('.claude/sprints/2026-11-15_x/SPRINT.yaml'))).toEqual({
      workflow: 'ralph',
      goal: 'g',
      'done-when': [],
      agent: 'codex',
      limits: { iterations: 3, usd: 2, duration: '1h' },
    })
  })

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('leave nothing behind after %s', async (_, key) => {
    const sprint = await createTestSprint({ files: withTests })
    const before = await sprint.contents()
    const terminal = inTerminal(sprint, ['init'])
    await terminal.sees('What should the agent achieve?')
    terminal.type('Half\r')
    await terminal.sees('[npm test]')
    terminal.type(key)

    expect(await terminal.ended).toBe(130)
    expect(terminal.shown()).toContain('nothing was written')
    expect(await sprint.contents()).toEqual(before)
  })

  it('are skipped with --yes', async () => {
    const sprint = await createTestSprint({ files: withTests })
    const terminal = inTerminal(sprint, ['init', '2026-11-15_x', '--yes'])

    expect(await terminal.ended).toBe(0)
    expect(terminal.shown()).toBe(
      '.claude/sprints/2026-11-15_x/SPRINT.yaml written\nfill in the goal, then: ralph run x\n',
    )
  })
})
