import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import {
  createProject,
  createRepository,
  findStore,
  git,
  optionsFor,
  write,
} from '../../../test/support/git-projects.ts'
import { diffIterations, restoreFiles } from './restore.ts'
import { openWorkspace } from './workspace.ts'

const listFiles = (project: string, commit: string) => git(project, 'ls-tree', '-r', '--name-only', commit).split('\n')

describe('a checkpoint', () => {
  it('contains everything in a dirty tree but the sprint, and touches nothing of the user', async () => {
    const { project, options, users } = createProject({ 'a.txt': 'a\n', '.gitignore': 'ignored\n' })
    write(project, { 'staged.txt': 's', 'a.txt': 'changed', 'new/file.txt': 'n', ignored: 'i' })
    git(project, 'add', 'staged.txt')
    const before = users()
    const workspace = await openWorkspace(options)
    await workspace.start()
    const commit = await workspace.checkpoint(1, 'one')

    expect(commit).toBeUndefined()
    expect(listFiles(project, 'refs/ralph/s/0')).toEqual(['.gitignore', 'a.txt', 'new/file.txt', 'staged.txt'])
    expect(git(project, 'show', 'refs/ralph/s/0:a.txt')).toBe('changed')
    expect(users()).toEqual(before)
  })

  it('is created only when something has changed, and follows the previous one', async () => {
    const { project, options } = createProject()
    const workspace = await openWorkspace(options)
    await workspace.start()
    expect(await workspace.checkpoint(1, 'one')).toBeUndefined()
    write(project, { 'a.txt': 'two' })
    const second = await workspace.checkpoint(2, 'two')

    expect(second).toBe(git(project, 'rev-parse', 'refs/ralph/s/2'))
    expect(git(project, 'rev-parse', `${second}^`)).toBe(git(project, 'rev-parse', 'refs/ralph/s/0'))
    expect(git(project, 'log', '-1', '--format=%an %s', second ?? '')).toBe('Ralph two')
  })

  it.each(['another repository', 'the project'])(
    'adds no refs to %s, if a nested repository links there',
    async (which) => {
      const { project, options } = createProject()
      const other = which === 'the project' ? project : createRepository(createTestFolder(), { 'o.txt': 'o' })
      write(project, { 'nested/n.txt': 'n' })
      symlinkSync(join(other, '.git'), join(project, 'nested/.git'))
      const reasons: string[] = []
      const workspace = await openWorkspace(options, { onUnpinned: (reason) => reasons.push(reason) })
      await workspace.start()

      const listed = git(other, 'for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n')
      expect(listed.some((ref) => ref !== '' && git(other, 'ls-tree', '--name-only', ref).includes('n.txt'))).toBe(
        false,
      )
      expect(reasons).toEqual([`the git folder of ${join(project, 'nested')} belongs to another repository`])
    },
  )

  it('runs no hook and no program of the repository', async () => {
    const { project, options } = createProject()
    for (const hook of ['pre-commit', 'post-commit', 'reference-transaction', 'post-index-change']) {
      write(project, { [`.git/hooks/${hook}`]: `#!/bin/sh\ntouch '${project}/hook-ran'\n` })
      chmodSync(join(project, '.git/hooks', hook), 0o755)
    }
    git(project, 'config', 'core.fsmonitor', `touch '${project}/hook-ran'`)
    const workspace = await openWorkspace(options)
    write(project, { 'a.txt': 'two' })
    await workspace.checkpoint(1, 'one')
    await restoreFiles(options, { iteration: 1 }, 5)

    expect(existsSync(join(project, 'hook-ran'))).toBe(false)
  })

  it('D4: survives the lock of a killed run, and the loss of its index', async () => {
    const { project, sprintDir, options } = createProject()
    const workspace = await openWorkspace(options)
    await workspace.start()
    const store = findStore(sprintDir)
    writeFileSync(join(store, 'index.lock'), '')
    writeFileSync(join(store, 'refs/ralph/s/1.lock'), '')
    write(project, { 'a.txt': 'two' })
    expect(await workspace.checkpoint(1, 'one')).toMatch(/^[0-9a-f]{40}$/)

    rmSync(join(store, 'index'))
    write(project, { 'a.txt': 'three' })
    expect(await workspace.checkpoint(2, 'two')).toMatch(/^[0-9a-f]{40}$/)
  })

  it('is created in each repository of a project that contains several', async () => {
    const project = join(createTestFolder(), 'project')
    const [one, two] = [
      createRepository(join(project, 'one'), { a: '1' }),
      createRepository(join(project, 'sub/two'), { b: '2' }),
    ]
    const { options } = optionsFor(project)
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(two, { b: 'changed' })
    await workspace.checkpoint(1, 'one')

    expect(git(one, 'for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n')).toEqual([
      'refs/ralph/s/0',
      'refs/ralph/s/last',
    ])
    expect(git(two, 'show', 'refs/ralph/s/1:b')).toBe('changed')
  })

  it('starts over with a new sprint of the same name', async () => {
    const { project, options } = createProject()
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { 'a.txt': 'two' })
    await workspace.checkpoint(7, 'seven')
    await workspace.start()

    expect(git(project, 'for-each-ref', '--format=%(refname)', 'refs/ralph/s/').split('\n')).toEqual([
      'refs/ralph/s/0',
      'refs/ralph/s/last',
    ])
    const [aside = ''] = git(project, 'for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n')
    expect(aside).toMatch(/^refs\/ralph\/s-before-\d+\/0$/)
    expect(git(project, 'show', `${aside.replace(/0$/, '7')}:a.txt`)).toBe('two')
  })

  it('D1: belongs to its own worktree: one inside the project is left alone, one beside it has its own refs', async () => {
    const { project, options } = createProject()
    git(project, 'worktree', 'add', '--quiet', '-b', 'inner', 'trees/inner')
    git(project, 'worktree', 'add', '--quiet', '-b', 'beside', '../beside')
    const beside = optionsFor(join(project, '..', 'beside')).options
    for (const workspace of [await openWorkspace(options), await openWorkspace(beside)]) await workspace.start()
    write(project, { 'a.txt': 'mine' })
    write(beside.project, { 'a.txt': 'theirs' })
    await (await openWorkspace(options)).checkpoint(1, 'one')
    await (await openWorkspace(beside)).checkpoint(1, 'one')
    write(join(project, 'trees', 'inner'), { 'new.txt': 'not to be lost' })

    await restoreFiles(options, { iteration: 0 }, 5)
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('a\n')
    expect(readFileSync(join(beside.project, 'a.txt'), 'utf8')).toBe('theirs')
    expect(readFileSync(join(project, 'trees', 'inner', 'new.txt'), 'utf8')).toBe('not to be lost')
    await restoreFiles(beside, { iteration: 1 }, 6)
    expect(readFileSync(join(beside.project, 'a.txt'), 'utf8')).toBe('theirs')
  })

  it('D1: leaves a worktree inside the project alone also after the .git of the project was deleted', async () => {
    const { project, options } = createProject()
    git(project, 'worktree', 'add', '--quiet', '-b', 'inner', 'trees/inner')
    const workspace = await openWorkspace(options)
    await workspace.start()
    rmSync(join(project, '.git'), { recursive: true })
    write(project, { 'a.txt': 'two' })
    await workspace.checkpoint(1, 'one')
    await restoreFiles(options, { iteration: 0 }, 5)
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('a\n')
    expect(readFileSync(join(project, 'trees/inner/b.txt'), 'utf8')).toBe('b\n')
  })

  it('contains the submodules of a linked worktree', async () => {
    const { project } = createProject()
    git(project, 'worktree', 'add', '--quiet', '-b', 'beside', '../beside')
    const { options } = optionsFor(join(project, '..', 'beside'))
    const other = createRepository(createTestFolder(), { 's.txt': '1' })
    git(options.project, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub')
    await (await openWorkspace(options)).start()
    write(options.project, { 'sub/s.txt': '2' })
    await restoreFiles(options, { iteration: 0 }, 5)
    expect(readFileSync(join(options.project, 'sub/s.txt'), 'utf8')).toBe('1')
  })

  it('runs no filter that the agent configured, in the project or in a repository of its own', async () => {
    const { project, options } = createProject()
    const evil = createRepository(join(project, 'sub'), { 'x.txt': 'x' })
    for (const folder of [project, evil]) {
      git(folder, 'config', 'filter.e.clean', `touch '${project}/../ran'; cat`)
      git(folder, 'config', 'filter.e.smudge', `touch '${project}/../ran'; cat`)
      write(folder, { '.gitattributes': '* filter=e\n' })
    }
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { 'a.txt': 'one', 'sub/x.txt': 'two' })
    await workspace.fingerprint()
    await workspace.checkpoint(1, 'one')
    await restoreFiles(options, { iteration: 0 }, 5)

    expect(existsSync(join(project, '..', 'ran'))).toBe(false)
    expect(readFileSync(join(evil, 'x.txt'), 'utf8')).toBe('x')
  })

  it('D11: needs one call of git for each of 20 nested repositories in which nothing changed', async () => {
    const { project, options } = createProject()
    for (let number = 0; number < 20; number++) createRepository(join(project, 'modules', `m${number}`), { x: 'x' })
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { 'modules/m3/x': 'changed' })
    await workspace.checkpoint(1, 'one')
    const calls = join(project, '..', 'calls')
    const path = process.env['PATH'] ?? ''
    onTestFinished(() => void (process.env['PATH'] = path))
    write(join(project, '..'), { 'bin/git': `#!/bin/sh\necho "$*" >> '${calls}'\nPATH='${path}' exec git "$@"\n` })
    chmodSync(join(project, '..', 'bin/git'), 0o755)
    process.env['PATH'] = `${join(project, '..', 'bin')}:${path}`
    await workspace.fingerprint()
    await workspace.checkpoint(2, 'two')

    // One scan for the hash and, because anything may have run since, one for the checkpoint.
    expect(readFileSync(calls, 'utf8').trim().split('\n')).toHaveLength(2 * 21)
  })

  it('D7: is made where git status works: link loops, safecrlf, sparse checkouts, a stale lock', async () => {
    const { project, options } = createProject({ 'a.txt': 'a\n', 'deep/b.txt': 'b\n' })
    symlinkSync('loop', join(project, 'loop'))
    git(project, 'config', 'core.autocrlf', 'true')
    git(project, 'config', 'core.safecrlf', 'true')
    git(project, 'sparse-checkout', 'set', 'other')
    write(project, { 'mixed.txt': 'a\r\nb\n', 'deep/untracked.txt': 'u' })
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { '.git/refs/ralph/s/1.lock': '' })
    write(project, { 'a.txt': 'two' })

    expect(await workspace.checkpoint(1, 'one')).toMatch(/^[0-9a-f]{40}$/)
    expect(git(project, 'show', 'refs/ralph/s/1:deep/untracked.txt')).toBe('u')
  })
})

describe('a restore', () => {
  it.each(['* text=auto\n', '* text eol=crlf\n', ''])(
    'D10: is byte-exact with .gitattributes %j',
    async (attributes) => {
      const { project, options } = createProject({ 'lf.txt': 'a\nb\n', 'mixed.txt': 'a\r\nb\n' })
      git(project, 'config', 'core.autocrlf', 'true')
      write(project, { '.gitattributes': attributes, 'lf.txt': 'a\nb\nc\n', 'mixed.txt': 'a\r\nb\nc\r\n' })
      const workspace = await openWorkspace(options)
      await workspace.start()
      write(project, { 'lf.txt': 'x', 'mixed.txt': 'x' })
      await workspace.checkpoint(1, 'one')

      await restoreFiles(options, { iteration: 0 }, 5)
      expect(readFileSync(join(project, 'lf.txt'), 'utf8')).toBe('a\nb\nc\n')
      expect(readFileSync(join(project, 'mixed.txt'), 'utf8')).toBe('a\r\nb\nc\r\n')
    },
  )

  it('D16: names a ref that exists even if nothing changed since the last checkpoint', async () => {
    const { project, options } = createProject()
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { 'a.txt': 'one' })
    await workspace.checkpoint(1, 'one')

    const {
      saved: [saved],
    } = await restoreFiles(options, { iteration: 0 }, 5)
    expect(git(project, 'show', `${saved}:a.txt`)).toBe('one')
  })

  it('writes nothing through a link that replaces a nested repository at that moment', async () => {
    const { project, options } = createProject()
    createRepository(join(project, 'nested'), { 'n.txt': '1' })
    await (await openWorkspace(options)).start()
    write(project, { 'a.txt': 'changed', 'nested/n.txt': '2' })
    const [outside, programs] = [createTestFolder(), createTestFolder()]
    const swap = `cd '${project}' && mv nested '${outside}/away' && mkdir '${outside}/empty' && ln -s '${outside}/empty' nested`
    const rest = `PATH=\${PATH#*:} exec git "$@"`
    write(programs, {
      git: `#!/bin/sh\ncase "$*" in *' restore '*) test -L '${project}/nested' || (${swap});; esac\n${rest}\n`,
    })
    chmodSync(join(programs, 'git'), 0o755)
    vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`)
    onTestFinished(() => void vi.unstubAllEnvs())

    await expect(restoreFiles(options, { iteration: 0 }, 5)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
    expect(readdirSync(join(outside, 'empty'))).toEqual([])
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('changed')
  })

  it('leaves all repositories as they were if one of them cannot be restored', async () => {
    const { project, options } = createProject()
    const nested = createRepository(join(project, 'sub'), { 'x.txt': 'x' })
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { 'a.txt': 'one', 'sub/x.txt': 'one' })
    await workspace.checkpoint(1, 'one')
    // The blob that iteration 0 needs is gone.
    const blob = git(nested, 'rev-parse', 'refs/ralph/s/0:x.txt')
    const stores = readdirSync(join(options.sprintDir, 'checkpoints'))
    const copies = stores.map((name) =>
      join(options.sprintDir, 'checkpoints', name, 'objects', blob.slice(0, 2), blob.slice(2)),
    )
    for (const path of copies) rmSync(path, { force: true })

    await expect(restoreFiles(options, { iteration: 0 }, 5)).rejects.toMatchObject({ code: 'CHECKPOINT_FAILED' })
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one')
    expect(readFileSync(join(nested, 'x.txt'), 'utf8')).toBe('one')
  })

  it('restores deleted files, removes new ones, and can be undone', async () => {
    const { project, sprintDir, options, users } = createProject()
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { 'a.txt': 'one' })
    await workspace.checkpoint(1, 'one')
    const before = users()
    rmSync(join(project, 'b.txt'))
    write(project, { 'a.txt': 'two', 'new/deep.txt': 'n' })
    await workspace.checkpoint(2, 'two')
    write(project, { 'a.txt': 'not yet kept' })

    const {
      saved: [saved],
    } = await restoreFiles(options, { iteration: 1 }, 5)
    expect(readdirSync(project).toSorted()).toEqual(['.claude', '.git', 'a.txt', 'b.txt'])
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one')
    expect(readFileSync(join(sprintDir, 'journal/1.log'), 'utf8')).toBe('x')
    expect(git(project, 'show', `${saved}:a.txt`)).toBe('not yet kept')
    expect(users()).toEqual(before)
  })

  it('uses the last checkpoint before an iteration that changed nothing', async () => {
    const { project, options } = createProject()
    const workspace = await openWorkspace(options)
    await workspace.start()
    write(project, { 'a.txt': 'one' })
    await workspace.checkpoint(1, 'one')
    await workspace.checkpoint(2, 'two')
    write(project, { 'a.txt': 'three' })
    await workspace.checkpoint(3, 'three')
    await restoreFiles(options, { iteration: 2 }, 5)

    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one')
  })

  it('is refused if there is no checkpoint', async () => {
    const { options } = createProject()
    await expect(restoreFiles(options, { iteration: 1 }, 5)).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' })
  })
})

it('shows the changes of an iteration', async () => {
  const { project, options } = createProject()
  const workspace = await openWorkspace(options)
  await workspace.start()
  write(project, { 'a.txt': 'one\n' })
  await workspace.checkpoint(1, 'one')
  write(project, { 'a.txt': 'two\n' })
  await workspace.checkpoint(2, 'two')

  expect(await diffIterations(options, { from: 1, to: 2 })).toContain('-one\n+two')
  expect(await diffIterations(options, { from: 0, to: 2 })).toContain('-a\n+two')
})

describe('the fingerprint', () => {
  it('changes with every change of a file or of HEAD, and with nothing else', async () => {
    const { project, sprintDir, options } = createProject()
    const { fingerprint } = await openWorkspace(options)
    const first = await fingerprint()
    write(sprintDir, { 'PROGRESS.yaml': 'changed' })
    expect(await fingerprint()).toBe(first)

    const seen = new Set([first])
    write(project, { 'a.txt': 'changed' })
    seen.add(await fingerprint())
    rmSync(join(project, 'b.txt'))
    seen.add(await fingerprint())
    git(project, 'commit', '--all', '--quiet', '--message=second')
    seen.add(await fingerprint())
    expect(seen.size).toBe(4)
  })

  it('uses names, sizes and times where there is no repository', async () => {
    const project = join(createTestFolder(), 'project')
    const { options } = optionsFor(project)
    write(project, { 'a.txt': 'a' })
    const { fingerprint, checkpoint } = await openWorkspace(options)
    const first = await fingerprint()
    expect(await fingerprint()).toBe(first)
    write(project, { 'a.txt': 'longer' })

    expect(await fingerprint()).not.toBe(first)
    expect(await checkpoint(1, 'one')).toBeUndefined()
  })

  it('survives an agent that deletes or breaks the repository', async () => {
    const { project, options } = createProject()
    const { fingerprint } = await openWorkspace(options)
    const first = await fingerprint()
    rmSync(join(project, '.git'), { recursive: true })
    const second = await fingerprint()
    write(project, { 'a.txt': 'changed' })

    expect(new Set([first, second, await fingerprint()]).size).toBe(3)
  })
})
