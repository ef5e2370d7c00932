import { expect, it } from 'vitest'
import type { AgentWorkspace } from '../../contract/fleet/agent.ts'
import { assertProgramGranted, assertWorkspaceGranted, resolveRights, type MachineRights } from './machine-rights.ts'

const machines = {
  'her own': { ownerId: 'ada', shared: false },
  'of another user': { ownerId: 'eve', shared: false },
  'of another user, shared': { ownerId: 'eve', shared: true },
  'without an owner': { ownerId: null, shared: false },
}
const grants = {
  none: undefined,
  run: { level: 'run' as const, roots: [] },
  command: { level: 'command' as const, roots: [] },
}

it('lets a user run what the owner of the machine agreed to, admins too', () => {
  const table = Object.entries(machines).map(([name, machine]) => [
    name,
    ...Object.values(grants).map((grant) => resolveRights({ id: 'ada', role: 'member' }, machine, grant).level ?? '-'),
    resolveRights({ id: 'ada', role: 'admin' }, machine, undefined).level ?? '-',
  ])
  expect(table).toEqual([
    ['her own', 'command', 'command', 'command', 'command'],
    ['of another user', '-', '-', '-', '-'],
    ['of another user, shared', '-', 'run', 'command', 'command'],
    ['without an owner', '-', 'run', 'command', 'command'],
  ])
})

it('lets the owner and admins grant access', () => {
  const manages = (id: string, role: 'member' | 'admin') =>
    resolveRights({ id, role }, machines['of another user'], undefined).manages
  expect([manages('eve', 'member'), manages('ada', 'admin'), manages('ada', 'member')]).toEqual([true, true, false])
})

const rights = (level: MachineRights['level'], roots?: readonly string[]): MachineRights => ({
  level,
  roots,
  manages: false,
})

it.each(['command:cat /etc/passwd', 'acp:/tmp/evil'])('refuses %s without the stronger grant', (program) => {
  expect(() => assertProgramGranted(rights('run'), program)).toThrow('you are not allowed to run')
  expect(() => assertProgramGranted(undefined, program)).toThrow('you are not allowed to run')
  assertProgramGranted(rights('command'), program)
  assertProgramGranted(rights('run'), 'claude')
})

it.each<[string, AgentWorkspace]>([
  ['a folder', { kind: 'folder', path: '/home/alice/secret' }],
  ['a folder whose name only begins alike', { kind: 'folder', path: '/home/bobby' }],
  ['a folder behind dots', { kind: 'folder', path: '/home/bob/../alice' }],
  ['a worktree', { kind: 'worktree', path: '/home/alice/app', branch: 'x' }],
  ['a local repository', { kind: 'clone', repository: '/home/alice/app' }],
  ['a local push target', { kind: 'clone', repository: 'https://example.com/x.git', push: '/home/alice/app' }],
])('refuses %s outside the roots of the user', (_, workspace) => {
  expect(() => assertWorkspaceGranted(rights('run', ['/home/bob']), workspace)).toThrow('you are not allowed to use')
  assertWorkspaceGranted(rights('command'), workspace)
})

it.each<[readonly string[], AgentWorkspace]>([
  [['/home/bob'], { kind: 'folder', path: '/home/bob/app' }],
  [[], { kind: 'clone', repository: 'git@example.com:x.git', push: 'origin' }],
])('allows folders inside the roots %j, and clones of remote repositories', (roots, workspace) => {
  expect(() => assertWorkspaceGranted(rights('run', roots), workspace)).not.toThrow()
})
