import { join } from 'node:path'
import { isFile, lstatSize } from '../../platform/files/files.ts'
import type { OwnGit } from '../room/own-git.ts'
import type { KeptFile } from '../room/room.ts'

/** Data and variables; what a build makes must follow the work. */
const isData =
  /(?:^|\/)\.env[^/]*$|\.(?:jsonl?|ya?ml|csv|tsv|txt|toml|ini|xml|sql|pem|crt|key|conf|properties|local|golden|snap|dat)$/
const isBuilt =
  /(?:^|\/)(?:dist|build|out|output|coverage|target|generated|gen|reports?|logs?|te?mp|\.(?!env)[^/]+)(?:\/|$)/i

const maxBytes = 1024 ** 2
/** With more files than this, only those that the output names. */
const maxFiles = 50

/** Ignored files whose absence in the room may be why a check says something else there. */
export function chooseKept(project: string, omitted: readonly string[], output: string): string[] {
  const small = omitted.filter(
    (path) =>
      isData.test(path) && !isBuilt.test(path) && !path.includes('\n') && lstatSize(join(project, path)) <= maxBytes,
  )
  return small.length <= maxFiles ? small : small.filter((path) => output.includes(path)).slice(0, maxFiles)
}

/** Stores files of the work tree as they are now. */
export async function keepFiles(own: OwnGit, project: string, paths: readonly string[]): Promise<KeptFile[]> {
  const ids = await hashFiles(own, project, paths, ['-w'])
  return paths.map((path, at) => ({ path, entry: { mode: '100644', id: ids[at] ?? '' } }))
}

/** Kept files that are gone from the work tree, or have other content there. */
export async function listChangedKept(own: OwnGit, project: string, kept: readonly KeptFile[]): Promise<string[]> {
  const there = kept.filter(({ path }) => isFile(join(project, path)))
  const ids = await hashFiles(
    own,
    project,
    there.map(({ path }) => path),
    [],
  )
  const same = new Set(there.filter(({ entry }, at) => entry.id === ids[at]))
  return kept.filter((file) => !same.has(file)).map(({ path }) => path)
}

async function hashFiles(own: OwnGit, project: string, paths: readonly string[], options: readonly string[]) {
  if (paths.length === 0) return []
  const input = paths.map((path) => `${join(project, path)}\n`).join('')
  return (await own.run({ input }, 'hash-object', ...options, '--no-filters', '--stdin-paths')).toString().split('\n')
}
