import { mkdir, rm, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A link to a file or folder, in place of whatever is there. */
export async function makeLink(to: string, at: string): Promise<void> {
  await mkdir(dirname(at), { recursive: true })
  await rm(at, { recursive: true, force: true })
  await symlink(to, at)
}
