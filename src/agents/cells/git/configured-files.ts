import { basename, dirname, join, resolve } from 'node:path'
import { leadsOut, listEntries, realPath } from '../../../platform/files/files.ts'
import { readLink } from '../../../platform/files/links.ts'
import { git } from '../../../platform/git.ts'
import { isWithin } from '../../../platform/files/paths.ts'

/**
 * Paths of the project that the user's git obeys because its configuration names them, whether they exist or not: settings that it
 * includes, and the folder of its hooks.
 */
export async function listConfigured(workTree: string, cwd: string): Promise<string[]> {
  const listed = await git({ cwd: workTree }, 'config', '--list', '--includes', '--show-origin', '-z').catch(() => '')
  const words = listed.split('\0')
  const paths: string[] = []
  for (let n = 0; n + 1 < words.length; n += 2) {
    const [origin = '', setting = ''] = words.slice(n)
    if (!origin.startsWith('file:')) continue
    const file = resolve(workTree, origin.slice('file:'.length))
    const [key = '', value = ''] = setting.split('\n')
    paths.push(file)
    if (/^include(?:if\..*)?\.path$/.test(key)) paths.push(resolve(dirname(file), value))
    if (key === 'core.hookspath') paths.push(...listHooks(resolve(workTree, value)))
  }
  return [...new Set(paths)].filter((path) => isOfProject(path, cwd) && !isWithin(workTree, path))
}

/** Files of the project to which links in the folder of git lead, whether they exist or not: `.git/hooks/pre-commit -> ../../lint.sh`. */
export async function listLinkedHooks(folder: string, cwd: string): Promise<string[]> {
  const hooks = join(folder, 'hooks')
  const links = [hooks, ...(await listEntries(hooks)).map(({ name }) => join(hooks, name))]
  return links.flatMap((link) => {
    const target = readLink(link)
    const path = target === undefined ? undefined : resolve(realPath(dirname(link)), target)
    return path !== undefined && isOfProject(path, cwd) ? [path] : []
  })
}

const isOfProject = (path: string, cwd: string): boolean =>
  isWithin(path, cwd) && !path.includes('/.git/') && !isWithin(cwd, path) && !leadsOut(path, cwd)

/** The hooks in husky's `.husky/_` start those in the folder around it. */
const listHooks = (folder: string): string[] => (basename(folder) === '_' ? [folder, join(folder, '..')] : [folder])
