import { defineConfig } from 'vitest/config'
import { closingLine } from '../support/closing-line.ts'

/** `npm run test:more -- agents`: the agents that are too big or too slow for every commit. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['verbose', closingLine()],
    include: ['test/agents/*.optional.ts'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 240_000,
  },
})
