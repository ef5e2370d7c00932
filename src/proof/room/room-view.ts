import { dirname, isAbsolute, join, resolve } from 'node:path'
import { mountArguments } from '../../agents/cells/bubblewrap.ts'
import { homeView, programFolders, withoutSecrets } from '../../agents/cells/home-view.ts'
import { orderMounts } from '../../agents/cells/mounts.ts'
import { systemCallFilter } from '../../agents/cells/seccomp.ts'
import { copyEtc, systemMounts } from '../../agents/cells/system-view.ts'
import { createFolder, exists, leadsOut, readTextSyncIfExists, realPath } from '../../platform/files/files.ts'
import { isWithin } from '../../platform/files/paths.ts'
import { writeScratch } from '../../platform/files/scratch-files.ts'
import type { RoomCommand } from './enclosure.ts'

export type RoomView = {
  /** Arguments of bubblewrap that show the machine. */
  readonly words: readonly string[]
  /** A classic BPF program on disk. */
  readonly filter: string | undefined
}

/** Variables that name files and folders which commands of the room read. */
const pathVariables = [
  'JAVA_HOME GOROOT GOMODCACHE NVM_DIR VOLTA_HOME PYENV_ROOT RBENV_ROOT RUSTUP_HOME DOTNET_ROOT SDKMAN_DIR MISE_DATA_DIR ASDF_DIR',
  'LD_LIBRARY_PATH SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS npm_config_userconfig PIP_CONFIG_FILE',
].flatMap((names) => names.split(' '))

export type ViewOptions = {
  /** Ralph's own folder for rooms. */
  readonly folder: string
  /** Folders that no command sees. */
  readonly hidden: readonly string[]
  /** The user's home folder. */
  readonly home: string
}

/**
 * What a command in the room sees of this machine, by the rules of a cell: a check runs what the agent wrote, and what it prints is read
 * by the agent. So no home folder but for toolchains, and of /etc what programs need.
 */
export async function viewMachine({ folder, hidden, home }: ViewOptions, command: RoomCommand): Promise<RoomView> {
  const { scratch, env, cwd } = command
  const temporary = join(scratch, 'tmp')
  await createFolder(temporary)
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  const etc = await copyEtc(folder, { uid, gid, home: env['HOME'] ?? '/' })
  const existing = (paths: readonly string[]): string[] =>
    paths
      .filter((path) => isAbsolute(path) && exists(path) && !leadsOut(resolve(path), cwd))
      .map((path) => realPath(path))
  const programs = existing([...(env['PATH'] ?? '').split(':'), dirname(process.execPath), process.execPath])
  const folders = programs.map((path) => (path === realPath(process.execPath) ? dirname(path) : path))
  const named = pathVariables.flatMap((name) => (env[name] ?? '').split(':'))
  const readable = existing([
    ...homeView(home, {}, '').readable,
    ...programFolders(folders, { home, hidden: [home, cwd, ...hidden] }),
    ...named,
    ...cargoFiles(env['CARGO_HOME'] ?? join(home, '.cargo')),
  ]).filter((path) => !isWithin(cwd, path) && !isWithin(path, cwd) && !hidden.some((each) => isWithin(path, each)))
  const mounts = orderMounts({
    system: systemMounts({ temporary, etc }).filter(({ path }) => path !== '/tmp' && path !== '/var/tmp'),
    readable,
    writable: [],
    emptyFolders: existing(hidden).filter((path) => readable.some((each) => isWithin(path, each))),
    emptyFiles: [],
  })
  const tmp = ['--tmpfs', '/var/tmp', '--bind', temporary, '/tmp']
  const below = mounts.filter(({ path }) => isWithin(path, '/tmp') || isWithin(path, '/var/tmp'))
  const others = mounts.filter((mount) => !below.includes(mount))
  const filter = await writeFilter(scratch)
  return { words: [...others.flatMap(mountArguments), ...tmp, ...below.flatMap(mountArguments)], filter }
}

/** Without credentials. */
function cargoFiles(home: string): string[] {
  const settings = join(home, 'config.toml')
  const text = readTextSyncIfExists(settings) ?? ''
  const names = ['bin', 'registry', 'git', ...(withoutSecrets(text) === text ? ['config.toml'] : [])]
  return names.map((name) => join(home, name))
}

async function writeFilter(scratch: string): Promise<string | undefined> {
  const bytes = systemCallFilter(process.arch)
  if (bytes === undefined) return undefined
  const path = join(scratch, 'filter.bpf')
  await writeScratch(path, bytes)
  return path
}
