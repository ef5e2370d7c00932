import { createHash } from 'node:crypto'
import { dirname, join, relative } from 'node:path'
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
      assertWritable(project, target)
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

/** An agent can replace a folder by a link: restoring a file must not write through it, outside of the project or into `.git`. */
function assertWritable(project: string, target: string): void {
  const path = relative(realPath(project), realPath(findExisting(dirname(target))))
  const isOutside = path === '..' || path.startsWith('../')
  if (!isOutside && (!isInGitFolder(path) || isInGitFolder(relative(project, target)))) return
  const where = isOutside ? 'outside of it' : 'into its git folder'
  throw new RalphError('FILE_UNWRITABLE', `a symbolic link in the project leads ${where}`, { place: { file: target } })
}

const isInGitFolder = (path: string): boolean => path.toLowerCase().split('/').includes('.git')

const findExisting = (folder: string): string => (exists(folder) ? folder : findExisting(dirname(folder)))
