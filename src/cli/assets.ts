import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readTextSyncIfExists, realPath } from '../platform/files/files.ts'

/** Files that ship with the package: bundled workflows and the demo. */
export const assetPath = (name: string): string => fileURLToPath(new URL(`../../assets/${name}`, import.meta.url))

export const schemaPath = (name: string): string => fileURLToPath(new URL(`../../schemas/${name}`, import.meta.url))

/** A file of the Claude Code plugin, which ships with the package. */
export const pluginPath = (name: string): string => fileURLToPath(new URL(`../../plugin/${name}`, import.meta.url))

/** The built files of the page. */
export const pagePath = (): string => fileURLToPath(new URL('../../dist/web', import.meta.url))

/** An empty embedded database, created by the build. */
export const templateDatabasePath = (): string => fileURLToPath(new URL('../../bin/database.br', import.meta.url))

/** The version of the installed package, read from the disk. */
export function installedVersion(): string | undefined {
  const program = process.argv[1]
  if (program === undefined) return undefined
  const manifest = join(dirname(realPath(program)), '../../package.json')
  const { version }: { version?: string } = JSON.parse(readTextSyncIfExists(manifest) ?? '{}')
  return version
}

export function packageVersion(): string {
  const { version }: { version: string } = createRequire(import.meta.url)('../../package.json')
  return version
}
