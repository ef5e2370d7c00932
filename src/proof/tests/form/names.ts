import { stripVTControlCharacters } from 'node:util'
import { clipText } from '../../../contract/text.ts'

/** Suites and test as one name. */
export const joinName = (parts: readonly string[]): string =>
  parts
    .map((part) => cleanText(part).trim())
    .filter((part) => part !== '')
    .join(' > ')

export const cleanText = (text: string): string => stripVTControlCharacters(text)

const longestMessage = 2000

/** A message as it is kept: without colours, and not longer than a prompt can bear. */
export function shortMessage(message: string | null | undefined): string | undefined {
  const text = cleanText(message ?? '').trim()
  if (text === '') return undefined
  return clipText(text, longestMessage)
}

/** A path as tests are identified by: relative to the project, with `/`. One outside of the project stays as it is. */
export function relativeFile(path: string | null | undefined, project: string): string | undefined {
  if (!path) return undefined
  const file = path.replace(/^file:\/\//, '').replaceAll('\\', '/')
  const root = `${project.replaceAll('\\', '/').replace(/\/$/, '')}/`
  return file.startsWith(root) ? file.slice(root.length) : file.replace(/^\.\//, '')
}

/** `file` with what stands before it in the project: runners name files from the folder they were started in. */
export function fileIn(
  folder: string | undefined,
  file: string | null | undefined,
  project: string,
): string | undefined {
  if (!file) return undefined
  if (folder === undefined || file.startsWith('/') || /^[A-Za-z]:[\\/]|^file:/.test(file))
    return relativeFile(file, project)
  return relativeFile(`${folder}/${file.replace(/^\.\//, '')}`, project)
}

export const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
