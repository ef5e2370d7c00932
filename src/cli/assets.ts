import { fileURLToPath } from 'node:url'

/** Files that come with the package: bundled workflows and the demo. */
export const assetPath = (name: string): string => fileURLToPath(new URL(`../../assets/${name}`, import.meta.url))

export const schemaPath = (name: string): string => fileURLToPath(new URL(`../../schemas/${name}`, import.meta.url))
