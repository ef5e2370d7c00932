import { dirname, join } from 'node:path'
import { exists, listFolder } from '../../platform/files/files.ts'
import { readLink } from '../../platform/files/links.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import type { DependencyRecord } from './dependencies.ts'

/** What the checks found in `node_modules` before the first agent: nothing that an agent adds may take its place. */
export type KnownPackages = {
  /** A package that was installed, or that a folder above the project holds. */
  readonly has: (name: string) => boolean
  /** It was a link, as npm makes for a package of the project itself. */
  readonly isLink: (name: string) => boolean
  /** A program in some `node_modules/.bin`. */
  readonly hasProgram: (name: string) => boolean
}

export function knownPackages({ folders }: DependencyRecord, project: string): KnownPackages {
  const [all, links, programs] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const { at, entries } of folders.filter(({ at: place }) => /(?:^|\/)node_modules$/.test(place)))
    for (const [path, signature] of Object.entries(entries)) {
      const { name, below } = packageAt(`${at}/${path}`)
      if (name === '.bin') programs.add(below)
      else all.add(name)
      if (below === '' && isLinkMode(signature)) links.add(name)
    }
  const above = foldersAbove(project)
  return {
    has: (name) => all.has(name) || above.some((folder) => exists(join(folder, 'node_modules', name))),
    isLink: (name) => links.has(name),
    hasProgram: (name) => programs.has(name),
  }
}

export type ProgramRules = {
  /** `node_modules` and the like, relative to the installed folder. */
  readonly folders: readonly string[]
  readonly known: KnownPackages
  /** Where the user's programs are. */
  readonly path: string
}

/** Programs of new packages that a command would start instead of one that was there before: `node_modules/.bin` comes first. */
export async function findNewPrograms(installed: string, { folders, known, path }: ProgramRules): Promise<string[]> {
  const found: string[] = []
  for (const at of folders)
    for (const name of await listFolder(join(installed, at, '.bin'))) {
      const target = readLink(join(installed, at, '.bin', name)) ?? ''
      const owner = packageAt(`node_modules/${target.replace(/^\.\.\//, '')}`).name
      const isNew = !known.has(owner)
      if (isNew && (known.hasProgram(name) || findProgram(name, path, '/') !== undefined))
        found.push(`${owner}: ${name}`)
    }
  return found
}

/** The innermost package of a path below `node_modules`, and what lies below it. */
export function packageAt(path: string): { readonly name: string; readonly below: string } {
  const rest = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length).split('/')
  const length = rest[0]?.startsWith('@') ? 2 : 1
  return { name: rest.slice(0, length).join('/'), below: rest.slice(length).join('/') }
}

/** The mode is the last word of a signature. */
const isLinkMode = (signature: string): boolean => (Number(signature.split(' ').at(-1)) & 0o170000) === 0o120000

const foldersAbove = (folder: string): string[] => {
  const parent = dirname(folder)
  return parent === folder ? [] : [parent, ...foldersAbove(parent)]
}
