import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { closingLine } from './test/support/closing-line.ts'
import { memoryFolder } from './test/support/memory-folder.ts'
import { SlowestFirst } from './test/support/slowest-first.ts'

const memory = process.env['TMPDIR'] ? undefined : memoryFolder()
if (memory) process.env['TMPDIR'] = memory

// What V8 has made of the program is kept for all tests, whatever home folder each of them has.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '.cache', 'compiled')

// Agents of tests write outside their project, which a cell forbids; tests of the cell clear the variable themselves. It is set here so
// that a machine with bubblewrap and one without run the same tests.
process.env['IS_SANDBOX'] = 'yes'

const setupFiles = ['test/support/setup.ts']

// The default of one second fails on a busy machine.
const expect = { poll: { timeout: 60_000 } }

export default defineConfig({
  test: {
    // More than the cores of the machine that CI has: tests compute for about a third of their time, and wait for processes and timers.
    maxWorkers: 7,
    sequence: { sequencer: SlowestFirst },
    reporters: ['default', closingLine()],
    projects: [
      // Property tests run for seconds, and for many seconds on a machine that is busy with something else. To load the same
      // modules anew for each file would take as long as the tests.
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          setupFiles,
          expect,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          isolate: false,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/build.ts'],
          setupFiles,
          expect,
          testTimeout: 180_000,
          // A hook that opens a database takes more than the default of 10 seconds on a busy machine.
          hookTimeout: 180_000,
          // These start programs, browsers and databases, and a busy machine can end one of those. The closing lines name what was repeated.
          retry: 1,
        },
      },
    ],
  },
})
