import { existsItself, moveFile, removeFolder } from '../../../platform/files/files.ts'

/** Takes a path out of effect and keeps what is there. Resolves with the new path. */
export async function moveAside(path: string): Promise<string> {
  const aside = (n: number): string => `${path}.moved-by-ralph-${n}`
  let n = 1
  while (existsItself(aside(n))) n++
  await moveFile(path, aside(n)).catch(() => removeFolder(path))
  return aside(n)
}
