import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCgroupParent } from '../../src/platform/processes/cgroups.ts'
import { putProgram } from '../support/programs.ts'
import { createTestSprint } from '../support/sprint.ts'
import { claim, confined, saysText, tried, tries, workingCells, works } from './confined.ts'

const timeout = 120_000
const canLimitProcessors = findCgroupParent('cpu') !== undefined

/** `sandbox` of the common setup goes, since `cell` says all. */
const inCell = (cell: unknown, more: object = {}) => ({ sprint: { sandbox: undefined, cell, ...more } })

describe.each(workingCells)('a sprint with cell: %s', { timeout }, (cell) => {
  it('runs commands of hooks and gates inside, but for a hook that says cell: none', async () => {
    const commands = { secret: 'cat ~/.ssh/id_rsa', outside: 'touch ../outside', project: 'touch by-hook' }
    const sprint = await confined('', {
      ...inCell(cell, {
        'per-iteration-hooks': [
          { id: 'walled', run: tries(commands), parallel: false },
          { id: 'mine', run: 'touch ../mine; echo "$SECRET_OF_USER" >secret.txt', cell: 'none', parallel: false },
          { id: 'variables', run: 'env | cut -d= -f1 >names.txt', parallel: false },
        ],
      }),
      env: { SECRET_OF_USER: 'x' },
    })

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(await tried(sprint)).toEqual(['no-secret', 'outside', 'project'])
    expect([sprint.has('../outside'), sprint.has('../mine'), await sprint.read('secret.txt')]).toEqual([
      false,
      true,
      'x\n',
    ])
    expect((await sprint.read('names.txt')).split('\n')).not.toContain('SECRET_OF_USER')
    expect((await sprint.progress()).walls).toMatchObject([
      { around: 'agents', cell, network: 'allow-list' },
      { around: 'commands', cell, network: 'allow-list' },
      { around: 'hook mine', cell: 'none', network: 'open' },
    ])
    expect(stdout).toMatch(/walls +hook mine ran without a cell, as the user/)
  })

  it('prints a refused host once with the line that allows it, and keeps it in the receipt', async () => {
    const script = 'for i in 1 2 3; do curl -s -m 5 https://evil.test/ || :; done'
    const sprint = await confined(script, inCell(cell))

    const { exitCode, stdout } = await sprint.run()

    const line = 'network: refused evil.test:443 (not in the allow-list); to allow it: network: {allow: ["evil.test"]}'
    expect([exitCode, stdout.split(line).length - 1]).toEqual([0, 1])
    expect(await sprint.iterations()).toMatchObject([{ hosts: { refused: ['evil.test:443'] } }])
  })

  it('shows what cell.read names and nothing beside it, and lets the agent change none of it', async () => {
    const script = tries({
      named: 'grep -q shown ~/shown/file',
      written: 'echo x >~/shown/file',
      beside: 'cat ~/hidden/file',
    })
    const files = { '../home/shown/file': 'shown\n', '../home/hidden/file': 'hidden\n' }
    const sprint = await confined(script, { ...inCell({ kind: cell, read: ['~/shown'] }), files })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await tried(sprint)).toEqual(['named', 'no-written', 'no-beside'])
    expect(await sprint.read('../home/shown/file')).toBe('shown\n')
  })

  it('shows the toolchains, the name and the registries of the user, and no secret beside them', async () => {
    const script = tries({
      nvm: 'node-of-nvm',
      cargo: 'program-of-cargo',
      path: 'program-of-user',
      rustup: 'grep -q rust "$RUSTUP_HOME/toolchains/x"',
      name: 'test "$(git config user.name) $(git config user.email)" = "Ada ada@example.invalid"',
      registry: 'grep -q registry.example.invalid ~/.npmrc',
      change: 'echo x >~/.nvm/x || echo x >~/.rust/x || echo x >>~/.npmrc',
      secret: 'grep -rq secret ~/.npmrc ~/.gitconfig ~/.cargo ~/.rust',
    })
    const files = {
      '../home/.nvm/versions/node/v1/bin/node-of-nvm': '#!/bin/sh\n',
      '../home/.cargo/bin/program-of-cargo': '#!/bin/sh\n',
      '../home/.cargo/credentials.toml': 'token = "secret"\n',
      '../home/own/bin/program-of-user': '#!/bin/sh\n',
      '../home/.rust/toolchains/x': 'rust\n',
      '../home/.gitconfig':
        '[user]\nname = Ada\nemail = ada@example.invalid\n[url "https://x:secret@example.invalid/"]\ninsteadOf = g:\n',
      '../home/.npmrc': 'registry=https://registry.example.invalid/\n//registry.example.invalid/:_authToken=secret\n',
    }
    const sprint = await confined(script, { ...inCell(cell), files })
    const programs = Object.keys(files).filter((name) => name.includes('/bin/'))
    for (const name of programs) chmodSync(sprint.at(name), 0o755)
    const path = [...programs.map((name) => dirname(sprint.at(name))), sprint.env['PATH']].join(':')
    Object.assign(sprint.env, { PATH: path, RUSTUP_HOME: sprint.at('../home/.rust') })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    const allowed = ['nvm', 'cargo', 'path', 'rustup', 'name', 'registry']
    expect(await tried(sprint)).toEqual([...allowed, 'no-change', 'no-secret'])
  })

  it('ends every process of an attempt with it, also one without its variables in a session of its own', async () => {
    const marks = Array.from({ length: 2 }, (_, n) => `86${n}.${process.pid}${Date.now() % 100_000}`)
    const [own = '', left = ''] = marks
    const sprint = await confined(
      `(env -i setsid sleep ${own} &) ; (setsid nohup sleep ${left} >/dev/null 2>&1 &)`,
      inCell(cell),
    )

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    const running = readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .map(readCommand)
    expect(running.filter((command) => marks.some((mark) => command.includes(mark)))).toEqual([])
  })

  it('pins which hooks leave the cell, and what they run: an agent changes neither', async () => {
    const change = (to: string) => `sed '${to}' s/PROGRESS.yaml >s/.tmp && mv s/.tmp s/PROGRESS.yaml; sleep 1.5`
    const planted = change('s/touch by-hook/touch ..\\/planted/; s/id: walled/id: walled\\n    cell: none/')
    const sprint = await confined(
      planted,
      inCell(cell, {
        'per-iteration-hooks': [
          { id: 'walled', run: 'touch ../outside; touch by-hook', parallel: false },
          { id: 'mine', run: 'touch by-hook', cell: 'none', parallel: false },
        ],
      }),
    )

    await sprint.run()

    expect(['../outside', '../planted', 'by-hook'].map((name) => sprint.has(name))).toEqual([false, false, true])
    expect((await sprint.progress()).walls).toMatchObject([
      { around: 'agents', cell },
      { around: 'commands', cell },
      { around: 'hook mine', cell: 'none' },
    ])
  })

  it.each(['open', 'closed'] as const)('records network: %s', async (network) => {
    const script = tries({
      loopback: 'ip route get 203.0.113.1 || grep -q 00000000 /proc/net/route',
      proxy: 'test "$HTTPS_PROXY"',
    })
    const sprint = await confined(script, inCell(cell, { network }))

    const { exitCode, stdout } = await sprint.run()

    expect([exitCode, (await tried(sprint))[1]]).toEqual([0, 'no-proxy'])
    expect((await sprint.progress()).walls).toMatchObject([{ around: 'agents', cell, network }])
    const word = /walls +agents ran with an open network/
    expect(word.test(stdout)).toBe(network === 'open')
  })

  it('holds a fork bomb and a large file to its limits, and says by which means', async () => {
    const bomb = `perl -e 'while (@p < 300) { $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } push @p, $p } print scalar @p; kill 9, @p' >count.txt`
    const write = `dd if=/dev/zero of=large bs=1M count=20 2>/dev/null; stat -c %s large >size.txt`
    const sprint = await confined(`${bomb}\n${write}`, inCell({ kind: cell, limits: { processes: 60, disk: '8m' } }))

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(Number(await sprint.read('count.txt'))).toBeLessThan(60)
    expect(await sprint.read('size.txt')).toBe(`${8 * 1024 ** 2}\n`)
    expect(stdout).toMatch(/limits: processes 60 \((?:cgroup v[12]|rlimit)\), disk 8m per file \(rlimit\)/)
    expect((await sprint.progress()).walls?.[0]?.limits).toEqual([
      expect.stringMatching(/^processes 60 \(/),
      'disk 8m per file (rlimit)',
      'disk 8m in all (watched)',
    ])
  })

  it('ends an agent that fills the disk with many files', async () => {
    const script = 'touch begun; i=0; while :; do head -c 1000000 /dev/zero >large-$i; i=$((i+1)); sleep 0.1; done'
    const sprint = await confined(script, inCell({ kind: cell, limits: { disk: '8m' } }))

    const { exitCode, stdout } = await sprint.run('--max-iterations', '1')

    expect(exitCode).not.toBe(0)
    expect(stdout).toContain('it wrote more than the disk limit of its cell allows')
  })

  it('is held to its memory and processors', async () => {
    const hog = `perl -e '$x = "x" x (300 * 1024 ** 2); print length $x' >hog.txt 2>/dev/null; test $? -ne 0 && echo refused >>hog.txt`
    const spin = `perl -e '$e = time + 5; $p = fork; 1 while time < $e; exit unless $p; wait; @t = times; print $t[0] + $t[1] + $t[2] + $t[3]' >cpu.txt`
    const limits = { memory: '128m', ...(canLimitProcessors && { cpus: 0.25 }) }
    const sprint = await confined(`${hog}\n${spin}`, inCell({ kind: cell, limits }))

    const { exitCode, stdout } = await sprint.run()

    expect([exitCode, await sprint.read('hog.txt')]).toEqual([0, 'refused\n'])
    expect(stdout).toMatch(/memory 128m(?: \(cgroup v[12]\)| per process \(rlimit\))/)
    // 6 s at most have passed; a busy machine gives less than the limit.
    expect(Number(await sprint.read('cpu.txt'))).toBeLessThan(canLimitProcessors ? 0.25 * 6 + 0.3 : 100)
  })

  it('runs checks inside too, in the clean room and in the work tree', async () => {
    const reads = 'cat ../home/.ssh/id_rsa >leak 2>/dev/null; touch ../home/written 2>/dev/null; cat leak; true'
    for (const room of ['clean', 'off']) {
      const sprint = await confined('', inCell(cell, { 'done-when': [{ run: reads, name: 'reads' }], room }))
      const { stdout } = await sprint.run()
      expect(stdout).toContain('reads')
      expect(existsSync(sprint.at('../home/written'))).toBe(false)
      expect(existsSync(sprint.at('leak')) ? await sprint.read('leak') : '').toBe('')
    }
  })

  it('lets the agent replace PROGRESS.yaml as yq -i does, and keeps what it changed', async () => {
    const edit = `sed 's/^dynamic-steps: .*/dynamic-steps: [{id: step-0, prompt: planned in the cell, status: pending}]/' s/PROGRESS.yaml >s/.yq.tmp && mv s/.yq.tmp s/PROGRESS.yaml; sleep 1.5`
    const sprint = await confined(edit, inCell(cell))

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(JSON.stringify(await sprint.progress())).toContain('planned in the cell')
  })

  it('takes the classic protocol and notes in LEARNINGS.md', async () => {
    const sprint = await confined('', { ...inCell(cell), workflow: { protocol: 'classic' } })
    await putProgram(sprint, 'claude', `echo learned >s/LEARNINGS.md\n${saysText('RALPH_COMPLETE: all done')}`)

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect([await sprint.read('s/LEARNINGS.md'), (await sprint.progress()).status]).toEqual(['learned\n', 'completed'])
  })
})

describe.skipIf(!works.namespaces)('where no cgroup can be created, of either version', { timeout }, () => {
  const within = ['unshare', '-Urm', 'sh', '-c', 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', 'sh']

  it.each(['cpus', 'processes'])('a sprint that limits %s is not started', async (name) => {
    const sprint = { cell: { limits: { [name]: 10 } } }
    const made = await createTestSprint({ sprint, answers: { 1: claim }, within })
    const { exitCode, stderr } = await made.run()
    expect([exitCode, await made.calls(), stderr]).toEqual([
      1,
      [],
      expect.stringMatching(new RegExp(`SANDBOX_UNAVAILABLE.* limits ${name}, which this machine cannot`)),
    ])
  })

  it.each(workingCells)('%s limits memory per process and disk per file', async (cell) => {
    const hog = `perl -e '$x = "x" x (300 * 1024 ** 2); print length $x' >hog.txt 2>/dev/null; test $? -ne 0 && echo refused >>hog.txt`
    const sprint = await confined(hog, { ...inCell({ kind: cell, limits: { memory: '128m', disk: '8m' } }), within })

    const { exitCode, stdout } = await sprint.run()

    expect([exitCode, await sprint.read('hog.txt')]).toEqual([0, 'refused\n'])
    expect(stdout).toContain('memory 128m per process (rlimit), disk 8m per file (rlimit)')
  })
})

describe('a sprint that asks for walls', () => {
  const refuses = 'echo "unshare: Operation not permitted" >&2; exit 1'
  const refused = async (sprint: Record<string, unknown>) => {
    const made = await createTestSprint({ sprint, answers: { 1: claim } })
    for (const name of ['bwrap', 'unshare']) await putProgram(made, name, refuses)
    const { exitCode, stderr } = await made.run()
    expect(await made.calls()).toEqual([])
    return `${exitCode} ${stderr}`
  }

  it.each([
    [{ cell: 'bubblewrap' }, /SANDBOX_UNAVAILABLE.*requires a cell: bubblewrap/],
    [{ cell: 'namespaces' }, /SANDBOX_UNAVAILABLE.*requires a cell: user namespaces do not work here/],
    [{ network: 'closed' }, /SANDBOX_UNAVAILABLE.*requires a cell/],
    [{ cell: { limits: { memory: '1g' } } }, /SANDBOX_UNAVAILABLE.*requires a cell/],
    [{ cell: { kind: 'none', network: 'closed' } }, /"network: closed" needs a cell, and "cell: none" says/],
    [{ sandbox: 'required', cell: 'none' }, /"sandbox: required" needs a cell/],
  ])('with %j starts nothing where they cannot be built', async (sprint, words) => {
    expect(await refused(sprint)).toMatch(new RegExp(`^1 .*${words.source}`, 's'))
  })

  it.each([
    [{ network: { allow: ['https://example.com/'] } }, /SPRINT\.yaml:\d+:\d+.*network\.allow\[0\] must be a host/],
    [{ network: { alow: ['example.com'] } }, /SPRINT\.yaml:\d+:\d+.*alow.*did you mean "allow"/],
    [{ netwrok: 'closed' }, /SPRINT\.yaml:\d+:\d+.*did you mean "network"/],
    [{ cell: { limts: {} } }, /cell\.limts/],
    [{ network: 'clsoed' }, /SPRINT\.yaml:\d+:\d+.*network/],
    [{ cell: 'bubblewarp' }, /SPRINT\.yaml:\d+:\d+.*cell/],
    [{ cell: { limits: { memory: '4 gigs' } } }, /memory must be a size such as 512m or 4g/],
    [{ cell: { read: ['secrets'] } }, /cell\.read\[0\] must be a path/],
  ])('with the typo %j is refused with its place', async (sprint, words) => {
    const { exitCode, stdout, stderr } = await (await createTestSprint({ sprint })).compile()
    expect([exitCode, `${stdout}${stderr}`]).toEqual([1, expect.stringMatching(words)])
  })

  it('without any says in its result that the agent ran as the user', async () => {
    const sprint = await createTestSprint({ sprint: { cell: 'none', 'done-when': [] }, answers: { 1: claim } })
    const { exitCode, stdout } = await sprint.run()
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/none, because "cell: none" says so/)])
    expect(stdout).toMatch(/walls +agents ran without a cell, as the user/)
    expect((await sprint.progress()).walls).toEqual([{ around: 'agents', cell: 'none', network: 'open' }])
  })
})

it('tests at least one member where user namespaces work', () => {
  expect(workingCells.length > 0).toBe(works.bubblewrap || works.namespaces)
})

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
