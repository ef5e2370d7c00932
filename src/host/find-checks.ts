import { dirname, join, relative } from 'node:path'
import { Check } from '../contract/check.ts'
import { exists, listTree, readTextSyncIfExists, realPath } from '../platform/files/files.ts'
import { detectChecks } from '../runtime/detect-checks.ts'

/** Folders that hold no tests of the project, and may be huge. */
const except = ['node_modules', '.git', '.claude', 'target', 'vendor', '.venv', 'venv', 'dist', 'build']

/** The checks that a project obviously has, or that the root of its repository has, for a sprint that configures none. */
export async function findChecks(folder: string): Promise<Check[]> {
  const own = await detectIn(folder)
  if (own.length > 0) return own.map((run) => Check.parse({ run }))
  const root = findRepositoryRoot(realPath(folder))
  if (root === undefined) return []
  const way = relative(realPath(folder), root)
  return (await detectIn(root)).map((run) => Check.parse({ run: `cd ${way} && ${run}` }))
}

async function detectIn(folder: string): Promise<string[]> {
  const files = await listTree(folder, { except })
  const read = (name: string) => readTextSyncIfExists(join(folder, name))
  return detectChecks({ files, read }).map(({ run }) => run)
}

/** The folder above that holds the git repository; undefined if this one does, or none. */
function findRepositoryRoot(folder: string): string | undefined {
  if (exists(join(folder, '.git'))) return undefined
  for (let at = dirname(folder); ; at = dirname(at)) {
    if (exists(join(at, '.git'))) return at
    if (at === dirname(at)) return undefined
  }
}
