import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../test/support/folder.ts'
import { openAgentWorkspace, removeAgentWorkspace } from './workspaces.ts'

const agentId = '00000000-0000-4000-8000-000000000001'

function createPlaces() {
  const folder = createTestFolder()
  const repository = join(folder, 'projects', 'repository')
  mkdirSync(repository, { recursive: true })
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: repository, stdio: 'pipe' })
  git('init', '--quiet', '--initial-branch', 'main')
  writeFileSync(join(repository, 'file'), 'first\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
  const home = join(folder, 'home')
  return { repository, git, places: { home, roots: [join(folder, 'projects')], workspaces: join(home, 'workspaces') } }
}

describe('the workspace of an agent', () => {
  it('is a clone of a repository, created once', async () => {
    const { repository, places: at } = createPlaces()
    const workspace = { kind: 'clone' as const, repository, branch: 'main' }
    const folder = await openAgentWorkspace(agentId, workspace, at)
    writeFileSync(join(folder, 'mine'), 'kept')
    expect(await openAgentWorkspace(agentId, workspace, at)).toBe(folder)
    expect([readFileSync(join(folder, 'file'), 'utf8'), readFileSync(join(folder, 'mine'), 'utf8')]).toEqual([
      'first\n',
      'kept',
    ])
  })

  it('replaces a partial clone', async () => {
    const { repository, places: at } = createPlaces()
    mkdirSync(join(at.workspaces, agentId, '.git'), { recursive: true })
    const folder = await openAgentWorkspace(agentId, { kind: 'clone', repository }, at)
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('first\n')
  })

  it('refuses repositories outside the roots, and programs in place of an address', async () => {
    const { places: at } = createPlaces()
    const outside = openAgentWorkspace(agentId, { kind: 'clone', repository: createTestFolder() }, at)
    await expect(outside).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' })
    const program = openAgentWorkspace(agentId, { kind: 'clone', repository: 'ext::sh -c touch% x' }, at)
    await expect(program).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' })
    const option = openAgentWorkspace(agentId, { kind: 'clone', repository: '--upload-pack=x' }, at)
    await expect(option).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' })
  })

  it('is a worktree on its own branch, removed when the agent is archived unless work would be lost', async () => {
    const { repository, git, places: at } = createPlaces()
    const workspace = { kind: 'worktree' as const, path: repository, branch: 'agent-one' }
    const folder = await openAgentWorkspace(agentId, workspace, at)
    writeFileSync(join(folder, 'file'), 'changed\n')
    expect(await removeAgentWorkspace(agentId, workspace, at)).toContain('uncommitted changes')
    execFileSync('git', ['checkout', '--quiet', '.'], { cwd: folder })
    expect(await removeAgentWorkspace(agentId, workspace, at)).toBeUndefined()
    expect(git('branch', '--list', 'agent-one').toString()).toContain('agent-one')
  })
})
