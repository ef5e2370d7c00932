import type { Reporter, TestModule } from 'vitest/node'

/**
 * Prints `N passed, N failed` on a line of its own after the summary of vitest, for programs that count. The lines before it name
 * every test that failed first and passed when it was repeated: each is a defect of the test or of the product.
 */
export const closingLine = (print: (line: string) => void = console.log): Reporter => ({
  onTestRunEnd(modules, unhandledErrors) {
    const passed = modules.reduce((sum, module) => sum + countTests(module, 'passed'), 0)
    const failed = modules.reduce((sum, module) => sum + countFailures(module), unhandledErrors.length)
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        if (test.diagnostic()?.flaky)
          print(`passed at the second try only: ${module.relativeModuleId} > ${test.fullName}`)
      }
    }
    print(`${passed} passed, ${failed} failed`)
  },
})

/** A file that fails without a failed test (it cannot be loaded, or a hook fails) counts as one. */
const countFailures = (module: TestModule): number =>
  countTests(module, 'failed') || (module.state() === 'failed' ? 1 : 0)

const countTests = (module: TestModule, state: 'passed' | 'failed'): number =>
  [...module.children.allTests(state)].length
