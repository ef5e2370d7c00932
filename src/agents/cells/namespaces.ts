import { quoteShellWord } from '../../contract/text.ts'
import { isFolder } from '../../platform/files/files.ts'
import { mountFlags, mountsBelow } from '../../platform/processes/mount-table.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import type { Cell, CellPlan, CellTools } from './cell.ts'
import { wrapInLauncher } from './launcher.ts'
import type { Mount } from './mounts.ts'
import { firstLine, runProbe } from './probe.ts'

/** The same walls by util-linux alone (`unshare`, `mount`, `pivot_root`), where bubblewrap is missing. The filter needs perl. */
export const namespaces: Cell = {
  kind: 'namespaces',
  guarantees: { filesystem: 'allow-list', network: 'namespace', processes: 'namespace', systemCalls: 'filter' },
  async probe({ platform, path, cwd }) {
    if (platform !== 'linux') return { available: false, reason: 'namespaces are only for Linux' }
    const find = (name: string) => findProgram(name, `${path}:/usr/sbin:/sbin`, cwd)
    const file = find('unshare')
    const missing = ['mount', 'umount', 'pivot_root', 'setsid'].find((name) => find(name) === undefined)
    if (file === undefined || missing !== undefined) {
      return { available: false, reason: `${missing ?? 'unshare'} (util-linux) is not installed` }
    }
    const nested = [file, '--user', '--map-user=1000', '--map-group=1000', '--keep-caps', ...dropRights, 'true']
    const [{ stdout: versionOutput }, tried, signalReset, ownGroups] = await Promise.all([
      runProbe(path, file, '--version'),
      runProbe(path, file, ...kinds, '--net', '--mount-proc', ...nested),
      runProbe(path, 'env', '--default-signal=TERM', 'true'),
      runProbe(path, file, '--user', '--map-root-user', '--cgroup', 'true'),
    ])
    if (tried.code !== 0) {
      return { available: false, reason: `user namespaces do not work here: ${firstLine(tried.stdout)}` }
    }
    const version = /\d+(?:\.\d+)+/.exec(versionOutput)?.[0] ?? 'of an unknown version'
    const perl = find('perl')
    const options = ownGroups.code === 0 ? ['--cgroup'] : []
    return {
      available: true,
      version,
      tools: { file, canResetSignals: signalReset.code === 0, options, ...(perl && { perl }) },
    }
  },
  wrap: (command, plan, tools) => wrapInLauncher(namespacesCommand(plan, tools), command, plan, tools),
}

const kinds = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child', '--ipc', '--uts']

/** Up to the program. The first process of the cell builds it, waits for the program and ends everything with it. */
function namespacesCommand(plan: CellPlan, tools: CellTools): string[] {
  const own = plan.network === 'own' ? ['--net'] : []
  const user = `${tools.file} --user --map-user=${plan.uid} --map-group=${plan.gid} --keep-caps`
  const filter = plan.systemCallFilter !== undefined && tools.perl !== undefined
  const last = [...dropRights, ...(filter ? [tools.perl, '-e', applyFilter] : [])]
  const script = [
    'set -e; PATH=$PATH:/usr/sbin:/sbin; root=$1; shift',
    'mount -t tmpfs -o mode=755,size=64m cell "$root"; mount --make-unbindable "$root"',
    make,
    ...plan.mounts.map((mount) => mountLine(mount, plan.folders)),
    'mkdir "$root/.outside"; cd "$root"; pivot_root . .outside; umount -l /.outside; rmdir /.outside',
    ...(own.length > 0 ? [`ip link set lo up 2>/dev/null || ${tools.perl ?? 'perl'} -e '${raiseLoopback}'`] : []),
    'hostname cell 2>/dev/null || :',
    ...plan.mounts.flatMap((mount) =>
      mount.kind === 'tmpfs' && !mount.write ? [`mount -o remount,bind,ro ${quoteShellWord(mount.path)}`] : [],
    ),
    // The one namespace that the program itself gets is the last one.
    'echo 1 >/proc/sys/user/max_user_namespaces',
    'mkfifo /run/.ready /run/.go; exec 8<>/run/.ready 9<>/run/.go; rm /run/.ready /run/.go',
    'mount -o remount,bind,ro /',
    `cd ${quoteShellWord(plan.cwd)}`,
    // Its numbers are written through /proc, which may be closed only after that.
    'exec 7<&0',
    `${user} sh -c 'echo >&8; read -r go <&9; exec "$@" 7<&- 8>&- 9>&-' cell "$@" <&7 &`,
    'program=$!; read -r ready <&8; mount -o remount,bind,ro,nosuid,nodev,noexec /proc; echo >&9',
    // A program that was killed is not a failure of this script.
    'set +e; exec 3<&-; wait $program; exit $?',
  ]
  const build = [
    tools.file,
    ...kinds,
    ...tools.options,
    ...own,
    '--',
    'setsid',
    'sh',
    '-c',
    script.join('\n'),
    'cell',
    plan.scratch,
  ]
  return [...build, ...last.filter((word) => word !== undefined)]
}

/** The last user namespace would grant its first program every capability in it. */
const dropRights = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs', '--']

/** The place for a mount, where nothing is there yet. */
const make = `make_folder() { [ -e "$1" ] || mkdir -p "$1"; }
make_file() { [ -e "$1" ] || { make_folder "\${1%/*}"; : >"$1"; }; }`

function mountLine(mount: Mount, folders: CellPlan['folders']): string {
  const at = `"$root"${quoteShellWord(mount.path)}`
  switch (mount.kind) {
    case 'bind': {
      const isPlace = isFolder(mount.from) || folders.includes(mount.from)
      const place = `make_${isPlace ? 'folder' : 'file'} ${at}`
      const bind = `mount --rbind ${quoteShellWord(mount.from)} ${at}`
      return mount.write ? `${place}; ${bind}` : [`${place}; ${bind}`, ...closeAll(mount.from, mount.path)].join('\n')
    }
    case 'tmpfs':
      return `make_folder ${at}; mount -t tmpfs -o size=${mount.megabytes}m,mode=${mount.mode ?? '755'} cell ${at}`
    case 'link':
      return `ln -s ${quoteShellWord(mount.to)} ${at}`
    case 'proc':
      return `make_folder ${at}; mount -t proc -o nosuid,nodev,noexec proc ${at}`
    case 'dev':
      return devices(at)
  }
}

/** A recursive bind includes the mounts below, each with its own write permission. */
function closeAll(from: string, path: string): string[] {
  const places = [from, ...mountsBelow(from)]
  return places.map((place) => {
    // A mount must repeat the restrictions of the mount that it covers.
    const flags = ['remount', 'bind', 'ro', ...mountFlags(place)].join(',')
    return `mount -o ${flags} "$root"${quoteShellWord(`${path}${place.slice(from.length)}`)}`
  })
}

const devices = (at: string): string => `make_folder ${at}; mount -t tmpfs -o mode=755,size=1m cell ${at}
for name in null zero full random urandom tty; do : >${at}/$name; mount --bind /dev/$name ${at}/$name; done
mkdir ${at}/pts ${at}/shm; mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts ${at}/pts
ln -s pts/ptmx ${at}/ptmx; ln -s /proc/self/fd ${at}/fd
ln -s /proc/self/fd/0 ${at}/stdin; ln -s /proc/self/fd/1 ${at}/stdout; ln -s /proc/self/fd/2 ${at}/stderr`

/** Reads the filter from descriptor 3, and gives up rather than run without it. */
const [prctl, seccomp] = process.arch === 'arm64' ? [167, 277] : [157, 317]
const applyFilter = `open F, "<&=3"; binmode F; local $/; $f = <F>; close F;
$p = pack("S x6 P", length($f) / 8, $f);
syscall(${prctl}, 38, 1, 0, 0, 0) == 0 && syscall(${seccomp}, 1, 0, $p) == 0 or exit 126;
exec { $ARGV[0] } @ARGV; exit 127`

/** SIOCSIFFLAGS with IFF_UP and IFF_RUNNING. */
const raiseLoopback = 'socket(S,2,2,0); ioctl(S,0x8914,pack("a16 S x22","lo",0x41)) or exit 1'

/** Within single quotes a shell takes every byte for itself; only the quote has to stand outside. */
