/**
 * What known test runners print when they ran nothing. An agent that deletes or filters out the tests would otherwise pass.
 * Each pattern is that runner's own closing line; other programs are believed by their exit code.
 */
const ranNothing: readonly RegExp[] = [
  // node --test, TAP and spec
  /^(?:#|ℹ) tests 0\s*$/m,
  // vitest, jest
  /^\s*No test (?:files|suites?) found/im,
  /^No tests found, exiting with code 0/m,
  /^Tests:\s+0 total\s*$/m,
  /^\s*Tests\s+no tests\s*$/m,
  // mocha
  /^\s*0 passing \(/m,
  // pytest, unittest
  /^=+ no tests ran in /m,
  /^collected 0 items\s*$/m,
  /^Ran 0 tests in /m,
  // PHPUnit, RSpec, ctest, Maven, Gradle, Go through gotestsum
  /^No tests executed!/m,
  /^0 examples, 0 failures/m,
  /^No tests were found!!!/m,
  /^\[INFO\] Tests run: 0, /m,
  /^DONE 0 tests in /m,
]

/** cargo prints one line per crate, go one per package: only if none of them ran a test, nothing ran. */
const perPart: readonly { readonly some: RegExp; readonly none: RegExp }[] = [
  { some: /^test result: ok\. [1-9]\d* passed/m, none: /^test result: ok\. 0 passed/m },
  { some: /^ok\s+\S+\s+(?:\(cached\)|[\d.]+s)(?!.*\[no tests to run\])/m, none: /\[no test(?:s to run| files)\]/ },
]

/** Whether the output of a check that ended well says that it ran no test at all. */
export const ranNoTests = (output: string): boolean =>
  ranNothing.some((pattern) => pattern.test(output)) ||
  perPart.some(({ some, none }) => none.test(output) && !some.test(output))
