import { z } from 'zod'
import type { Check } from '../contract/checks/check.ts'

/** Reads a project file by name; undefined if it does not exist. */
type ReadProjectFile = (name: string) => string | undefined

type Detector = { readonly run: string; readonly matches: (read: ReadProjectFile) => boolean }

const hasAnyFile = (read: ReadProjectFile, ...names: readonly string[]): boolean =>
  names.some((name) => read(name) !== undefined)

const detectors: readonly Detector[] = [
  { run: 'npm test', matches: (read) => hasNpmTestScript(read('package.json')) },
  { run: 'cargo test', matches: (read) => hasAnyFile(read, 'Cargo.toml') },
  { run: 'go test ./...', matches: (read) => hasAnyFile(read, 'go.mod') },
  {
    run: 'pytest',
    matches: (read) =>
      hasAnyFile(read, 'pytest.ini', 'conftest.py') || /\[tool\.pytest/.test(read('pyproject.toml') ?? ''),
  },
  { run: 'make test', matches: (read) => /^test[ \t]*:(?!:?=)/m.test(read('Makefile') ?? '') },
]

/** Returns the checks that a project obviously has, for a sprint that configures none. */
export const detectChecks = (read: ReadProjectFile): Check[] =>
  detectors
    .filter(({ matches: found }) => found(read))
    .map(({ run }) => ({ run, timeout: 600_000, eachIteration: false, protect: false }))

const WithTestScript = z.object({ scripts: z.object({ test: z.string() }) })

/** Ignores the placeholder script of `npm init`. */
function hasNpmTestScript(packageJson: string | undefined): boolean {
  try {
    const parsed = WithTestScript.safeParse(JSON.parse(packageJson ?? '{}'))
    return parsed.success && !parsed.data.scripts.test.includes('no test specified')
  } catch {
    return false
  }
}
