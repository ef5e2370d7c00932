import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createProject, findStore, git, write } from '../../../test/support/git-projects.ts'
import { forgetState, rememberState, stateFolder } from '../../platform/files/state-folder.ts'
import { diffIterations, restoreFiles } from './restore.ts'
import { findLargeFileQuestions, openWorkspace } from './workspace.ts'

describe("Ralph's own store", () => {
  /** Two checkpoints: `a.txt` is `one`, then `two`. */
  async function createCheckpoints() {
    const made = createProject()
    const workspace = await openWorkspace(made.options)
    await workspace.start()
    for (const [number, text] of ['one', 'two'].entries()) {
      write(made.project, { 'a.txt': text, [`new-${text}.txt`]: text })
      await workspace.checkpoint(number + 1, text)
    }
    return { ...made, workspace, store: findStore(made.sprintDir), text: () => readText(made.project, 'a.txt') }
  }
  const readText = (project: string, name: string) => readFileSync(join(project, name), 'utf8')

  it('has everything: without the repository, diff, restore and undo work, and further checkpoints are made', async () => {
    const { project, options, workspace, store, text } = await createCheckpoints()
    rmSync(join(project, '.git'), { recursive: true })

    expect(execFileSync('git', ['--git-dir', store, 'fsck', '--full'], { encoding: 'utf8', stdio: 'pipe' })).toBe('')
    expect(await diffIterations(options, { from: 0, to: 2 })).toContain('+two')
    const { saved, unpinned } = await restoreFiles(options, { iteration: 1 }, 5)
    expect([text(), existsSync(join(project, 'new-two.txt')), unpinned]).toEqual(['one', false, [store]])
    expect(git(project, '--git-dir', store, 'show', `${saved[0]}:a.txt`)).toBe('two')
    await restoreFiles(options, 'undo', 6)
    expect([text(), readText(project, 'new-two.txt')]).toEqual(['two', 'two'])
    write(project, { 'a.txt': 'three' })
    expect(await workspace.checkpoint(3, 'three')).toMatch(/^[0-9a-f]{40}$/)
    await restoreFiles(options, { iteration: 0 }, 7)
    expect(text()).toBe('a\n')
  })

  it('starts git three times for a checkpoint, once if nothing changed, and nine times for a restore', async () => {
    const { project, options, workspace } = await createCheckpoints()
    const programs = join(project, '..', 'programs')
    const log = join(programs, 'log')
    write(programs, { git: `#!/bin/sh\necho x >> '${log}'\nPATH=\${PATH#*:} exec git "$@"\n` })
    chmodSync(join(programs, 'git'), 0o755)
    const path = process.env['PATH']
    process.env['PATH'] = `${programs}:${path}`
    onTestFinished(() => void (process.env['PATH'] = path))
    const count = async (work: () => Promise<unknown>) => {
      writeFileSync(log, '')
      await work()
      return readText(programs, 'log').split('\n').length - 1
    }

    write(project, { 'a.txt': 'three' })
    expect(await count(() => workspace.checkpoint(3, 'm'))).toBe(3)
    expect(await count(() => workspace.checkpoint(4, 'm'))).toBe(1)
    write(project, { 'a.txt': 'four' })
    expect(await count(() => restoreFiles(options, { iteration: 2 }, 1))).toBe(9)
  })

  it('has the files of a nested repository whose .git was deleted', async () => {
    const { project, options } = createProject({ 'a.txt': 'a', 'lib/two/b.txt': 'b' })
    git(join(project, 'lib/two'), 'init', '--quiet')
    const workspace = await openWorkspace(options)
    await workspace.start()
    await workspace.checkpoint(1, 'nested')
    rmSync(join(project, 'lib/two/.git'), { recursive: true })
    await workspace.checkpoint(2, 'plain')
    write(project, { 'lib/two/b.txt': 'other' })
    await restoreFiles(options, { iteration: 2 }, 5)
    expect(readText(project, 'lib/two/b.txt')).toBe('b')
  })

  it.each([
    ['in one checkpoint', true],
    ['in none', false],
  ])('has a tracked file that is ignored, also if it was gone when the run looked first: %s', async (_, isThere) => {
    const { project, options } = createProject({ 'a.txt': 'a', 'kept.log': 'one', '.gitignore': '*.log\n' })
    git(project, 'add', '--force', 'kept.log')
    if (!isThere) rmSync(join(project, 'kept.log'))
    const workspace = await openWorkspace(options)
    await workspace.start()
    rmSync(join(project, 'kept.log'), { force: true })
    await workspace.checkpoint(1, 'gone')
    write(project, { 'kept.log': 'two' })
    await workspace.checkpoint(2, 'back')
    write(project, { 'kept.log': 'three' })
    await restoreFiles(options, { iteration: 2 }, 5)
    expect(readText(project, 'kept.log')).toBe('two')
  })

  it('survives deleted refs and git gc, a clone in place of the repository, and objects that are gone', async () => {
    const { project, options, text } = await createCheckpoints()
    git(project, 'for-each-ref', '--format=%(refname)', 'refs/ralph')
      .split('\n')
      .forEach((ref) => git(project, 'update-ref', '-d', ref))
    git(project, 'gc', '--quiet', '--prune=now')
    await restoreFiles(options, { iteration: 1 }, 5)
    expect(text()).toBe('one')
    git(project, 'fsck', '--full', '--strict')

    git(join(project, '..'), 'clone', '--quiet', '--bare', project, 'copy.git')
    rmSync(join(project, '.git'), { recursive: true })
    git(join(project, '..'), 'clone', '--quiet', '--no-checkout', 'copy.git', 'clone')
    renameSync(join(project, '..', 'clone', '.git'), join(project, '.git'))
    const { saved } = await restoreFiles(options, { iteration: 2 }, 6)
    expect(text()).toBe('two')
    expect(git(project, 'show', `${saved[0]}:a.txt`)).toBe('one')
    git(project, 'fsck', '--full', '--strict')
  })

  it('does not believe a forged object of the repository', async () => {
    const { project, options } = createProject({ 'a.txt': 'a\n', 'real.txt': 'real\n' })
    const id = git(project, 'rev-parse', 'HEAD:real.txt')
    const [real, forged] = [id, git(project, 'hash-object', '-w', '--stdin', '--path=x')].map((name) =>
      join(project, '.git/objects', name.slice(0, 2), name.slice(2)),
    )
    rmSync(real ?? '')
    renameSync(forged ?? '', real ?? '')
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { 'real.txt': 'changed\n' })
    await workspace.checkpoint(1, 'one')
    await restoreFiles(options, { iteration: 0 }, 5)

    expect(readText(project, 'real.txt')).toBe('real\n')
  })

  it('takes over the checkpoints of 0.1.0, which were in the repository only', async () => {
    const { project, options, sprintDir, text } = await createCheckpoints()
    rmSync(join(sprintDir, 'checkpoints'), { recursive: true })
    rmSync(join(sprintDir, 'checkpoints.jsonl'))
    // A state of its own gives the sprint other refs than its name.
    const upgraded = { ...options, sprintDir: join(sprintDir, '..', 'other'), sprintId: 's' }
    rememberState(upgraded.sprintDir, '0198c0de-0000-7000-8000-000000000001')
    onTestFinished(() => {
      forgetState(upgraded.sprintDir)
      rmSync(stateFolder(upgraded.sprintDir), { recursive: true, force: true })
    })
    const workspace = await openWorkspace(upgraded)
    write(project, { 'a.txt': 'three' })
    await workspace.fingerprint()
    await workspace.checkpoint(3, 'three')
    rmSync(join(project, '.git'), { recursive: true })

    await restoreFiles(upgraded, { iteration: 1 }, 5)
    expect(text()).toBe('one')
    expect(await diffIterations(upgraded, { from: 2, to: 3 })).toContain('+three')
  })

  it('contains files that the user tracks although they are ignored', async () => {
    const { project, options } = createProject({ 'a.txt': 'a\n', '.gitignore': 'dist/\n' })
    write(project, { 'dist/kept.js': 'mine', 'dist/built.js': 'not tracked' })
    git(project, 'add', '--force', 'dist/kept.js')
    const workspace = await openWorkspace(options)
    await workspace.start()
    rmSync(join(project, 'dist'), { recursive: true })
    await workspace.checkpoint(1, 'one')
    await restoreFiles(options, { iteration: 0 }, 5)

    expect(readdirSync(join(project, 'dist'))).toEqual(['kept.js'])
  })

  it('leaves out a file of more than 1 GB that git does not track, names it, and stores it if the user agrees', async () => {
    const { project, options } = createProject()
    const path = join(project, 'huge.bin')
    writeFileSync(path, '')
    truncateSync(path, 5 * 1024 ** 3)
    const skipped: string[] = []
    const workspace = await openWorkspace(options, { onSkipped: (names) => skipped.push(...names) })
    expect((await findLargeFileQuestions(options)).map(({ name, size }) => [name, size])).toEqual([
      ['huge.bin', '5.0 GB'],
    ])
    await workspace.start()
    await restoreFiles(options, { iteration: 0 }, 5)

    expect(skipped).toEqual(['huge.bin: 5.0 GB, and git does not track it'])
    expect(statSync(path).size).toBe(5 * 1024 ** 3)
    for (const { accept } of await findLargeFileQuestions(options)) await accept()
    expect(await findLargeFileQuestions(options)).toEqual([])
  })

  it('names what git refuses by its name, and nothing that a link has replaced', async () => {
    const { project, options } = createProject({ 'd/b.txt': 'b', 'x/c.txt': 'c' })
    const skipped: string[] = []
    const workspace = await openWorkspace(options, { onSkipped: (names) => skipped.push(...names) })
    await workspace.start()
    rmSync(join(project, 'd'), { recursive: true })
    symlinkSync('x', join(project, 'd'))
    write(project, { '.GIT/config': 'not of git' })
    await workspace.checkpoint(1, 'one')
    await restoreFiles(options, { iteration: 0 }, 5)
    await restoreFiles(options, { iteration: 1 }, 6)

    expect(skipped).toEqual(['.GIT/config: git stores no file with this name'])
    expect([readlinkSync(join(project, 'd')), readText(project, '.GIT/config')]).toEqual(['x', 'not of git'])
  })

  it('is made and restored in the middle of a rebase with a conflict, which can then be continued', async () => {
    const { project, options } = createProject()
    git(project, 'checkout', '--quiet', '-b', 'topic')
    write(project, { 'a.txt': 'topic\n' })
    git(project, 'commit', '--quiet', '--all', '--message=topic')
    git(project, 'checkout', '--quiet', 'main')
    write(project, { 'a.txt': 'main\n' })
    git(project, 'commit', '--quiet', '--all', '--message=main')
    expect(() => git(project, 'rebase', 'main', 'topic')).toThrow('could not apply')
    const conflict = readText(project, 'a.txt')
    const listed = git(project, 'status', '--porcelain')

    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { 'a.txt': 'resolved\n', 'new.txt': 'n' })
    await workspace.checkpoint(1, 'resolved')
    await restoreFiles(options, { iteration: 0 }, 5)
    expect([readText(project, 'a.txt'), git(project, 'status', '--porcelain')]).toEqual([conflict, listed])
    await restoreFiles(options, 'undo', 6)

    git(project, 'add', 'a.txt')
    git(project, '-c', 'core.editor=true', 'rebase', '--continue')
    expect(git(project, 'log', '--format=%s', '-3')).toBe('topic\nmain\nfirst')
    expect([readText(project, 'a.txt'), readText(project, 'new.txt')]).toEqual(['resolved\n', 'n'])
  })

  it('and the repository are complete although git gc runs all the time', async () => {
    const { project, options } = createProject()
    const workspace = await openWorkspace(options)
    await workspace.start()
    const script = 'while :; do git gc --quiet --prune=now; done'
    const gc = spawn('sh', ['-c', script], { cwd: project, stdio: 'ignore', detached: true })
    try {
      for (let number = 1; number <= 12; number++) {
        write(project, { 'a.txt': `${number}`, [`new/${number}.txt`]: `${number}` })
        expect(await workspace.checkpoint(number, `${number}`)).toMatch(/^[0-9a-f]{40}$/)
      }
    } finally {
      process.kill(-(gc.pid ?? 0), 'SIGKILL')
    }
    git(project, 'fsck', '--full')
    await restoreFiles(options, { iteration: 5 }, 5)
    expect([readText(project, 'a.txt'), readdirSync(join(project, 'new')).length]).toEqual(['5', 5])
  })
})
