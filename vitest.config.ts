import { defineConfig } from 'vitest/config'
import { closingLine } from './test/support/closing-line.ts'

export default defineConfig({
  test: {
    // More than the cores of the machine that CI has: the end-to-end tests wait for other processes a third of their time.
    maxWorkers: 3,
    reporters: ['default', closingLine()],
    projects: [
      // Property tests run for seconds, and for many seconds on a machine that is busy with something else.
      { test: { name: 'unit', include: ['src/**/*.test.ts'], testTimeout: 60_000 } },
      {
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/build.ts'],
          testTimeout: 90_000,
        },
      },
    ],
  },
})
