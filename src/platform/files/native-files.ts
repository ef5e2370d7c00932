import { createRequire } from 'node:module'
import type * as Native from 'fs-native-extensions'

let loaded: typeof Native | undefined

/** File operations of the kernel that Node lacks. Loaded on first use: loading takes as long as a short command. */
export function nativeFiles(): typeof Native {
  return (loaded ??= createRequire(import.meta.url)('fs-native-extensions'))
}
