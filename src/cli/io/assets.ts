import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readTextSyncIfExists, realPath } from '../../platform/files/files.ts'
import { packageRoot } from '../../platform/package-root.ts'

/** Files that ship with the package: bundled workflows and the demo. */
export const assetPath = (name: string): string => join(packageRoot, 'assets', name)

/** A file of the Claude Code plugin, which ships with the package. */
export const pluginPath = (name: string): string => join(packageRoot, 'plugin', name)

/** The built files of the page. */
export const pagePath = (): string => join(packageRoot, 'dist', 'web')

/** An empty embedded database, created by the build. */
export const templateDatabasePath = (): string => join(packageRoot, 'bin', 'database.br')

/** The version of the installed package, read from the disk. */
export function installedVersion(): string | undefined {
  const program = process.argv[1]
  if (program === undefined) return undefined
  const manifest = join(dirname(realPath(program)), '../../package.json')
  const { version }: { version?: string } = JSON.parse(readTextSyncIfExists(manifest) ?? '{}')
  return version
}

/** The version that this process runs: `require` remembers what it read first. */
export function packageVersion(): string {
  const { version }: { version: string } = createRequire(import.meta.url)(join(packageRoot, 'package.json'))
  return version
}
