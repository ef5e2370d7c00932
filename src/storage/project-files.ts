import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { copyOver, isFile, readBytes } from '../platform/files.ts'
import type { ProjectFiles } from '../runtime/ports.ts'

/** The files that define the checks; copies of them are kept in the sprint's folder. */
export function projectFiles(project: string, sprintDir: string): ProjectFiles {
  const copyOf = (name: string) => join(sprintDir, 'protected', createHash('sha256').update(name).digest('hex'))
  const hash = async (name: string) => {
    const path = join(project, name)
    return isFile(path)
      ? createHash('sha256')
          .update(await readBytes(path))
          .digest('hex')
      : 'missing'
  }
  return {
    isFile: (name) => isFile(join(project, name)),
    hash,
    keep: async (name) => {
      await copyOver(join(project, name), copyOf(name))
      return hash(name)
    },
    putBack: (name) => copyOver(copyOf(name), join(project, name)),
  }
}
