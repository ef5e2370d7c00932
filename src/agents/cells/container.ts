import { join } from 'node:path'
import type { CellLimits } from '../../contract/cell.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { mountsBelow } from '../../platform/processes/mount-table.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import type { Availability, Cell, CellPlan, CellTools, Command, Machine } from './cell.ts'
import { findDevcontainer } from './devcontainer.ts'
import { wrapInLauncher } from './launcher.ts'
import { isWithin } from '../../platform/files/paths.ts'
import { type Mount } from './mounts.ts'
import { firstLine, runProbe } from './probe.ts'

/** What the Dockerfile of this repository builds. */
const ownImage = 'ralph-mode'

/** A container of docker, podman or any program that takes the same words. The image brings the system's files. */
export const container: Cell = {
  kind: 'container',
  guarantees: { filesystem: 'image', network: 'namespace', processes: 'namespace', systemCalls: 'filter' },
  async probe(machine) {
    const chosen = machine.container?.command
    const [file, ...options] = chosen ?? [['podman', 'docker'].find((name) => find(name, machine)) ?? '']
    const path = find(file ?? '', machine)
    if (path === undefined) {
      return { available: false, reason: `${chosen ? chosen[0] : 'podman or docker'} is not installed` }
    }
    const image = chooseImage(machine, path)
    if (
      image.missing !== undefined &&
      (await runProbe(machine.path, path, ...options, 'image', 'inspect', image.name)).code !== 0
    ) {
      return { available: false, reason: `there is no image ${image.name} here; ${image.missing}` }
    }
    return tryContainer(machine, { path, options, image: image.name })
  },
  wrap(command, plan, tools) {
    const words = containerCommand(command, plan, tools)
    // Nothing outside needs the signals that the launcher keeps from the program: the first process passes them on.
    const folders = [...plan.folders, ...listScratchPlaces(plan)]
    return wrapInLauncher(words, insideCommand(command), { ...plan, folders }, tools)
  },
  /** Not by its client alone: a container outlives that. */
  async end(name, { file, options, path = '' }) {
    // To remove a running one would first wait for it to end by itself.
    await runProbe(path, file, ...options, 'kill', '--signal=KILL', name)
    await runProbe(path, file, ...options, 'rm', '--force', name)
  },
}

const find = (name: string, { path, cwd }: Machine): string | undefined => findProgram(name, path, cwd)

type ImageChoice = {
  readonly name: string
  /** What to do if it is not on this machine; absent for a folder. */
  readonly missing?: string
}

/** The sprint's, else the project's devcontainer.json, else our own. */
function chooseImage({ container: settings, cwd }: Machine, program: string): ImageChoice {
  const chosenImage = settings?.image
  if (chosenImage?.startsWith('/')) return { name: chosenImage }
  if (chosenImage !== undefined) return { name: chosenImage, missing: `get it with "${program} pull ${chosenImage}"` }
  const project = findDevcontainer(cwd)
  if (project?.kind === 'image')
    return { name: project.image, missing: `get it with "${program} pull ${project.image}"` }
  if (project) {
    const { image, file, context } = project
    return { name: image, missing: `build it with "${program} build -t ${image} -f ${file} ${context}"` }
  }
  const build = `build it with "${program} build -t ${ownImage} ${packageRoot}", or name one: cell: {container: {image: …}}`
  return { name: ownImage, missing: build }
}

const limitNames = ['processes', 'memory', 'cpus'] as const

/** Files of both versions of cgroups, in which a container sees its own limits, with what the trial asks for. */
const trialLimits: Readonly<Record<(typeof limitNames)[number], { readonly flag: string; readonly seen: string }>> = {
  processes: { flag: '--pids-limit=512', seen: '512 pids.max pids/pids.max' },
  memory: { flag: '--memory=268435456', seen: '268435456 memory.max memory/memory.limit_in_bytes' },
  cpus: { flag: '--cpus=0.5', seen: '50000 cpu.max cpu/cpu.cfs_quota_us' },
}

/** Runs a container as an agent's would be, with and without limits: some runtimes fail on them, and some ignore them. */
async function tryContainer(
  machine: Machine,
  {
    path: file,
    options,
    image,
  }: { readonly path: string; readonly options: readonly string[]; readonly image: string },
): Promise<Availability> {
  const tools: CellTools = {
    file,
    options,
    canResetSignals: false,
    path: machine.path,
    perl: '/usr/bin/perl',
    container: { image, run: machine.container?.run ?? [] },
  }
  const attempt = (...limits: readonly string[]) => {
    const words = [file, ...options, 'run', '--rm', ...walls(tools), ...limits, '--network=none', ...program(tools)]
    return runProbe(
      machine.path,
      '/usr/bin/env',
      `HOME=${process.env['HOME'] ?? '/'}`,
      ...words,
      '-e',
      readLimits,
      '/sys/fs/cgroup',
    )
  }
  const limited = await attempt(...limitNames.map((name) => trialLimits[name].flag))
  const tried = limited.code === 0 ? limited : await attempt()
  if (tried.code !== 0) return { available: false, reason: `${file} does not work here: ${lastLine(tried.stdout)}` }
  const { stdout: versionOutput } = await runProbe(machine.path, file, '--version')
  const holds = limitNames.filter((name) => limited.code === 0 && limited.stdout.includes(`holds ${name}\n`))
  const version = `${/\d+(?:\.\d+)+/.exec(versionOutput)?.[0] ?? ''} of ${file} with ${image}`
  return { available: true, version: version.trim(), tools: { ...tools, holds } }
}

/** A program of docker prints its reason last, after warnings. */
const lastLine = (text: string): string => firstLine(text.trim().split('\n').at(-1) ?? '')

/** Perl of the image: it is there in every Debian and Ubuntu, and what the filter and the network need. */
const readLimits = `my $at = shift; ${limitNames
  .map((name) => {
    const [value, ...files] = trialLimits[name].seen.split(' ')
    return `for my $f (qw(${files.join(' ')})) { if (open my $h, "<", "$at/$f") { print "holds ${name}\\n" if <$h> =~ /^${value}\\b/ } }`
  })
  .join('; ')}`

/** What holds for every container of a cell. */
const walls = ({ container: use, file }: CellTools): string[] => [
  ...userFlags(file),
  '--read-only',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--cgroupns=private',
  '--hostname=cell',
  '--log-driver=none',
  '--ulimit=nofile=1024:1024',
  '--ulimit=nproc=4096:4096',
  ...(use?.run ?? []),
]

/** The files of this user belong to the user inside; root is a user without rights there, where the program can map it. */
function userFlags(file: string): string[] {
  const [uid, gid] = [process.getuid?.() ?? 1000, process.getgid?.() ?? 1000]
  const isPodman = file.endsWith('podman')
  if (!isPodman) return [`--user=${uid}:${gid}`]
  if (uid !== 0) return ['--userns=keep-id', `--user=${uid}:${gid}`]
  const map = ['uidmap', 'gidmap'].flatMap((name) => [`--${name}=1000:0:1`, `--${name}=0:100000:1000`])
  return [...map, '--user=1000:1000']
}

/** The image and its program: podman takes a folder for an image. */
const program = ({ container: use }: CellTools): string[] => {
  const image = use?.image ?? ownImage
  return ['--entrypoint=/usr/bin/perl', ...(image.startsWith('/') ? ['--rootfs', image] : ['--pull=never', image])]
}

function containerCommand({ env }: Command, plan: CellPlan, tools: CellTools): string[] {
  const kept = plan.mounts.filter(isShown)
  const filter = plan.systemCallFilter === undefined ? [] : [bind(filterPlace, plan.systemCallFilter, false)]
  return [
    tools.file,
    ...tools.options,
    'run',
    '--rm',
    '--interactive',
    `--name=${plan.name}`,
    ...walls(tools),
    ...limitFlags(plan.limits, tools.holds ?? []),
    `--network=${plan.network === 'own' ? 'none' : 'host'}`,
    `--workdir=${plan.cwd}`,
    // By name alone: arguments can be read by every user of the machine.
    ...Object.keys(env).map((name) => `--env=${name}`),
    ...kept.flatMap((mount) => mountFlag(mount, plan)),
    ...filter,
    ...program(tools),
    '-e',
    firstProcess,
    plan.systemCallFilter === undefined ? '' : filterPlace,
  ]
}

const filterPlace = '/run/ralph-filter.bpf'

function limitFlags(limits: CellLimits, holds: readonly string[]): string[] {
  const { processes, memory, cpus } = limits
  return [
    ...(processes !== undefined && holds.includes('processes') ? [`--pids-limit=${processes}`] : []),
    ...(memory !== undefined && holds.includes('memory') ? [`--memory=${memory}`, `--memory-swap=${memory}`] : []),
    ...(cpus !== undefined && holds.includes('cpus') ? [`--cpus=${cpus}`] : []),
  ]
}

/** Folders that an image brings; a container's runtime makes the last three. */
const imageFolders = '/usr /opt /nix /snap /bin /sbin /lib /lib32 /lib64 /libx32 /etc /proc /dev /sys'.split(' ')

const brought = (path: string): boolean => imageFolders.some((folder) => isWithin(path, folder))

/** The plan of all cells without what the image brings instead. */
const isShown = (mount: Mount): boolean => mount.path === packageRoot || (mount.kind !== 'link' && !brought(mount.path))

function mountFlag(mount: Mount, { scratch }: CellPlan): string[] {
  switch (mount.kind) {
    case 'bind': {
      // What is mounted below would stay writable.
      const below = mount.write ? [] : mountsBelow(mount.from)
      const places = [mount.from, ...below]
      return places.map((place) => bind(`${mount.path}${place.slice(mount.from.length)}`, place, mount.write))
    }
    case 'tmpfs':
      // In memory it would belong to the container's root. The launcher makes the folder.
      return mount.write && mount.path !== '/run'
        ? [bind(mount.path, scratchPlace(scratch, mount.path), true)]
        : [
            `--tmpfs=${mount.path}:${mount.write ? 'rw' : 'ro'},size=${mount.megabytes}m,mode=${mount.write ? '1777' : '755'}`,
          ]
    case 'link':
    case 'proc':
    case 'dev':
      return []
  }
}

const scratchPlace = (scratch: string, path: string): string => join(scratch, path.replaceAll('/', '+'))

/** Folders of the attempt that stand in for memory. */
const listScratchPlaces = ({ mounts, scratch }: Pick<CellPlan, 'mounts' | 'scratch'>): string[] =>
  mounts.flatMap((mount) =>
    mount.kind === 'tmpfs' && mount.write && isShown(mount) && mount.path !== '/run'
      ? [scratchPlace(scratch, mount.path)]
      : [],
  )

const quote = (text: string): string => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** The words are one line of CSV, in which a quoted field may hold commas. */
function bind(path: string, from: string, write: boolean): string {
  const words = ['type=bind', quote(`source=${from}`), quote(`target=${path}`), ...(write ? [] : ['readonly'])]
  return `--mount=${words.join(',')}`
}

/** A program that the image brings is found by its name there. */
const insideCommand = (command: Command): Command =>
  brought(command.file) && command.file !== '/usr/bin/perl' && !isWithin(command.file, packageRoot)
    ? { ...command, file: command.file.slice(command.file.lastIndexOf('/') + 1) }
    : command

const [prctl, seccomp] = process.arch === 'arm64' ? [167, 277] : [157, 317]

/** Number 1 of the container: closes system calls and its memory (PR_SET_DUMPABLE), starts the program, passes signals on, ends all with it. */
const firstProcess = `my $at = shift;
if ($at ne "") { open F, "<", $at or exit 126; binmode F; my $f = do { local $/; <F> }; close F;
  my $p = pack("S x6 P", length($f) / 8, $f);
  syscall(${prctl}, 38, 1, 0, 0, 0) == 0 && syscall(${seccomp}, 1, 0, $p) == 0 or exit 126 }
syscall(${prctl}, 4, 0, 0, 0, 0) == 0 or exit 126;
my $child = fork; defined $child or exit 126;
unless ($child) { setpgrp; exec { $ARGV[0] } @ARGV; print STDERR "ralph: $ARGV[0] is not in the image: $!\\n"; exit 127 }
for my $name (qw(TERM INT HUP)) { $SIG{$name} = sub { kill $name, -$child } }
for (;;) { my $ended = waitpid -1, 0; next if $ended == -1 && $!{EINTR};
  exit($? & 127 ? 128 + ($? & 127) : $? >> 8) if $ended == $child; exit 126 if $ended == -1 }`
