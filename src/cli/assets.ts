import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Files that come with the package: bundled workflows and the demo. */
export const assetPath = (name: string): string => fileURLToPath(new URL(`../../assets/${name}`, import.meta.url))

export const schemaPath = (name: string): string => fileURLToPath(new URL(`../../schemas/${name}`, import.meta.url))

/** The files of the page, as they are built. */
export const pagePath = (): string => fileURLToPath(new URL('../../dist/web', import.meta.url))

/** An empty embedded database, as the build has made it. */
export const readyDatabasePath = (): string => fileURLToPath(new URL('../../bin/database.br', import.meta.url))

export function packageVersion(): string {
  const { version }: { version: string } = createRequire(import.meta.url)('../../package.json')
  return version
}
