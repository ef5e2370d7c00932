import { findProgram } from '../../platform/processes/programs.ts'
import type { Cell, CellPlan, CellTools } from './cell.ts'
import { wrapInLauncher } from './launcher.ts'
import type { Mount } from './mounts.ts'
import { firstLine, runProbe } from './probe.ts'

/** Uses bubblewrap, https://github.com/containers/bubblewrap. The default wherever it works. */
export const bubblewrap: Cell = {
  kind: 'bubblewrap',
  guarantees: { filesystem: 'allow-list', network: 'namespace', processes: 'namespace', systemCalls: 'filter' },
  async probe({ platform, path, cwd }) {
    if (platform !== 'linux') return { available: false, reason: 'bubblewrap is only for Linux' }
    const file = findProgram('bwrap', path, cwd)
    if (file === undefined) return { available: false, reason: 'bubblewrap is not installed' }
    const walls = [...namespaces, '--unshare-net', '--die-with-parent', '--cap-drop', 'ALL', '--ro-bind', '/', '/']
    const inside = ['--dev', '/dev', '--proc', '/proc', '--', 'true']
    const [{ stdout: versionOutput }, tried, signalReset, noNested] = await Promise.all([
      runProbe(path, file, '--version'),
      runProbe(path, file, ...walls, ...inside),
      runProbe(path, 'env', '--default-signal=TERM', 'true'),
      runProbe(path, file, ...walls, '--disable-userns', ...inside),
    ])
    if (tried.code !== 0) {
      return { available: false, reason: `bubblewrap does not work here: ${firstLine(tried.stdout)}` }
    }
    const version = /\d+(?:\.\d+)+/.exec(versionOutput)?.[0] ?? 'of an unknown version'
    const options = noNested.code === 0 ? ['--disable-userns'] : []
    return { available: true, version, tools: { file, canResetSignals: signalReset.code === 0, options } }
  },
  wrap: (command, plan, tools) => wrapInLauncher(bubblewrapCommand(plan, tools), command, plan, tools),
}

const namespaces = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try']

/** The command line before the program. The program inherits the environment, because every user can read arguments. */
function bubblewrapCommand(plan: CellPlan, { file, options }: Pick<CellTools, 'file' | 'options'>): string[] {
  return [
    file,
    ...namespaces,
    ...options,
    ...(plan.network === 'own' ? ['--unshare-net'] : []),
    '--uid',
    `${plan.uid}`,
    '--gid',
    `${plan.gid}`,
    '--hostname',
    'cell',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...plan.mounts.flatMap(mountArguments),
    // Otherwise root could write files below /proc/sys, such as the kernel's core dump program.
    '--remount-ro',
    '/proc',
    '--remount-ro',
    '/',
    ...plan.mounts.flatMap((mount) => (mount.kind === 'tmpfs' && !mount.write ? ['--remount-ro', mount.path] : [])),
    ...(plan.systemCallFilter === undefined ? [] : ['--seccomp', '3']),
    '--chdir',
    plan.cwd,
    '--',
  ]
}

export function mountArguments(mount: Mount): string[] {
  switch (mount.kind) {
    case 'bind':
      return [mount.write ? '--bind' : '--ro-bind', mount.from, mount.path]
    case 'tmpfs':
      return ['--perms', mount.mode ?? '0755', '--size', `${mount.megabytes * 1024 ** 2}`, '--tmpfs', mount.path]
    case 'link':
      return ['--symlink', mount.to, mount.path]
    case 'proc':
    case 'dev':
      return [`--${mount.kind}`, mount.path]
  }
}
