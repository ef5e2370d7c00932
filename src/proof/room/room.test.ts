import { existsSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { createProject, createSprint, enclosures, git, put } from '../../../test/support/room.ts'
import { RalphError } from '../../contract/errors.ts'
import { openEnclosure } from './bubblewrap.ts'
import { openOwnGit } from './own-git.ts'

const path = process.env['PATH'] ?? '/usr/bin:/bin'
const home = process.env['HOME'] ?? '/root'

describe.each(enclosures)('a room with %s', (_, open) => {
  it('is labelled for what it is', async () => {
    const project = createProject({ 'a.txt': 'a' })
    const { run, baseline, enclosure } = await createSprint(project, open)
    const { room, notes, output } = await run(baseline.tree, 'pwd')

    const plain = {
      room: 'plain',
      isAtProject: false,
      notes: [`plain room, not at the project’s path: ${enclosure.reason}`, 'the network was not closed'],
    }
    const clean = { room: 'clean', isAtProject: true, notes: [] }
    expect({ room, isAtProject: output === `${project}\n`, notes }).toEqual(
      enclosure.kind === 'namespaces' ? clean : plain,
    )
  })

  it('holds the tree and nothing that the agent left in the project', async () => {
    const project = createProject({ 'a.txt': 'a', '.gitignore': 'ignored\n' })
    const { run, baseline } = await createSprint(project, open)
    put(project, { ignored: 'x', 'later.txt': 'x', 'a.txt': 'changed' })
    expect((await run(baseline.tree, 'ls -A; cat a.txt')).output).toBe('.git\n.gitignore\na.txt\na')
  })

  it('throws away what a command writes, in the project and in the room', async () => {
    const project = createProject({ 'a.txt': 'a', 'b.txt': 'b' })
    const { run, baseline } = await createSprint(project, open)
    await run(baseline.tree, 'echo x > a.txt; rm b.txt; mkdir -p target; echo built > target/out; echo x > .git/HEAD')

    expect((await run(baseline.tree, 'ls; cat a.txt b.txt; git status --short')).output).toBe('a.txt\nb.txt\nab')
    expect(readdirSync(project).toSorted()).toEqual(['.git', 'a.txt', 'b.txt'])
  })

  it('repairs a file that was changed behind its back with size and time kept', async () => {
    const project = createProject({ 'a.txt': 'good' })
    const { run, baseline, state } = await createSprint(project, open)
    const file = join(state, 'room', 'master', 'a.txt')
    const { atime, mtime } = statSync(file)
    writeFileSync(file, 'evil')
    utimesSync(file, atime, mtime)
    put(join(state, 'room', 'master'), { 'planted.txt': 'x', '.gitignore': 'planted.txt' })
    expect((await run(baseline.tree, 'cat a.txt; ls')).output).toBe('gooda.txt\n')
  })

  it('has an environment of its own, with fresh folders and no word of Ralph', async () => {
    const project = createProject({ 'a.txt': 'a' })
    vi.stubEnv('RALPH_SECRET', 'x')
    vi.stubEnv('MY_TOKEN', 'secret')
    vi.stubEnv('PASSED_ONE', 'yes')
    vi.stubEnv('NODE_OPTIONS', '--no-warnings')
    vi.stubEnv('PATH', `${join(project, 'node_modules/.bin')}:relative:${path}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { run, baseline } = await createSprint(project, open)
    const job = { pass: ['PASSED_*', 'RALPH_*'], variables: { REPORT: 'r' } }
    const first = await run(baseline.tree, 'env; touch "$HOME/x" "$TMPDIR/y"', job)
    const env = Object.fromEntries(first.output.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)))

    expect(Object.keys(env).filter((name) => /RALPH|TOKEN|NODE_OPTIONS|OLDPWD/.test(name))).toEqual([])
    expect(env).toMatchObject({ PASSED_ONE: 'yes', REPORT: 'r', CI: 'true', PATH: path })
    expect(env['HOME']).not.toBe(process.env['HOME'])
    const second = await run(baseline.tree, 'ls "$HOME"; test -e "$TMPDIR/y" || echo fresh')
    expect(second.output).toBe('fresh\n')
  })

  it('has a repository with one commit', async () => {
    const project = createProject({ 'a.txt': 'a', 'b/c.txt': 'c' })
    git(project, 'config', 'core.fsmonitor', 'false')
    const { run, baseline } = await createSprint(project, open)
    const { output } = await run(
      baseline.tree,
      'git log --format=%s; git ls-files; git status --short; git show HEAD:b/c.txt; git config core.fsmonitor; echo; git diff HEAD --stat',
    )
    expect(output).toBe('Before the check\na.txt\nb/c.txt\nc\n')
  })

  it('lays a held-out folder in for one run, also where the agent put something', async () => {
    const project = createProject({ 'a.txt': 'a' })
    const { run, claim } = await createSprint(project, open)
    const heldOut = createTestFolder()
    put(heldOut, { 'secret.test.js': 'secret' })
    const trap = createTestFolder()
    put(project, { hidden: { link: trap } })
    const { newOnNew } = await claim()
    const job = { heldOut: [{ from: heldOut, at: 'hidden/auth' }] }

    expect((await run(newOnNew, 'cat hidden/auth/*', job)).output).toBe('secret')
    expect((await run(newOnNew, 'ls hidden/auth 2>/dev/null || echo none')).output).toBe('none\n')
    expect([existsSync(join(project, 'hidden/auth')), readdirSync(trap)]).toEqual([false, []])
    await expect(run(newOnNew, 'true', { heldOut: [{ from: heldOut, at: '../x' }] })).rejects.toMatchObject({
      code: 'ROOM_FAILED',
    })
  })

  it('ends a command in time', async () => {
    const { run, baseline } = await createSprint(createProject({ a: 'a' }), open)
    const { exitCode, timedOut, output } = await run(baseline.tree, 'echo begun; sleep 60', { timeoutMs: 700 })
    expect([exitCode, timedOut, output]).toEqual([null, true, 'begun\n'])
  })

  it('gives the exit code of the command, also if it speaks like the room', async () => {
    const { run, baseline } = await createSprint(createProject({ a: 'a' }), open)
    expect((await run(baseline.tree, 'echo 1; echo 2 >&2; exit 7')).exitCode).toBe(7)
    expect((await run(baseline.tree, 'no-such-program')).exitCode).toBe(127)
    expect(
      (await run(baseline.tree, 'echo "bwrap: Operation not permitted"; rm -rf "$TMPDIR"/.room; exit 1')).exitCode,
    ).toBe(1)
  })

  it('never mixes the builds of two trees', async () => {
    const project = createProject({
      Makefile: 'out: src\n\tcp src out\ntest: out\n\tgrep -q right out\n',
      src: 'wrong',
    })
    const { run, baseline, claim } = await createSprint(project, open)
    put(project, { src: 'right' })
    const { newOnNew } = await claim()
    const codes = []
    for (const tree of [newOnNew, baseline.tree, newOnNew]) codes.push((await run(tree, 'make -s test')).exitCode)
    const { exitCode } = await run(baseline.tree, 'command -v make')
    expect(codes).toEqual(exitCode === 0 ? [0, 2, 0] : [127, 127, 127])
  })
})

describe('with namespaces', () => {
  const [, open] = enclosures[0] ?? ['', () => Promise.reject(new Error('none'))]

  it('nothing outside can be written, reached or left behind', async () => {
    const project = createProject({ 'a.txt': 'a' })
    const { run, baseline, enclosure } = await createSprint(project, open)
    const outside = createTestFolder()
    const script = [
      `(echo x > ${outside}/x) 2>/dev/null && echo written`,
      '(setsid sleep 9.8765 >/dev/null 2>&1 &)',
      'test "$(ls /proc | grep -c "^[0-9]")" -lt 12 && echo alone',
      `node -e "require('net').connect(53, '192.0.2.1').on('error', (e) => console.log(e.code)).setTimeout(300, () => process.exit())"`,
    ]
    const { output } = await run(baseline.tree, script.join('; '))
    await sleep(50)
    const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes('9.8765'))

    const seen = {
      files: readdirSync(outside),
      isAlone: output.includes('alone'),
      isCutOff: output.includes('ENETUNREACH'),
      left: left.length,
    }
    const isOpen = enclosure.kind === 'plain'
    expect(seen).toEqual(
      isOpen ? { ...seen, files: ['x'], isAlone: seen.isAlone } : { files: [], isAlone: true, isCutOff: true, left: 0 },
    )
  })

  it('fails loudly if the room cannot be made', async () => {
    const { run, baseline, enclosure } = await createSprint(createProject({ a: 'a' }), open)
    const dependencies = [{ at: 'node_modules', from: join(createTestFolder(), 'missing'), without: [] }]
    const outcome = await run(baseline.tree, 'true', { dependencies }).then(
      ({ room }) => room,
      (error: unknown) => (error instanceof RalphError ? error.code : 'UNKNOWN'),
    )
    expect(outcome).toBe(enclosure.kind === 'plain' ? 'plain' : 'ROOM_FAILED')
  })

  it('hides the folders that the caller names', async () => {
    const secret = createTestFolder()
    put(secret, { key: 'x' })
    const hiding = (folder: string) => openEnclosure({ folder, hidden: [secret], path, home })
    const { run, baseline, enclosure } = await createSprint(createProject({ a: 'a' }), hiding)
    const { output } = await run(baseline.tree, `ls ${secret} 2>/dev/null`)
    expect(output).toBe(enclosure.kind === 'plain' ? 'key\n' : '')
  })

  it('shows a check of the home folder only toolchains, and lets it write no setting of the kernel (N1)', async () => {
    const user = createTestFolder()
    put(user, { '.ssh/id_rsa': 'key', '.netrc': 'key', 'work/secret': 'key', '.cargo/credentials.toml': 'key' })
    put(user, { '.nvm/v/node': 'tool' })
    const opened = (folder: string) => openEnclosure({ folder, hidden: [], path, home: user })
    const { run, baseline, enclosure } = await createSprint(createProject({ a: 'a' }), opened)
    const files = '.ssh/id_rsa .netrc work/secret .cargo/credentials.toml .nvm/v/node'
    const reads = `cd ${user}; for f in ${files}; do cat $f 2>/dev/null; done; cat /etc/shadow 2>/dev/null`
    const writes = `for f in kernel/core_pattern vm/swappiness; do (exec 3<>/proc/sys/$f) 2>/dev/null && echo $f; done; true`
    const { output } = await run(baseline.tree, `${reads}; ${writes}`)
    expect(enclosure.kind === 'plain' ? 'tool' : output).toBe('tool')
  })

  it('works in folders with difficult names', async () => {
    const project = join(createTestFolder(), "it's, a:b \\ c")
    put(project, { 'a.txt': 'a', 'node_modules/x/y': 'y' })
    const { run, baseline } = await createSprint(project, open)
    const dependencies = [{ at: 'node_modules', from: join(project, 'node_modules'), without: [] }]
    expect((await run(baseline.tree, 'cat a.txt node_modules/x/y', { dependencies })).output).toBe('ay')
  })

  it('an editable install tests the room, not the agent’s live tree', async () => {
    const project = createProject({ 'src/pkg.txt': 'baseline', '.gitignore': '.venv\n' })
    // What a `.pth` file does: the installed package is the absolute path of the sources.
    put(project, { '.venv/lib/pkg.pth': join(project, 'src') })
    const { run, baseline, enclosure } = await createSprint(project, open)
    put(project, { 'src/pkg.txt': 'live' })
    const dependencies = [{ at: '.venv', from: join(project, '.venv'), without: [] }]
    const { output } = await run(baseline.tree, 'cat "$(cat .venv/lib/pkg.pth)/pkg.txt"', { dependencies })
    expect(output).toBe(enclosure.kind === 'plain' ? 'live' : 'baseline')
  })

  it('tools may write into installed packages, and caches in them are not shown', async () => {
    const project = createProject({ a: 'a', '.gitignore': 'node_modules\n' })
    put(project, { 'node_modules/x/index.js': 'x', 'node_modules/.vite/poison': 'p' })
    const { run, baseline, enclosure } = await createSprint(project, open)
    const dependencies = [{ at: 'node_modules', from: join(project, 'node_modules'), without: ['.vite', '.vite-temp'] }]
    const { output, notes } = await run(
      baseline.tree,
      'ls -A node_modules/; mkdir node_modules/.vite-temp && echo new > node_modules/x/index.js && cat node_modules/x/index.js',
      { dependencies },
    )
    const inProject = readFileSync(join(project, 'node_modules/x/index.js'), 'utf8')
    expect({ output, inProject, last: notes.at(-1) }).toEqual(
      enclosure.kind === 'namespaces'
        ? { output: 'x\nnew\n', inProject: 'x', last: undefined }
        : {
            output: '.vite\nx\nnew\n',
            inProject: 'new\n',
            last: 'installed packages were shared with the project, not mounted',
          },
    )
  })
})

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

describe('a machine', () => {
  it('without bubblewrap has a plain room, and says so', async () => {
    const { kind, reason } = await openEnclosure({
      folder: createTestFolder(),
      hidden: [],
      path: createTestFolder(),
      home,
    })
    expect([kind, reason]).toEqual([
      'plain',
      process.platform === 'linux' ? 'bubblewrap is not installed' : 'namespaces are only on Linux',
    ])
  })

  it('that refuses namespaces has a plain room, and says why', async () => {
    const bin = createTestFolder()
    put(bin, {
      bwrap: { program: '#!/bin/sh\n' },
      unshare: { program: '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n' },
    })
    const { kind, reason } = await openEnclosure({
      folder: createTestFolder(),
      hidden: [],
      path: `${bin}:${path}`,
      home,
    })
    expect([kind, reason]).toEqual([
      'plain',
      process.platform === 'linux'
        ? 'namespaces are refused here: unshare: unshare failed: Operation not permitted'
        : 'namespaces are only on Linux',
    ])
  })

  it.each([
    ['without git', undefined, 'GIT_UNAVAILABLE'],
    ['with a full disk', 'echo "fatal: write error: No space left on device" >&2; exit 128', 'DISK_FULL'],
    ['with a broken git', 'echo "fatal: oops" >&2; exit 128', 'ROOM_FAILED'],
  ])('%s gets a clear error', async (_, program, code) => {
    const bin = createTestFolder()
    if (program !== undefined) put(bin, { git: { program: `#!/bin/sh\n${program}\n` } })
    vi.stubEnv('PATH', bin)
    onTestFinished(() => void vi.unstubAllEnvs())
    await expect(openOwnGit(join(createTestFolder(), 'git'))).rejects.toMatchObject({ code })
  })
})

it('removes what a room that was killed left behind', async () => {
  const [, open] = enclosures[0] ?? ['', () => Promise.reject(new Error('none'))]
  const project = createProject({ a: 'a' })
  const { state, own, enclosure, room } = await createSprint(project, open)
  put(join(state, 'room', 'runs'), { 'old/layers/0/up/x': 'x' })
  const { openRoom } = await import('./room.ts')
  await room.close()
  await openRoom({ own, project, folder: join(state, 'room'), enclosure, env: process.env })
  expect(readdirSync(join(state, 'room', 'runs'))).toEqual([])
  rmSync(join(state, 'room'), { recursive: true })
})
