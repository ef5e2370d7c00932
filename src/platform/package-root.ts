import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of this npm package, no matter how deep inside it this code was bundled or compiled. */
export const packageRoot: string = findPackageRoot(import.meta.dirname)

/** Path of a program that the build bundles, e.g. `acp-bridge/main.js`. */
export const bundledProgram = (name: string): string => join(packageRoot, 'bin', name)

function findPackageRoot(folder: string): string {
  const parent = dirname(folder)
  return parent === folder || existsSync(join(folder, 'package.json')) ? folder : findPackageRoot(parent)
}
