import { defineConfig } from 'vitest/config'
import { closingLine } from '../support/closing-line.ts'

/** `npm run test:more -- containers`: image, Compose file and chart. Needs root, a registry and Debian's packages. */
export default defineConfig({
  test: {
    reporters: ['verbose', closingLine()],
    include: ['test/containers/*.optional.ts'],
    fileParallelism: false,
    bail: 1,
    testTimeout: 1_200_000,
    hookTimeout: 1_800_000,
  },
})
