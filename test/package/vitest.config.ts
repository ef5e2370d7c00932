import { defineConfig } from 'vitest/config'
import { closingLine } from '../support/closing-line.ts'

/** `npm run test:more -- package`: the package that users install; needs a registry and some minutes. */
export default defineConfig({
  test: {
    reporters: ['verbose', closingLine()],
    include: ['test/package/*.optional.ts'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 120_000,
    hookTimeout: 900_000,
  },
})
