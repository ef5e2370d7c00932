import { join } from 'node:path'
import { Check } from '../../contract/checks/check.ts'
import { listTree, readTextSyncIfExists } from '../../platform/files/files.ts'
import { detectTestCommands } from '../../proof/tests/detect.ts'

/** Folders that hold no tests of the project, and may be huge. */
const except = ['node_modules', '.git', '.claude', 'target', 'vendor', '.venv', 'venv', 'dist', 'build']

/** The checks that a project obviously has, for a sprint that configures none. */
export async function findChecks(folder: string): Promise<Check[]> {
  const files = await listTree(folder, { except })
  const read = (name: string) => readTextSyncIfExists(join(folder, name))
  return detectTestCommands({ files, read }).map(({ run }) => Check.parse({ run }))
}
