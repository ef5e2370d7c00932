import { mkdirSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { putProgram } from '../support/programs.ts'
import { createTestSprint, waitUntil, type Setup } from '../support/sprint.ts'
import { claim, confined, tried, tries } from './confined.ts'
import { findPodman } from './podman.ts'

const timeout = 240_000
const found = findPodman()
const container = 'container' in found ? found.container : undefined
const inContainer = (cell: object = {}): Setup => ({
  sprint: { sandbox: undefined, cell: { kind: 'container', container, ...cell } },
})

const listContainers = (): string =>
  spawnSync('podman', [...(container?.command ?? []).slice(1), 'ps', '--all', '--format', '{{.Names}}'], {
    encoding: 'utf8',
  }).stdout

describe.skipIf(container === undefined)('an agent in a container', { timeout }, () => {
  it('changes its project and its own state, and sees nothing else of the machine', async () => {
    const script = tries({
      project: 'touch made',
      temporary: 'touch /tmp/x',
      home: 'touch ~/x',
      state: 'touch ~/.claude/x',
      git: 'git -c user.name=u -c user.email=u@example.invalid commit --allow-empty -qm inside',
      secret: 'cat ~/.ssh/id_rsa',
      ralph: 'cat ~/.ralph/secret',
      system: 'touch /usr/bin/x',
      workflow: 'mkdir .claude/workflows/x',
      hook: 'touch .git/hooks/x',
      filter: 'mount -t tmpfs none /tmp',
      nested: 'unshare -U true',
      direct: 'curl -s -m 3 --noproxy "*" http://10.0.0.1',
      root: 'test $(id -u) = 0',
    })
    const sprint = await confined(`${script}\ncurl -s -m 5 https://evil.test/ || :`, inContainer())

    const { exitCode, stdout } = await sprint.run()

    expect([exitCode, await tried(sprint)]).toEqual([
      0,
      [
        'project',
        'temporary',
        'home',
        'state',
        'git',
        ...'secret ralph system workflow hook filter nested direct root'.split(' ').map((name) => `no-${name}`),
      ],
    ])
    expect(stdout).toContain('network: refused evil.test:443')
    expect((await sprint.progress()).walls).toMatchObject([
      { around: 'agents', cell: 'container', network: 'allow-list' },
    ])
    expect(await sprint.iterations()).toMatchObject([{ hosts: { refused: ['evil.test:443'] } }])
  })

  it('gets TERM and time to end, and its container is gone with it', async () => {
    const script = `trap 'echo ended >ended.txt; exit 0' TERM
(trap "" TERM; env -i setsid sleep 4711) &
echo started >started.txt
while :; do sleep 0.1; done`
    const before = listContainers()
    const sprint = await confined(script, inContainer())
    const run = sprint.startRun()
    await waitUntil('the agent', () => sprint.has('started.txt'))

    run.signal('SIGTERM')

    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(await sprint.read('ended.txt')).toBe('ended\n')
    expect(sprint.processes()).toEqual([])
    expect(listContainers()).toBe(before)
  })

  it('is held to its limits by the runtime', async () => {
    const bomb = `perl -e 'while (@p < 300) { $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } push @p, $p } print scalar @p; kill 9, @p' >count.txt`
    const hog = `perl -e '$x = "x" x (300 * 1024 ** 2); print length $x' >hog.txt 2>/dev/null; echo $? >>hog.txt`
    const sprint = await confined(
      `${bomb}\n${hog}`,
      inContainer({ limits: { processes: 60, memory: '128m', cpus: 0.5 } }),
    )

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout).toContain('limits: processes 60 (container), memory 128m (container), cpus 0.5 (container)')
    expect(Number(await sprint.read('count.txt'))).toBeLessThan(60)
    expect(await sprint.read('hog.txt')).toBe('137\n')
  })

  it('gets no more of the processors than its limit', async () => {
    const spin = `perl -e '$e = time + 4; $p = fork; 1 while time < $e; exit unless $p; wait; @t = times; print $t[0] + $t[1] + $t[2] + $t[3]' >cpu.txt`
    const sprint = await confined(spin, inContainer({ limits: { cpus: 0.25 } }))

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    // 5 s at most have passed; without the limit two processes take up to 8 s.
    expect(Number(await sprint.read('cpu.txt'))).toBeLessThan(0.25 * 5 + 0.3)
  })

  it.each(['.', '/tmp', '$HOME'])('is held to its disk limit per file, and in all, in %s', async (folder) => {
    const write = `dd if=/dev/zero of=${folder}/large bs=1M count=20 2>/dev/null; stat -c %s ${folder}/large >size.txt; rm ${folder}/large`
    const fill = `i=0; while :; do head -c 1000000 /dev/zero >${folder}/large-$i; i=$((i+1)); sleep 0.1; done`
    const sprint = await confined(`${write}\n${fill}`, inContainer({ limits: { disk: '8m' } }))

    const { exitCode, stdout } = await sprint.run('--max-iterations', '1')

    expect(exitCode).not.toBe(0)
    expect(await sprint.read('size.txt')).toBe(`${8 * 1024 ** 2}\n`)
    expect(stdout).toContain('disk 8m per file (rlimit)')
    expect(stdout).toContain('it wrote more than the disk limit of its cell allows')
  })

  it('runs in the image of devcontainer.json only if that image is here', async () => {
    const sprint = await createTestSprint({
      sprint: { cell: { container: { command: container?.command } } },
      answers: { 1: claim },
    })
    mkdirSync(sprint.at('.devcontainer'))
    writeFileSync(
      sprint.at('.devcontainer/devcontainer.json'),
      '{ // ours\n "image": "example.test/dev:1", "runArgs": ["--privileged"], }',
    )

    const { exitCode, stderr } = await sprint.run()

    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /SANDBOX_UNAVAILABLE.*no image example\.test\/dev:1 here; get it with ".*podman pull example\.test\/dev:1"/,
      ),
    ])
    expect(await sprint.calls()).toEqual([])
  })
})

describe('cell: container', { timeout }, () => {
  const refuse = async (cell: unknown, program?: string) => {
    const sprint = await createTestSprint({ sprint: { cell }, answers: { 1: claim }, env: { IS_SANDBOX: '' } })
    if (program !== undefined) await putProgram(sprint, 'podman', program)
    const { exitCode, stderr } = await sprint.run()
    expect([exitCode, await sprint.calls()]).toEqual([1, []])
    expect(
      stderr
        .trim()
        .split('\n')
        .filter((line) => line.includes('SANDBOX_UNAVAILABLE')),
    ).toHaveLength(1)
    return stderr
  }

  it('is refused in one line where no program can start containers', async () => {
    const stderr = await refuse({ container: { command: ['no-such-podman'] } })
    expect(stderr).toMatch(/requires a cell: no-such-podman is not installed/)
  })

  it('is refused with the reason of a program that cannot start one, e.g. without networking', async () => {
    const stderr = await refuse(
      'container',
      'case "$1" in image) exit 0;; esac; echo "WARN: x" >&2; echo "Error: could not find slirp4netns" >&2; exit 125',
    )
    expect(stderr).toMatch(/podman does not work here: Error: could not find slirp4netns/)
  })

  it('is refused with the command that builds our image where there is none', async () => {
    expect(await refuse('container', 'exit 1')).toMatch(
      /no image ralph-mode here; build it with ".*podman build -t ralph-mode /,
    )
  })

  it('is refused for limits that the program ignores', async () => {
    const stderr = await refuse({ kind: 'container', limits: { memory: '1g' } }, 'exit 0')
    expect(stderr).toMatch(/the sprint limits memory, which this machine cannot/)
  })
})
