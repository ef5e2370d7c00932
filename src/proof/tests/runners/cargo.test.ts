import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { removeProjects, runProject, testLines } from '../../../../test/support/test-projects/run-project.ts'
import { findRunProblem } from '../judge-run.ts'
import { cargo } from './cargo.ts'

const hasCargo = spawnSync('cargo', ['--version']).status === 0
const files = {
  'Cargo.toml': '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
  'src/lib.rs':
    '/// ```\n/// assert_eq!(calc::add(1, 2), 3);\n/// ```\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n',
}

afterAll(removeProjects)

describe.runIf(hasCargo)('cargo test -q of a library whose only test is in its documentation', () => {
  it.each([
    ['', {}, 'passed  src/lib.rs > doc > add'],
    [' with flags of the user', { RUSTDOCFLAGS: '-D warnings' }, 'passed  doc'],
  ])('ran that test%s', async (_, env, line) => {
    const { run, exitCode } = await runProject(files, 'cargo test -q --offline', { env })
    expect([testLines(run), run && findRunProblem(run, exitCode)]).toEqual([[line], undefined])
  })
})

describe('dots of rustdoc', () => {
  // Recorded from cargo 1.95 with `cargo test -q --no-fail-fast --doc` and RUSTDOCFLAGS, without the lines of the backtrace.
  const recorded = `
running 3 tests
.i 2/3
src/lib.rs - sub (line 8) --- FAILED

failures:

---- src/lib.rs - sub (line 8) stdout ----
Test executable failed (exit status: 101).

stderr:

thread 'main' (12828) panicked at src/lib.rs:5:1:
assertion failed: calc::sub(1, 2) == 0


failures:
    src/lib.rs - sub (line 8)

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.43s

error: doctest failed, to rerun pass \`--doc\`
`

  it('count as tests without names', () => {
    expect(cargo.readMissingFromReports?.(recorded)).toEqual([
      { name: 'doc', status: 'passed' },
      { name: 'doc', status: 'failed' },
      { name: 'doc', status: 'skipped' },
    ])
  })

  it('do not count twice where tests have names', () => {
    const named = recorded.replace('.i 2/3', 'test src/lib.rs - add (line 1) ... ok')
    expect(cargo.readMissingFromReports?.(named)).toEqual([{ file: 'src/lib.rs', name: 'doc > add', status: 'passed' }])
  })
})
