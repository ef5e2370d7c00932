import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createTestSprint, waitUntil } from '../support/sprint.ts'
import { inTerminal } from '../support/terminal.ts'

const proceed = { status: 'continue', summary: 'on' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }
const today = () => new Date().toISOString().slice(0, 10)
const noYaml = { 's/SPRINT.yaml': null, 'wf/ralph.yaml': null }
const createProject = (answers: Parameters<typeof createTestSprint>[0] = {}) =>
  createTestSprint({ ...answers, files: { ...noYaml, ...answers.files } })
const folder = (name: string) => `.claude/sprints/${today()}_${name}`

describe('limits of a goal', () => {
  it('are in SPRINT.yaml, hold when the sprint is resumed, and the hint names the flag that raises them', async () => {
    const sprint = await createProject({ answers: { '*': proceed } })

    const first = await sprint.ralph('run', '--goal', 'Do parts', '-n', '2')
    expect(first).toMatchObject({
      exitCode: 3,
      stdout: expect.stringMatching(
        /limits +2 iterations, \$20\n[\s\S]*resume with a higher limit: ralph run do-parts --max-iterations 4\n/,
      ),
    })
    expect(parse(await sprint.read(`${folder('do-parts')}/SPRINT.yaml`))).toMatchObject({
      limits: { iterations: 2, usd: 20 },
    })
    expect(await sprint.ralph('run', 'do-parts')).toMatchObject({ exitCode: 3 })
    expect(await sprint.calls()).toHaveLength(2)

    expect(await sprint.ralph('run', 'do-parts', '--max-iterations', '3')).toMatchObject({ exitCode: 3 })
    expect(await sprint.calls()).toHaveLength(3)
    expect(await sprint.ralph('run', 'do-parts')).toMatchObject({ exitCode: 3 })
    expect(await sprint.calls()).toHaveLength(3)
  })
})

describe('an answer', () => {
  const asks = {
    status: 'needs-human',
    summary: 's',
    humanNeeded: {
      reason: 'Keep underscores?',
      details: 'The old parser keeps them.',
      options: ['keep', 'replace'],
      default: 'replace',
    },
  }

  it.each([
    ['by number', ['answer', '2'], 'replace'],
    ['by text', ['answer', 'keep', 'only in names'], 'only in names'],
  ])('%s reaches the agent with the question and all options', async (_, args, chosen) => {
    const sprint = await createProject({ answers: { 1: asks, 2: goalComplete } })
    expect(await sprint.ralph('run', '--goal', 'keep')).toMatchObject({ exitCode: 2 })

    expect(await sprint.ralph(...args)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(chosen) })
    expect(await sprint.ralph('run')).toMatchObject({ exitCode: 0 })

    const [, second] = await sprint.calls()
    expect(second?.prompt).toContain(
      `## A person answered\n\nQuestion: Keep underscores?\n\nThe old parser keeps them.\n\nOptions:\n1. keep\n2. replace\n\nAnswer: ${chosen}`,
    )
  })

  it.each([
    ['a number that no option has', ['answer', '3'], /^error USAGE  answer: there is no option 3 \(choose 1 to 2/],
    ['no text', ['answer'], /^error USAGE  answer: missing \[answer\] to: Keep underscores\?/],
  ])('is refused if it has %s', async (_, args, line) => {
    const sprint = await createProject({ answers: { 1: asks } })
    await sprint.ralph('run', '--goal', 'ask')

    expect(await sprint.ralph(...args)).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(line) })
  })
})

describe('names', () => {
  it('are accepted as nothing, short, by their beginning, as a folder, as a path and as SPRINT.yaml; short ones by every command', async () => {
    const sprint = await createProject({ answers: { 1: proceed } })
    execFileSync('git', ['init', '--quiet'], { cwd: sprint.at() })
    await sprint.ralph('run', 'Grüße an alle', '-n', '1')

    for (const args of [['watch'], ['logs'], ['diff'], ['prompt'], ['compile'], ['report']] as const) {
      const { exitCode, stdout, stderr } = await sprint.ralph(...args, 'gruesse-an-alle')
      expect({ args, exitCode, stderr }).toEqual({ args, exitCode: args[0] === 'watch' ? 3 : 0, stderr: '' })
      expect(stdout).not.toBe('')
    }
    expect((await sprint.ralph('status', 'gruesse-an-alle')).stdout).toMatch(/gruesse-an-alle/)
    expect(await sprint.ralph('tell', 'gruesse-an-alle', 'be brief')).toMatchObject({ exitCode: 0 })
    const path = folder('gruesse-an-alle')
    for (const named of [[], ['gru'], [`${today()}_gruesse-an-alle`], [path], [`${path}/SPRINT.yaml`]]) {
      const { exitCode, stdout } = await sprint.ralph('prompt', ...named)
      expect({ named, exitCode, prompt: stdout.includes('Grüße an alle') }).toEqual({
        named,
        exitCode: 0,
        prompt: true,
      })
    }
    expect(await sprint.ralph('tell', 'be brief')).toMatchObject({ exitCode: 0 })
  })

  it('are cut at words, and keep other scripts', async () => {
    const sprint = await createProject({ answers: { '*': goalComplete } })
    await sprint.ralph('run', 'Make all tests pass without changing them at all')
    for (const goal of ['修复 登录', '日本語だけ', '테스트 통과 🎉️', 'мой край']) {
      const { stdout } = await sprint.ralph('run', '--goal', goal, '--dry-run')
      expect(stdout).toContain(`${today()}_${goal.replace(' 🎉️', '').replace(' ', '-')} `)
    }

    expect((await sprint.ralph('list')).stdout).toMatch(/^make-all-tests-pass-without-changing {2}/m)
  })

  it('choose the latest of several, say so, and refuse an ambiguous beginning', async () => {
    const sprint = await createProject({ answers: { '*': goalComplete } })
    await sprint.ralph('run', 'fix one')
    await sprint.ralph('run', 'fix two')

    expect(await sprint.ralph('logs')).toMatchObject({
      exitCode: 0,
      stderr: 'sprint fix-two, the latest of 2; see: ralph list\n',
    })
    expect(await sprint.ralph('logs', '--json')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await sprint.ralph('logs', 'fix')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error USAGE  "fix" matches 2 sprints \(fix-one, fix-two\)\n$/),
    })
    expect(await sprint.ralph('logs', 'fix-tow')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/SPRINT_NOT_FOUND .*did you mean fix-two\?/),
    })
  })
})

describe('a goal', () => {
  it.each([
    ['a file', ['run', '--goal', '@GOAL.md']],
    ['--goal-file', ['run', '--goal-file', 'GOAL.md']],
    ['an argument', ['run', 'Make all tests pass']],
  ])('is read from %s', async (_, args) => {
    const sprint = await createProject({ files: { 'GOAL.md': 'Make all tests pass' }, answers: { '*': goalComplete } })

    expect(await sprint.ralph(...args)).toMatchObject({ exitCode: 0 })

    expect((await sprint.calls())[0]?.prompt).toContain('Make all tests pass')
  })

  it('is read from stdin', async () => {
    const sprint = await createProject({ answers: { '*': goalComplete } })
    const terminal = inTerminal(sprint, ['run', '--goal', '-', '--plain', '--check', 'none'])
    terminal.type('Make all tests pass\n\u0004')

    expect(await terminal.ended).toBe(0)
    expect((await sprint.calls())[0]?.prompt).toContain('Make all tests pass')
  })

  it('is read from stdin before a run in the background starts', async () => {
    const sprint = await createProject({ answers: { '*': goalComplete } })
    const terminal = inTerminal(sprint, ['run', '--goal', '-', '--detach', '--check', 'none'])
    terminal.type('Make all tests pass\n\u0004')

    expect(await terminal.ended).toBe(0)
    await sprint.called(1)
    expect((await sprint.calls())[0]?.prompt).toContain('Make all tests pass')
    await waitUntil('the end', async () => (await sprint.ralph('status')).stdout.includes('completed'))
  })

  it.each([
    ['a placeholder', ['run', 'todo'], /RALPH_MISSING_GOAL {2}the goal is still the placeholder/],
    ['one word that is no sprint', ['run', 'refactor'], /SPRINT_NOT_FOUND .*ralph run --goal "refactor"/],
    ['a path that is not there', ['run', 'a/b c'], /SPRINT_NOT_FOUND/],
    ['a file that is not there', ['run', '--goal', '@none.md'], /FILE_NOT_FOUND/],
    ['no file', ['run', '--goal', '@'], /USAGE {2}name a file with the goal/],
    ['a file in UTF-16', ['run', '--goal', '@utf16.md'], /^utf16\.md {2}error FILE_UNREADABLE .*UTF-8/],
    ['two goals', ['run', '--goal', 'x', '--goal-file', 'y'], /USAGE/],
    ['--resume and --new', ['run', '--goal', 'x', '--resume', '--new'], /USAGE/],
    ['--resume without a sprint', ['run', '--goal', 'x y', '--resume'], /USAGE .*no unfinished sprint/],
  ])('is refused if it is %s, and no agent starts', async (_, args, line) => {
    const sprint = await createProject({ files: { 'utf16.md': 'F\0i\0x' }, answers: { '*': goalComplete } })
    await sprint.ralph('init', 'todo', '--yes')
    const before = await sprint.contents()

    expect(await sprint.ralph(...args)).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(line) })

    expect(await sprint.contents()).toEqual(before)
    expect(await sprint.calls()).toEqual([])
  })
})

describe('the same command', () => {
  it('resumes an unfinished sprint after kill -9, and starts a new one with --new', async () => {
    const sprint = await createProject({ answers: { 1: { waits: 'go', report: proceed }, '*': goalComplete } })
    const command = ['run', '--goal', 'Do parts', '-n', '5', '--check', 'true'] as const
    const killed = sprint.start(...command)
    await sprint.called(1)
    killed.signal('SIGKILL')
    await killed.ended
    await sprint.release('go')

    // Refuses flags that only a new sprint can follow; it does not ignore them.
    for (const more of [['--check', 'test -f other'], ['--worktree']]) {
      const refused = await sprint.ralph('run', '--goal', 'Do parts', ...more)
      expect({ more, ...refused }).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(new RegExp(`USAGE {2}run: ${more[0]} belongs to a new sprint.*--new`)),
      })
    }
    expect(await sprint.ralph(...command, '--proof', 'optional')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^resuming: do-parts has this goal and is not finished .*--new\n/),
    })
    expect(await sprint.calls()).toHaveLength(2)
    expect((await sprint.ralph('list')).stdout.trim().split('\n')).toHaveLength(2)
  })

  it('on a finished sprint runs the checks again on the current files', async () => {
    const sprint = await createProject({
      files: { 'check.sh': 'test -f fixed\n' },
      answers: { 1: { run: 'touch fixed', report: goalComplete } },
    })
    expect(await sprint.ralph('run', 'Fix it all', '--check', 'sh check.sh')).toMatchObject({ exitCode: 0 })

    expect(await sprint.ralph('run', 'fix-it-all')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/check sh check\.sh {2}✓ passed[\s\S]*its checks still pass/),
    })
    execFileSync('rm', [sprint.at('fixed')])
    expect(await sprint.ralph('run', 'fix-it-all')).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/no longer true.*sh check\.sh fails now \(exit code 1\)/),
    })
    expect(await sprint.calls()).toHaveLength(1)
  })

  it('continues from a finished sprint with follow-up, which names what was done', async () => {
    const sprint = await createProject({ answers: { '*': goalComplete } })
    await sprint.ralph('run', 'Build the parser')
    expect(await sprint.ralph('follow-up', 'Now document it')).toMatchObject({ exitCode: 0 })

    const [, second] = await sprint.calls()
    expect(second?.prompt).toMatch(/Now document it[\s\S]*reached the goal "Build the parser"[\s\S]*PROGRESS\.yaml/)
    expect(parse(await sprint.read(`${folder('now-document-it')}/SPRINT.yaml`))).toMatchObject({
      limits: { iterations: 50 },
    })
  })
})

describe('two sprints in one work tree', () => {
  it('D19: do not run at once: the second is refused, and --worktree gives it files of its own', async () => {
    const sprint = await createProject({
      answers: { 1: { waits: 'go', report: goalComplete }, '*': { run: 'echo x > made', report: goalComplete } },
    })
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: sprint.at() })
    git('init', '--quiet')
    git('commit', '--quiet', '--allow-empty', '-m', 'start')
    const first = sprint.start('run', 'do parts')
    await sprint.called(1)

    expect(await sprint.ralph('run', 'other work')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /WORK_TREE_BUSY {2}the sprint do-parts \(pid \d+\) works on these files .*--worktree/,
      ),
    })
    const own = await sprint.ralph('run', 'other work', '--worktree')
    expect(own).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/worktree[^]*git merge sprint\/\S+other-work\n/),
    })
    expect(await sprint.ralph('diff', 'other-work')).toMatchObject({ exitCode: 0, stderr: '' })
    await sprint.release('go')
    expect(await first.ended).toMatchObject({ exitCode: 0 })
    expect(await sprint.ralph('run', 'more work')).toMatchObject({ exitCode: 0 })
  })
})

describe('in the background', () => {
  it('runs with --detach, is watched and stopped by name or by nothing', async () => {
    const sprint = await createProject({ answers: { '*': { waits: 'go', report: proceed } } })

    const started = await sprint.ralph('run', 'do parts', '--detach')
    expect(started).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^do-parts runs in the background \(pid \d+\)\nwatch it with: ralph watch do-parts/,
      ),
    })
    await sprint.called(1)
    const watched = sprint.start('watch', '--plain')
    await waitUntil('the watcher', () => watched.printed().includes('do-parts'))
    expect(await sprint.ralph('stop', '--now')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^do-parts stops now \(pid \d+ .*\); resume with: ralph run do-parts\n$/),
    })
    expect(await watched.ended).toMatchObject({ exitCode: 130 })
    await waitUntil('the end', async () => (await sprint.ralph('status', 'do-parts')).stdout.includes('interrupted'))
  })
})

describe('a dry run', () => {
  it('shows the first prompt and then what the run depends on, and writes nothing', async () => {
    const sprint = await createProject({ files: { 'package.json': '{"scripts":{"test":"node --test"}}' } })
    const before = await sprint.contents()

    const { exitCode, stdout } = await sprint.ralph('run', 'Make all tests pass', '--check', 'npm test', '--dry-run')

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      /first prompt[\s\S]*Make all tests pass[\s\S]*agent +claude[\s\S]*sandbox[\s\S]*git +not a repository[\s\S]*done when +npm test[\s\S]*limits +50 iterations, \$20/,
    )
    expect(await sprint.contents()).toEqual(before)
  })

  it('fails if the check can never start', async () => {
    const sprint = await createProject()

    expect(await sprint.ralph('run', 'Fix it all', '--check', 'nonexistent-cmd-xyz', '--dry-run')).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('nonexistent-cmd-xyz: its program was not found'),
    })
  })
})

describe('a check that cannot start', () => {
  it('is corrected by the same command with another --check, in a new sprint', async () => {
    const sprint = await createProject({ answers: { '*': { run: 'echo x > made', report: goalComplete } } })
    expect(await sprint.ralph('run', 'fix it all', '--check', 'nonexistent-cmd-xyz')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/CHECK_NOT_STARTED .*name another command: --check with the same goal/),
    })

    expect(await sprint.ralph('run', 'fix it all', '--check', 'test -f made')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/new sprint in \S+_fix-it-all-2\n/),
    })
    expect(await sprint.calls()).toHaveLength(1)
  })
})

describe('an agent that is not signed in', () => {
  it('stops the sprint with what to do, and the next run continues by itself after the sign-in', async () => {
    const refused = { type: 'result', is_error: true, api_error_status: 401, result: 'Please run /login' }
    const sprint = await createProject({
      answers: {
        1: { lines: [JSON.stringify(refused)], exit: 1 },
        2: { lines: [JSON.stringify(refused)], exit: 1 },
        3: goalComplete,
      },
    })
    expect(await sprint.ralph('run', 'fix the login')).toMatchObject({
      exitCode: 2,
      stdout: expect.stringMatching(/\/login\n[\s\S]*sign in with: claude {3}then: ralph run fix-the-login/),
    })
    expect(await sprint.ralph('run')).toMatchObject({
      exitCode: 2,
      stdout: expect.stringContaining('sign in with: claude'),
    })

    expect(await sprint.ralph('run')).toMatchObject({ exitCode: 0 })
    expect(await sprint.calls()).toHaveLength(3)
  })
})

describe('an agent that misses an environment variable', () => {
  const message = 'Missing environment variable: `STUB_KEY`.'
  const refused = { type: 'result', is_error: true, api_error_status: 401, result: message }

  it.each([
    ['in its result', { lines: [JSON.stringify(refused)], exit: 1 }],
    ['on stderr', { stderr: `${message}\n`, exit: 1 }],
  ])('%s stops at once, without a retry, and names the variable and the line for SPRINT.yaml', async (_, answer) => {
    const sprint = await createProject({ answers: { '*': answer } })

    expect(await sprint.ralph('run', 'fix the provider')).toMatchObject({
      exitCode: 2,
      stdout: expect.stringContaining('set STUB_KEY, add "env: { pass: [STUB_KEY] }" to SPRINT.yaml, then: ralph run'),
    })
    expect(await sprint.ralph('run')).toMatchObject({ exitCode: 2 })
    expect(await sprint.calls()).toHaveLength(1)
  })
})

describe('the sprints of a project', () => {
  it('do not appear in git status', async () => {
    const sprint = await createProject({ answers: { '*': goalComplete } })
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: sprint.at(), encoding: 'utf8' })
    git('init', '--quiet')

    expect((await sprint.ralph('run', 'tidy it up')).stderr).toContain('.git/info/exclude')
    expect((await sprint.ralph('run', 'tidy it more')).stderr).not.toContain('.git/info/exclude')
    expect(git('status', '--porcelain')).not.toContain('.claude')
  })
})
