import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  createFolder,
  exists,
  fileSignature,
  fileSize,
  isFolder,
  isLink,
  listFolder,
  moveFile,
  readBytes,
  realPath,
  removeFolder,
} from '../../platform/files/files.ts'
import { writeScratch } from '../../platform/files/scratch-files.ts'
import { withoutSecrets } from './home-view.ts'
import type { Mount } from './mounts.ts'

/** What programs need of /etc. Never shadow, sudoers, ssh, ssl/private and what else is there. */
const settings =
  /^(?:nsswitch\.conf|hosts|host\.conf|resolv\.conf|ld\.so\..*|alternatives|ca-certificates.*|pki|crypto-policies|localtime|timezone|gitconfig|mime\.types|protocols|services|fonts|pip\.conf|npmrc|os-release|profile|bash\.bashrc|bashrc|terminfo|java.*|python.*|perl|maven|gradle|R|lsb-release|debian_version|inputrc|locale.*|shells|magic.*|papersize)$/
const certificates = ['ssl/certs', 'ssl/openssl.cnf', 'ssl/cert.pem']

/** Folders of programs at the top of the file system; the old names are links into /usr on most machines. */
const programs = ['usr', 'opt', 'nix', 'snap', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']

/** Of the kernel, and of no use to a build. */
const kernelFiles = ['keys', 'kmsg', 'timer_list', 'config.gz', 'mtrr', 'kcore', 'sched_debug', 'sysrq-trigger']

export type SystemFiles = {
  /** A folder that the program sees as /tmp and /var/tmp. */
  readonly temporary: string
  /** Stands in for /etc. */
  readonly etc: EtcView
}

/** A copy of what programs need of /etc. One mount instead of forty, which took most of the time that a cell needs to start. */
export type EtcView = {
  readonly folder: string
  /** Folders, by their name in /etc, which the copy has as empty ones. */
  readonly folders: Readonly<Record<string, string>>
}

const maxBytes = 2 * 1024 ** 2

/**
 * The copy of /etc with a user of the cell's own. Never changed once it is there, and named after what is in it, so all cells of
 * this machine share it.
 */
export async function copyEtc(base: string, user: CellUser): Promise<EtcView> {
  const names = [...(await listFolder('/etc')).filter((name) => settings.test(name)), ...certificates]
  const found = names.map((name) => ({ name, path: join('/etc', name) })).filter(({ path }) => exists(path))
  const folders = found.filter(({ path }) => isFolder(path))
  const files = found.filter(({ path }) => !isFolder(path) && fileSize(path) <= maxBytes)
  const texts = { passwd: passwdText(user), group: groupText(user.gid) }
  const parts = [
    ...files.map(({ name, path }) => [name, fileSignature(path)]),
    ...folders.map(({ name }) => name),
    texts,
  ]
  const folder = join(base, 'etc', createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16))
  if (!exists(folder)) await writeEtc(folder, { files, folders: folders.map(({ name }) => name), texts })
  return { folder, folders: Object.fromEntries(folders.map(({ name, path }) => [name, realPath(path)])) }
}

type EtcContent = {
  readonly files: readonly { readonly name: string; readonly path: string }[]
  readonly folders: readonly string[]
  readonly texts: Readonly<Record<string, string>>
}

async function writeEtc(folder: string, { files, folders, texts }: EtcContent): Promise<void> {
  const draft = `${folder}.${process.pid}`
  for (const name of ['', 'ssl', ...folders]) await createFolder(join(draft, name))
  for (const { name, path } of files) {
    // One that only root may read is of no use to programs either.
    const bytes = await readBytes(path).catch(() => undefined)
    if (bytes)
      await writeScratch(join(draft, name), registrySettings.has(name) ? withoutSecrets(bytes.toString()) : bytes)
  }
  for (const [name, text] of Object.entries(texts)) await writeScratch(join(draft, name), text)
  // Another run of Ralph may have been faster.
  await moveFile(draft, folder).catch(() => removeFolder(draft))
}

const registrySettings = new Set(['npmrc', 'pip.conf'])

/** The part of a cell that every program sees. An allow-list: no /var, /srv, /mnt, /run or home folder of this machine. */
export function systemMounts({ temporary, etc }: SystemFiles): Mount[] {
  return [
    ...programs.filter((name) => exists(`/${name}`)).map(programFolder),
    readOnly('/etc', etc.folder),
    ...Object.entries(etc.folders).map(([name, from]) => readOnly(join('/etc', name), from)),
    { kind: 'proc', path: '/proc' },
    ...kernelFiles
      .map((name) => join('/proc', name))
      .filter((path) => exists(path))
      .map((path) => readOnly(path, '/dev/null')),
    { kind: 'dev', path: '/dev' },
    { kind: 'tmpfs', path: '/dev/shm', megabytes: 256, write: true, mode: '1777' },
    { kind: 'tmpfs', path: '/run', megabytes: 16, write: true },
    { kind: 'bind', path: '/tmp', from: temporary, write: true },
    { kind: 'bind', path: '/var/tmp', from: temporary, write: true },
  ]
}

const readOnly = (path: string, from: string): Mount => ({ kind: 'bind', path, from, write: false })

function programFolder(name: string): Mount {
  const path = `/${name}`
  return isLink(path) && isFolder(path) ? { kind: 'link', path, to: realPath(path).slice(1) } : readOnly(path, path)
}

export type CellUser = { readonly uid: number; readonly gid: number; readonly home: string }

const passwdText = (user: CellUser): string =>
  `root:x:0:0:root:/root:/bin/sh\nagent:x:${user.uid}:${user.gid}:agent:${user.home}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`

const groupText = (gid: number): string => `root:x:0:\nagent:x:${gid}:\nnogroup:x:65534:\n`
