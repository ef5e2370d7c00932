import { afterAll } from 'vitest'
import { cleanUp } from './after-file.ts'

// For every file: the first `afterAll` is the last that is called.
afterAll(cleanUp, 120_000)
