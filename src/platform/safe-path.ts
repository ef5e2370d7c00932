import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path'

/**
 * PATH for programs that Ralph itself starts about a project: without folders of that project, where an agent could have put a
 * `git` or a `cat`. `npm run` and an activated virtual environment put such folders first.
 */
export function pathOutside(path: string, cwd: string): string {
  const projects = foldersAround(cwd).filter(
    (folder) => folder === resolve(cwd) || folder === resolveLinks(cwd) || isProject(folder),
  )
  const isForeign = (folder: string) => !projects.some((project) => `${folder}${sep}`.startsWith(`${project}${sep}`))
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && isForeign(resolve(folder)) && isForeign(resolveLinks(folder)))
    .join(delimiter)
}

/** The home folder has such names too, and is a project only if an agent works in it. */
const isProject = (folder: string): boolean =>
  folder !== homedir() && ['.git', '.claude'].some((name) => existsSync(join(folder, name)))

/** The folder and those around it but the root, by both of its names. */
function foldersAround(cwd: string): string[] {
  const folders = new Set<string>()
  for (const start of [resolve(cwd), resolveLinks(cwd)]) {
    for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) folders.add(folder)
  }
  return [...folders]
}

const resolveLinks = (path: string): string => (existsSync(path) ? realpathSync(path) : path)
