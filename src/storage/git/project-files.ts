import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { copyFileOver, exists, isFile, readBytes, realPath } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import type { ProjectFiles } from '../../runtime/ports.ts'

/** The files that define the checks; the sprint's state keeps copies of them. */
export function createProjectFiles(project: string, sprintDir: string): ProjectFiles {
  const copyPath = (name: string) =>
    join(stateFolder(sprintDir), 'protected', createHash('sha256').update(name).digest('hex'))
  const hash = (name: string) => hashFile(join(project, name))
  return {
    isFile: (name) => isFile(join(project, name)),
    hash,
    store: async (name) => {
      await copyFileOver(join(project, name), copyPath(name))
      return hash(name)
    },
    restore: async (name, known) => {
      const target = join(project, name)
      if (!isInsideProject(project, dirname(target)))
        throw new RalphError('FILE_UNWRITABLE', outsideMessage, { place: { file: target } })
      if ((await hashFile(copyPath(name))) !== known)
        throw new RalphError('BASELINE_DAMAGED', `the copy of ${name} is not what Ralph stored`)
      await copyFileOver(copyPath(name), target)
    },
  }
}

async function hashFile(path: string): Promise<string> {
  if (!isFile(path)) return 'missing'
  return createHash('sha256')
    .update(await readBytes(path))
    .digest('hex')
}

const outsideMessage = 'a symbolic link in the project leads outside of it'

/** An agent can replace a folder by a link: restoring a file must not write through it. */
function isInsideProject(project: string, folder: string): boolean {
  if (!exists(folder)) return isInsideProject(project, dirname(folder))
  const [root, real] = [realPath(project), realPath(folder)]
  return real === root || real.startsWith(`${root}/`)
}
