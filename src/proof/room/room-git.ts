import { join } from 'node:path'
import { copyFileOver, createFolder } from '../../platform/files/files.ts'
import { writeText } from '../../platform/files/text-files.ts'
import type { OwnGit } from './own-git.ts'

export type RoomGit = {
  /** Where `.git` is written. */
  readonly folder: string
  readonly tree: string
  /** Where the command finds the objects. */
  readonly objects: string
}

/** A repository with one commit, for checks that call git: a clean status, files listed, a HEAD. */
export async function writeRoomGit(own: OwnGit, { folder, tree, objects }: RoomGit): Promise<void> {
  const commit = await own.commit(tree)
  await createFolder(join(folder, 'objects', 'pack'))
  await Promise.all([
    writeText(join(folder, 'HEAD'), 'ref: refs/heads/main\n'),
    writeText(join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n'),
    writeText(join(folder, 'refs', 'heads', 'main'), `${commit}\n`),
    writeText(join(folder, 'objects', 'info', 'alternates'), `${objects}\n`),
    writeText(join(folder, 'info', 'exclude'), ''),
    copyFileOver(join(own.folder, 'room.idx'), join(folder, 'index')),
  ])
}
