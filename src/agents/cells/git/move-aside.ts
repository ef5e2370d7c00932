import { dirname } from 'node:path'
import { errorMessage } from '../../../contract/errors.ts'
import { removeForeignFolder } from '../../../platform/files/disk-use.ts'
import { existsItself, moveFile, readFolderMode, setMode } from '../../../platform/files/files.ts'

/** Takes a path out of effect and keeps what is there if it can. Resolves with what was done, as the start of a sentence for the user. */
export const moveAside = (path: string): Promise<string> =>
  openAround(path, async () => {
    try {
      const aside = findFreeName(path)
      await moveFile(path, aside)
      return `moved ${path} to ${aside}`
    } catch (error) {
      return `${await remove(path)} instead of moving it (${errorMessage(error)})`
    }
  })

function findFreeName(path: string): string {
  const aside = (n: number): string => `${path}.moved-by-ralph-${n}`
  let n = 1
  while (existsItself(aside(n))) n++
  return aside(n)
}

/** Resolves with what was done, as `moveAside` does. */
export const takeAway = (path: string): Promise<string> => openAround(path, () => remove(path))

async function remove(path: string): Promise<string> {
  try {
    await removeForeignFolder(path)
    return `removed ${path}`
  } catch (error) {
    return `could not remove ${path}, so remove it yourself (${errorMessage(error)})`
  }
}

/** A program may have closed the folder around for its own user, who is Ralph's too. */
async function openAround<T>(path: string, act: () => Promise<T>): Promise<T> {
  const folder = dirname(path)
  const mode = readFolderMode(folder)
  if (mode === undefined || (mode & 0o300) === 0o300) return act()
  await setMode(folder, mode | 0o300).catch(() => {})
  try {
    return await act()
  } finally {
    await setMode(folder, mode).catch(() => {})
  }
}
