import { quoteShellWord } from '../../contract/text.ts'
import { join } from 'node:path'
import { runCaptured } from '../../platform/processes/captured-process.ts'
import {
  exists,
  createFolder,
  createTemporaryFolder,
  readTextSyncIfExists,
  realPath,
  removeFolder,
} from '../../platform/files/files.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { writeText } from '../../platform/files/text-files.ts'
import type { Confine } from './confine.ts'
import type { Enclosure, RoomCommand, RoomMount } from './enclosure.ts'
import { plainEnclosure } from './plain.ts'
import { viewMachine, type RoomView } from './room-view.ts'

export type EnclosureOptions = {
  /** Where rooms keep their layers: whether overlays work depends on the file system. */
  readonly folder: string
  /** Folders that no command sees: Ralph's own, secrets of the user. */
  readonly hidden: readonly string[]
  readonly path: string
  /** The user's home folder, of which commands see toolchains. */
  readonly home: string
  /** For a machine that cannot have a room of its own. */
  readonly confine?: Confine | undefined
}

type Programs = { readonly bwrap: string; readonly unshare: string; readonly layers: 'disk' | 'memory' }

/** Tries what works on this machine: bubblewrap with overlays, or nothing. */
export async function openEnclosure(options: EnclosureOptions): Promise<Enclosure> {
  const plain = (why: string) => plainEnclosure(why, options.confine)
  if (process.platform !== 'linux') return plain('namespaces are only on Linux')
  const bwrap = findProgram('bwrap', options.path, '/')
  const unshare = findProgram('unshare', options.path, '/')
  if (bwrap === undefined) return plain('bubblewrap is not installed')
  if (unshare === undefined) return plain('unshare is not installed')
  let reason = ''
  // Layers on the disk hold large builds. Where the disk is an overlay itself, as in containers, they go into memory.
  for (const layers of ['disk', 'memory'] as const) {
    const enclosure = bubblewrapEnclosure({ bwrap, unshare, layers }, options)
    const problem = await probe(enclosure, options)
    if (problem === undefined) return enclosure
    reason = problem
  }
  return plain(`namespaces are refused here: ${reason}`)
}

/** Undefined if a file of a lower layer can be read and changed in an overlay. */
async function probe(enclosure: Enclosure, { folder, path }: EnclosureOptions): Promise<string | undefined> {
  await createFolder(folder)
  const scratch = join(folder, `probe-${process.pid}`)
  const place = realPath(await createTemporaryFolder('ralph-room'))
  try {
    await writeText(join(scratch, 'lower', 'seen'), 'seen')
    const { exitCode, output, failure } = await enclosure.run({
      argv: ['/bin/sh', '-c', 'test "$(cat seen)" = seen && echo more >> seen'],
      cwd: place,
      mounts: [{ kind: 'overlay', lower: [realPath(join(scratch, 'lower'))], at: place }],
      env: { PATH: path },
      network: false,
      timeoutMs: 10_000,
      scratch: realPath(scratch),
    })
    if (exitCode === 0 && readTextSyncIfExists(join(scratch, 'lower', 'seen')) === 'seen') return undefined
    return failure ?? lastLine(output)
  } finally {
    await removeLayers(scratch)
    await removeFolder(place)
  }
}

const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin'

/** Overlays leave folders behind that only a change of mode makes removable. */
export async function removeLayers(scratch: string): Promise<void> {
  const script = 'chmod -R u+rwX "$1" 2>/dev/null; rm -rf "$1"'
  const env = { PATH: `${systemPath}:${process.env['PATH'] ?? ''}` }
  await runCaptured({ argv: ['/bin/sh', '-c', script, 'sh', scratch], cwd: '/', env, timeoutMs: 600_000 })
}

const bubblewrapEnclosure = (programs: Programs, options: EnclosureOptions): Enclosure => ({
  kind: 'namespaces',
  run: async (command) => {
    const view = await viewMachine(options, command)
    const script = mountScript(programs, command, { ...view, words: bubblewrapWords(programs, command, view) })
    const argv = [programs.unshare, '-Urm', '--propagation', 'private', '/bin/sh', '-c', script] as const
    const { timeoutMs, env, signal } = command
    // Bubblewrap takes over the environment it is started with; in arguments every user could read it.
    const run = await runCaptured({ argv: [...argv], cwd: '/', env, timeoutMs, signal, withStart: true })
    return run.began || run.failure !== undefined ? run : { ...run, failure: lastLine(run.output) }
  },
})

/** Reports on a pipe that all mounts exist. The command cannot undo this report. */
const announce = ['/bin/sh', '-c', 'echo >&3; exec 3>&-; exec "$@"', 'room']

const lastLine = (output: string): string => output.trim().split('\n').at(-1)?.slice(0, 300) || 'a mount was refused'

type Overlay = Extract<RoomMount, { kind: 'overlay' }>

/** Names relative to the scratch folder: options of a mount are separated by commas and colons, which paths may contain. */
function mountScript({ layers }: Programs, { scratch, mounts }: RoomCommand, { words, filter }: RoomView): string {
  const overlays = mounts.filter((mount): mount is Overlay => mount.kind === 'overlay')
  const options = 'userxattr,volatile'
  const lowers = overlays.flatMap(({ lower }, n) =>
    lower.map((path, m) => `mkdir -p layers/${n}/${m} && mount --rbind ${quoteShellWord(path)} layers/${n}/${m}`),
  )
  const mounted = overlays.flatMap(({ lower, at, without = [] }, n) => [
    `mkdir -p layers/${n}/up layers/${n}/work ${quoteShellWord(at)}`,
    `mount -t overlay room -o lowerdir=${lower.map((_, m) => `layers/${n}/${m}`).join(':')},upperdir=layers/${n}/up,workdir=layers/${n}/work,${options} ${quoteShellWord(at)}`,
    ...without.map((name) => `rm -rf ${quoteShellWord(join(at, name))}`),
  ])
  const steps = [
    // An agent may have put a `mount` into a folder of the project that is on PATH; these run before the walls are there.
    `ralph_path=$PATH && PATH=${systemPath}:$PATH`,
    `cd ${quoteShellWord(scratch)}`,
    'mkdir -p layers',
    ...(layers === 'memory' ? ['mount -t tmpfs layers layers'] : []),
    ...lowers,
    ...mounted,
    'cd /',
    'unset OLDPWD',
    'PATH=$ralph_path',
  ]
  return `${steps.join(' && ')} && exec ${words.map(quoteShellWord).join(' ')} 4<${quoteShellWord(filter ?? '/dev/null')}`
}

function bubblewrapWords({ bwrap }: Programs, command: RoomCommand, view: RoomView): string[] {
  const { mounts, network, cwd, argv } = command
  const [user, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return [
    bwrap,
    ...split(`--unshare-all --unshare-user ${network ? '--share-net' : ''} --uid ${user} --gid ${group}`),
    ...split('--die-with-parent --new-session --cap-drop ALL --hostname room'),
    ...view.words,
    ...(network ? nameResolution() : []),
    ...mounts.flatMap((mount) => mountWords(mount)),
    // Otherwise root could write the kernel's settings below /proc/sys.
    ...split('--remount-ro /proc --remount-ro /'),
    ...(view.filter === undefined ? [] : ['--seccomp', '4']),
    '--chdir',
    cwd,
    '--',
    ...announce,
    ...argv,
  ]
}

const split = (words: string): string[] => words.split(/ +/).filter((word) => word !== '')

function mountWords(mount: RoomMount): string[] {
  switch (mount.kind) {
    case 'overlay':
      return ['--bind', mount.at, mount.at]
    case 'bind':
    case 'ro-bind':
      return [`--${mount.kind}`, mount.from, mount.at]
    case 'tmpfs':
      return ['--tmpfs', mount.at]
  }
}

/** On many systems the file that names the resolver lies below /run. */
function nameResolution(): string[] {
  if (!exists('/etc/resolv.conf')) return []
  const file = realPath('/etc/resolv.conf')
  return file.startsWith('/run/') ? ['--ro-bind', file, file] : []
}
