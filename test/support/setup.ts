import { afterAll } from 'vitest'
import { cleanUp } from './after-file.ts'

// For every file: vitest calls the first `afterAll` last.
afterAll(cleanUp, 120_000)
