import { expect, it } from 'vitest'
import { bubblewrapArguments, isWithin, type SandboxProfile } from './profile.ts'

const profile: SandboxProfile = {
  cwd: '/home/me/project',
  temporary: '/home/me/project/s/tmp/1-1',
  readable: ['/usr/bin', '/tmp/tools/bin', '/home/me'],
  writable: ['/home/me/project', '/home/me/.claude', '/home/me/project/s'],
  readOnly: ['/home/me/project/s/journal', '/home/me/project/.git/hooks'],
  hidden: ['/home/me/.ralph'],
  told: '/home/me/project/s/attempts/1-1/told',
  asRoot: false,
}

it('mounts from the outside in: what is mounted later covers what is there', () => {
  expect(bubblewrapArguments(profile).join(' ')).toBe(
    [
      '--unshare-pid --die-with-parent --cap-drop ALL',
      '--ro-bind / / --dev /dev --proc /proc',
      '--bind /home/me/project/s/tmp/1-1 /tmp --bind /home/me/project/s/tmp/1-1 /var/tmp',
      '--ro-bind /tmp/tools/bin /tmp/tools/bin',
      '--bind /home/me/.claude /home/me/.claude --bind /home/me/project /home/me/project',
      '--bind /home/me/project/s /home/me/project/s',
      '--tmpfs /home/me/.ralph',
      '--ro-bind /home/me/project/s/journal /home/me/project/s/journal',
      '--ro-bind /home/me/project/.git/hooks /home/me/project/.git/hooks',
      '--bind /home/me/project/s/attempts/1-1/told /home/me/project/s/attempts/1-1/told',
      '--chdir /home/me/project --',
    ].join(' '),
  )
})

it('lets what is writable be seen in what is hidden', () => {
  const notes = '/home/me/.ralph/notes/one'
  const words = bubblewrapArguments({ ...profile, writable: [...profile.writable, notes] }).join(' ')
  expect(words).toContain(`--tmpfs /home/me/.ralph --bind ${notes} ${notes} --ro-bind`)
})

it('gives no part of the environment away in its arguments', () => {
  expect(bubblewrapArguments(profile)).not.toContain('--setenv')
})

it('leaves root what it needs among its own files, and nothing to undo the mounts with', () => {
  const given = bubblewrapArguments({ ...profile, asRoot: true })

  expect(given.filter((_, index) => given[index - 1] === '--cap-add')).toEqual([
    'CAP_CHOWN',
    'CAP_DAC_OVERRIDE',
    'CAP_FOWNER',
    'CAP_SETGID',
    'CAP_SETUID',
  ])
})

it('mounts each path once', () => {
  const twice = bubblewrapArguments({ ...profile, writable: ['/a', '/a', '/a/b'], readable: ['/tmp/x', '/tmp/x'] })

  expect(twice.filter((word) => word === '/a' || word === '/tmp/x')).toHaveLength(4)
})

it.each([
  ['/a/b', '/a', true],
  ['/a', '/a', true],
  ['/ab', '/a', false],
  ['/a', '/', true],
])('%s is within %s: %s', (path, folder, answer) => {
  expect(isWithin(path, folder)).toBe(answer)
})
