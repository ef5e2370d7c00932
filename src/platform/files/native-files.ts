import { createRequire } from 'node:module'
import type * as Native from 'fs-native-extensions'

let loaded: typeof Native | undefined

/** What the kernel can do with files and Node does not offer. Loaded with the first use: it takes as long as a short command. */
export function nativeFiles(): typeof Native {
  return (loaded ??= createRequire(import.meta.url)('fs-native-extensions'))
}
