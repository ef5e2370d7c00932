import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claude, codex } from '../agents/real-agents.ts'
import { createRealSprint, installed } from '../agents/real-sprint.ts'
import * as scenario from '../agents/scenarios.ts'
import { ralphProgram, root } from '../support/paths.ts'
import { prints, putProgram } from '../support/programs.ts'
import { createTestSprint, waitUntil } from '../support/sprint.ts'
import { bubblewrapFolder, claim, confined, says, tried, tries, works } from './confined.ts'

const folder = bubblewrapFolder
const why = works.bubblewrap ? '' : ' (SKIPPED: bubblewrap does not work here)'

describe.skipIf(why !== '')(`an agent in the sandbox${why}`, { timeout: 120_000 }, () => {
  it('changes its project, its state, caches, notes and its own temporary files', async () => {
    const commands = {
      project: 'echo x >new.txt',
      commit: 'git -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m x',
      state: 'echo x >~/.claude/session',
      cache: 'echo x >~/.npm/package',
      progress: 'cp s/PROGRESS.yaml s/copy && mv s/copy s/PROGRESS.yaml',
      notes: 'echo learned >s/LEARNINGS.md',
      temporary: 'echo x >/tmp/ralph-cell-x && echo y >"$TMPDIR/y" && test -f /var/tmp/ralph-cell-x',
    }
    const sprint = await confined(tries(commands))

    expect(await sprint.run()).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/sandbox: bubblewrap \d/) })
    expect(await tried(sprint)).toEqual(Object.keys(commands))
    expect(existsSync('/tmp/ralph-cell-x')).toBe(false)
    expect(existsSync(sprint.state('tmp/1-1'))).toBe(false)
  })

  it('changes nothing else', async () => {
    const commands = {
      keys: 'cat ~/.ssh/id_rsa',
      system: 'touch /etc/evil',
      settings: 'echo x >~/.claude/settings.json',
      workflow: 'mkdir -p .claude/workflows && touch .claude/workflows/ralph.yaml',
      program: 'echo x >>../bin/claude',
      journal: 'ls -d ~/.ralph/state/*/journal',
      attempts: 'touch ~/.ralph/state/*/attempts/evil',
      transcript: 'echo x >>s/transcripts/iteration-1.jsonl',
      'replace-transcript': 'rm s/transcripts/iteration-1.jsonl',
      id: 'echo x >s/.ralph-id',
      sprint: 'echo x >>s/SPRINT.yaml',
      request: 'ls -d ~/.ralph/state/*/requests',
      hook: 'echo x >.git/hooks/pre-commit',
      config: 'git config core.fsmonitor /tmp/evil',
      remount: 'mount -o remount,rw /',
      'ralphs-key': 'cat ~/.ralph/secret',
      others: 'kill -0 "$RALPH_TEST_PID"',
    }
    const elsewhere = 'echo x >~/evil; echo x >../evil'
    const script = `RALPH_TEST_PID=${process.pid}\n${elsewhere}\n${tries(commands)}`
    const sprint = await confined(script)

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await tried(sprint)).toEqual(Object.keys(commands).map((name) => `no-${name}`))
    expect([sprint.has('../home/evil'), sprint.has('../evil')]).toEqual([false, false])
    expect(await sprint.iterations()).toMatchObject([{ number: 1, verdict: 'accepted' }])
  })

  it('plants no hook from a worktree, which stays the one that it is', async () => {
    const commands = {
      hook: 'echo x >"$(git rev-parse --git-common-dir)/hooks/pre-commit"',
      'other-repository': 'echo "gitdir: /tmp/evil" >.git',
    }
    const commit = tries({ commit: 'git -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m x' })
    const sprint = await confined('', {
      files: { 'wf/p.yaml': 'name: P\nmode: standard\nphases: [{ id: one, prompt: Do it. }]\n' },
      sprint: { workflow: 'p', goal: null, worktree: { enabled: true, path: '../tree', cleanup: 'never' } },
    })
    const done = says({ status: 'completed', summary: 's' })
    await putProgram(sprint, 'claude', `${tries(commands)}\n${commit}\n${done}`)

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await sprint.read('../tree/tried.txt')).toBe('no-hook\nno-other-repository\ncommit\n')
  })

  it('leaves no repository that executes something, also in a folder that it closed', async () => {
    const script = `git init -q sub; git -C sub config core.fsmonitor evil; chmod 555 sub`
    const sprint = await confined(script, { obeysPermissions: true })

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/moved \S+sub\/\.git to \S+sub\/\.git\.moved-by-ralph-1: a program made this repository/)
    expect([sprint.has('sub/.git'), statSync(sprint.at('sub')).mode & 0o777]).toEqual([false, 0o555])
    chmodSync(sprint.at('sub'), 0o755)
  })

  it('sees the variables that it may see and no others, and no process but its own', async () => {
    const sprint = await confined('env | cut -d= -f1 | sort >names.txt; ls /proc | grep -c "^[0-9]" >processes.txt', {
      env: { SECRET_OF_USER: 'x', ANTHROPIC_API_KEY: 'k' },
    })

    await sprint.run()

    const names = (await sprint.read('names.txt')).split('\n')
    expect(names).toEqual(expect.arrayContaining(['ANTHROPIC_API_KEY', 'IS_SANDBOX', 'RALPH_SANDBOX']))
    expect(names).not.toContain('SECRET_OF_USER')
    expect(Number(await sprint.read('processes.txt'))).toBeLessThan(10)
  })

  it('gets TERM and time to end, and leaves nothing behind', async () => {
    const script = `trap 'echo ended >ended.txt; exit 0' TERM
(setsid sleep 4321 &) ; (sleep 4322 &)
echo started >started.txt
while :; do sleep 0.1; done`
    const sprint = await confined(script)
    const run = sprint.startRun()
    await waitUntil('the agent', () => sprint.has('started.txt'))

    run.signal('SIGTERM')

    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(await sprint.read('ended.txt')).toBe('ended\n')
    expect(sprint.processes()).toEqual([])
  })

  it('outlives a Ralph that is killed, and the next one takes its result', async () => {
    const script = 'echo once >>started.txt; while ! test -f go; do sleep 0.1; done'
    const sprint = await confined(script)
    const run = sprint.startRun()
    await waitUntil('the agent', () => sprint.has('started.txt'))
    run.signal('SIGKILL')
    await run.ended
    await sprint.write('go', '')

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await sprint.read('started.txt')).toBe('once\n')
  })

  it('can report by a tool', async () => {
    const call = `${process.execPath} ${root}/test/fixtures/agents/mcp-call.mjs ${ralphProgram} answer.txt finish '{"summary":"by tool","evidence":"e"}'`
    const sprint = await confined(call)
    await putProgram(
      sprint,
      'claude',
      `${call}\n${prints({ type: 'result', subtype: 'success', is_error: false, result: 'see above', session_id: 's', usage: {} })}`,
    )

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await sprint.progress()).toMatchObject({ 'ralph-exit': { 'final-summary': 'by tool\n\nEvidence: e' } })
  })

  it('has prompts of hooks in it too', async () => {
    const sprint = await confined(tries({ system: 'touch /usr/evil' }), {
      sprint: { 'per-iteration-hooks': [{ id: 'asks', prompt: 'look at it' }] },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await tried(sprint)).toEqual(['no-system', 'no-system'])
  })

  it.each([claude, codex])('reaches its model and no other host, if it is the real $name', async (agent) => {
    const programs = await installed(agent.installs)
    const look = 'curl -sm 5 https://evil.test; curl -sm 5 --noproxy "*" http://203.0.113.1; echo looked >looked.txt'
    const sprint = await createRealSprint(agent, [{ calls: [{ run: look }] }, scenario.claim], {
      sprint: { sandbox: 'required' },
      env: { IS_SANDBOX: '', PATH: `${programs}:${folder}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/sandbox: bubblewrap/) })
    expect([await sprint.read('looked.txt'), sprint.model.requests.length]).toEqual(['looked\n', 2])
    const [{ hosts } = {}] = await sprint.iterations()
    expect(hosts).toMatchObject({
      allowed: [new URL(sprint.model.url).host],
      refused: expect.arrayContaining(['evil.test:443']),
    })
    expect((await sprint.progress()).walls).toMatchObject([{ around: 'agents', network: 'allow-list' }])
  })

  it.each([claude, codex])(
    'never holds the key of its model, if it is the real $name and keys are placeholders',
    async (agent) => {
      const programs = await installed(agent.installs)
      const secret = 'sk-held-by-ralph-0123456789'
      const held = { ...agent, env: (url: string) => replaceKeys(agent.env?.(url) ?? {}, secret) }
      const sprint = await createRealSprint(held, [scenario.claim], {
        sprint: { cell: { kind: 'bubblewrap', keys: 'placeholder' } },
        env: {
          IS_SANDBOX: '',
          PATH: `${programs}:${folder}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
        },
      })

      const { exitCode, stdout } = await sprint.run()

      expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/sandbox: bubblewrap/)])
      const kept = spawnSync('grep', ['-rl', secret, sprint.at('..')], { encoding: 'utf8' }).stdout
      expect(kept).toBe('')
    },
  )
})

describe('where no cell works', () => {
  const refuses = 'echo "bwrap: No permissions to create a new namespace" >&2; exit 1'

  it('a sprint that requires a sandbox does not start', async () => {
    const sprint = await createTestSprint({ sprint: { sandbox: 'required' }, answers: { 1: claim } })
    for (const name of ['bwrap', 'unshare']) await putProgram(sprint, name, refuses)

    const { exitCode, stderr } = await sprint.run()

    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/SANDBOX_UNAVAILABLE.*does not work here: bwrap: No permissions/),
    })
    expect(await sprint.calls()).toEqual([])
  })

  it('any other runs without, and says why', async () => {
    const sprint = await createTestSprint({
      sprint: { 'done-when': [] },
      answers: { 1: claim },
      env: { IS_SANDBOX: '' },
    })
    for (const name of ['bwrap', 'unshare']) await putProgram(sprint, name, refuses)

    expect(await sprint.run()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/sandbox: none, because bubblewrap does not work here: bwrap: No permissions/),
    })
  })
})

it.each([
  ['off', {}, 'none, because "sandbox: off" says so'],
  ['auto', { IS_SANDBOX: '1' }, 'none, because IS_SANDBOX is set; "sandbox: required" adds one all the same'],
])('"sandbox: %s" with %o says what protects this run', async (sandbox, env, text) => {
  const sprint = await createTestSprint({ sprint: { sandbox, 'done-when': [] }, answers: { 1: claim }, env })

  expect((await sprint.run()).stdout).toContain(`sandbox: ${text}`)
})

/** Every key in these variables becomes this one. */
const replaceKeys = (env: Readonly<Record<string, string>>, key: string): Record<string, string> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, name.endsWith('_KEY') ? key : value]))
