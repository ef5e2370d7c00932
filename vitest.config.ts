import { defineConfig } from 'vitest/config'
import { closingLine } from './test/support/closing-line.ts'

export default defineConfig({
  test: {
    // The default leaves one of two cores to nobody; the end-to-end tests mostly wait for other processes.
    maxWorkers: 2,
    reporters: ['default', closingLine()],
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      {
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/build.ts'],
          testTimeout: 30_000,
        },
      },
    ],
  },
})
