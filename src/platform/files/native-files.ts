import { createRequire } from 'node:module'
import type * as Native from 'fs-native-extensions'
import { lazy } from '../lazy.ts'

/** File operations of the kernel that Node lacks. Loaded on first use: loading takes as long as a short command. */
export const nativeFiles = lazy((): typeof Native => createRequire(import.meta.url)('fs-native-extensions'))
