import { join } from 'node:path'
import { exists, isFolder, isLink, listFolder, realPath } from '../../platform/files/files.ts'
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
  /** Replacements for /etc/passwd and /etc/group, in which the user of the cell has a name. */
  readonly passwd: string
  readonly group: string
}

/** The part of a cell that every program sees. An allow-list: no /var, /srv, /mnt, /run or home folder of this machine. */
export async function systemMounts({ temporary, passwd, group }: SystemFiles): Promise<Mount[]> {
  const etc = await listFolder('/etc')
  const shown = [...etc.filter((name) => settings.test(name)), ...certificates].map((name) => join('/etc', name))
  return [
    ...programs.filter((name) => exists(`/${name}`)).map(programFolder),
    ...shown.filter((path) => exists(path)).map((path) => readOnly(path, realPath(path))),
    readOnly('/etc/passwd', passwd),
    readOnly('/etc/group', group),
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

export const passwdText = (user: { readonly uid: number; readonly gid: number; readonly home: string }): string =>
  `root:x:0:0:root:/root:/bin/sh\nagent:x:${user.uid}:${user.gid}:agent:${user.home}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`

export const groupText = (gid: number): string => `root:x:0:\nagent:x:${gid}:\nnogroup:x:65534:\n`
