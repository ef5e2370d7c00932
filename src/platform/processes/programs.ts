import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { isExecutable } from '../files/files.ts'

/** Looks up a program on PATH; names with a slash are relative to `cwd`. */
export function findProgram(name: string, path: string, cwd: string): string | undefined {
  if (name.includes('/')) {
    const file = isAbsolute(name) ? name : resolve(cwd, name)
    return isExecutable(file) ? file : undefined
  }
  const folder = path.split(delimiter).find((entry) => entry !== '' && isExecutable(join(entry, name)))
  return folder === undefined ? undefined : join(folder, name)
}
