import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type * as Native from 'fs-native-extensions'
import { lazy } from '../lazy.ts'

/** File operations of the kernel that Node lacks. Loaded on first use: loading takes as long as a short command. */
export const nativeFiles = lazy((): typeof Native => {
  const require = createRequire(import.meta.url)
  provideBinary(require)
  return require('fs-native-extensions')
})

/** The package looks for its binary with a resolver of its own, which takes 8 ms. Where the file is in its usual place, no search is needed. */
function provideBinary(require: NodeJS.Require): void {
  const folder = dirname(require.resolve('fs-native-extensions'))
  const platform = `${process.platform}-${process.arch}`
  const binary = join(folder, 'prebuilds', platform, 'fs-native-extensions.node')
  try {
    require(binary)
  } catch {
    return
  }
  require.cache[join(folder, 'binding.js')] = require.cache[binary]
}
