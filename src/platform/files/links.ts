import { readlinkSync } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isLink } from './files.ts'

/** Creates a link, and replaces an existing file, link or folder. */
export async function createLink(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await rm(path, { recursive: true, force: true })
  await symlink(target, path)
}

/** Where a symbolic link leads; undefined if there is none. */
export const readLink = (path: string): string | undefined => (isLink(path) ? readlinkSync(path) : undefined)
