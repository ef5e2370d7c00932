import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { restorePushedSnapshot, pushSnapshot } from './pushed-snapshot.ts'
import { diffIterations } from './restore.ts'
import { openWorkspace } from './workspace.ts'

const git = (cwd: string, ...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=U', '-c', 'user.email=u@x', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim()

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** A repository that all machines can reach. */
function createRemote(): string {
  const [remote, made] = [join(createTestFolder(), 'remote.git'), createTestFolder()]
  git(made, 'init', '--quiet', '--initial-branch=main')
  write(made, { 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'secret\n' })
  git(made, 'add', '.')
  git(made, 'commit', '--quiet', '--message=first')
  git(made, 'clone', '--quiet', '--bare', made, remote)
  return remote
}

/** A machine's clone of it. */
function createClone(remote: string) {
  const folder = createTestFolder()
  const [project, notes, sprintDir] = [join(folder, 'project'), join(folder, 'notes'), join(folder, 'sprint')]
  git(folder, 'clone', '--quiet', remote, project)
  const extraFolders = [
    { name: 'notes', folder: notes },
    { name: 'learned', folder: sprintDir, only: 'LEARNINGS.md' },
  ]
  const options = { project, sprintDir, sprintId: 's', remote, extraFolders, snapshotFolder: join(folder, 'ours') }
  return { folder, project, notes, options, read: (name: string) => readFileSync(join(folder, name), 'utf8') }
}

const listPushed = (remote: string) => git(remote, 'for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n')

describe('a snapshot', () => {
  it('turns the clone of another machine into the first one: files, commits, branch, notes, checkpoints', async () => {
    const remote = createRemote()
    const first = createClone(remote)
    const workspace = await openWorkspace(first.options)
    await workspace.start()
    git(first.project, 'checkout', '--quiet', '-b', 'work/one')
    write(first.project, { 'a.txt': 'committed\n' })
    git(first.project, 'commit', '--quiet', '--all', '--message=by the agent')
    write(first.project, { 'c.txt': 'not committed\n', secret: 'ignored\n' })
    rmSync(join(first.project, 'b.txt'))
    write(first.notes, { 'README.md': '# Notes\n', '.task-lock': '' })
    write(first.options.sprintDir, { 'LEARNINGS.md': 'learned\n', 'other.md': 'not learned\n' })
    await workspace.checkpoint(1, 'one')
    const head = git(first.project, 'rev-parse', 'HEAD')
    const commit = await pushSnapshot(first.options)
    const status = git(first.project, 'status', '--porcelain')

    const second = createClone(remote)
    await restorePushedSnapshot(second.options, commit)
    expect(git(second.project, 'rev-parse', 'HEAD')).toBe(head)
    expect(git(second.project, 'branch', '--show-current')).toBe('work/one')
    expect(git(second.project, 'status', '--porcelain')).toBe(status)
    expect(second.read('project/c.txt')).toBe('not committed\n')
    expect([second.read('notes/README.md'), second.read('sprint/LEARNINGS.md')]).toEqual(['# Notes\n', 'learned\n'])
    expect(
      ['notes/.task-lock', 'project/secret', 'sprint/other.md'].map((name) => existsSync(join(second.folder, name))),
    ).toEqual([true, false, false])
    expect(await diffIterations(second.options, { from: 0, to: 1 })).toBe(
      await diffIterations(first.options, { from: 0, to: 1 }),
    )
    expect(await pushSnapshot(second.options)).toBe(commit)
  })

  it('is pushed once as long as nothing changes, and the remote keeps only the last ones', async () => {
    const remote = createRemote()
    const { project, options } = createClone(remote)
    const commits: string[] = []
    for (const text of ['1', '2', '2', '3', '4']) {
      write(project, { 'a.txt': text })
      commits.push(await pushSnapshot(options))
    }
    expect(commits[2]).toBe(commits[1])
    expect(listPushed(remote).toSorted()).toEqual([1, 3, 4].map((n) => `refs/ralph/s/pushed-${commits[n]}`).toSorted())
    git(project, 'commit', '--quiet', '--all', '--message=the same files')
    expect(await pushSnapshot(options)).not.toBe(commits[4])
  })

  it('uses none of the settings that the agent could have changed', async () => {
    const remote = createRemote()
    const { project, options, folder } = createClone(remote)
    const trap = join(folder, 'trap')
    git(project, 'config', `url.ext::touch ${trap} .insteadOf`, remote)
    git(project, 'config', 'protocol.ext.allow', 'always')
    git(project, 'config', 'remote.origin.receivepack', `touch ${trap};`)
    await pushSnapshot(options)
    expect(existsSync(trap)).toBe(false)
    expect(listPushed(remote)).toHaveLength(1)
  })

  it('is refused if it would be incomplete, and reported if it does not exist', async () => {
    const remote = createRemote()
    const { project, options } = createClone(remote)
    await expect(restorePushedSnapshot(options, 'a'.repeat(40))).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' })
    await expect(pushSnapshot({ ...options, remote: join(remote, 'nowhere') })).rejects.toThrow('git')
    mkdirSync(join(project, 'inner'))
    git(join(project, 'inner'), 'init', '--quiet')
    await expect(pushSnapshot(options)).rejects.toThrow('holds other repositories')
  })
})
