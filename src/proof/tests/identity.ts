import type { TestResult, TestRun } from '../../contract/tests.ts'
import { severity } from './form/severity.ts'
import { normalizeName } from './volatile-names.ts'

/** One test of a run, as it is compared with other runs. */
export type IdentifiedTest = Pick<TestResult, 'status' | 'message' | 'file' | 'outside'> & {
  /** `file > name`, with ` #2` for a second one. */
  readonly id: string
}

export type IdentityOptions = {
  /** Names, as any file may have them, whose file another run does not know. */
  readonly withoutFile?: ReadonlySet<string>
  /** Names that change with every run, in their normal form. */
  readonly volatile?: ReadonlySet<string>
}

/**
 * Gives each test of a run its identity. Of several tests in one file with one name, the worst status counts for all, because
 * a runner may mix up their order. Where the file is unknown such tests may be honest strangers: each keeps its own status,
 * the best first.
 */
export function identifyTests({ tests }: TestRun, options: IdentityOptions = {}): IdentifiedTest[] {
  const groups = new Map<string, TestResult[]>()
  for (const test of tests) {
    const key = testKey(test, options)
    const group = groups.get(key)
    if (group) group.push(test)
    else groups.set(key, [test])
  }
  return [...groups].flatMap(([key, group]) => identifyGroup(key, group, options))
}

function identifyGroup(key: string, group: readonly TestResult[], options: IdentityOptions): IdentifiedTest[] {
  const sorted = group.toSorted((a, b) => severity(a.status) - severity(b.status))
  const worst = sorted.at(-1)
  const isOneFile = group.every((test) => hasFile(test, options))
  return sorted.map((test, index) => {
    const { name: _name, ...rest } = (isOneFile && worst) || test
    return { ...rest, id: index === 0 ? key : `${key} #${index + 1}` }
  })
}

function testKey(test: TestResult, options: IdentityOptions): string {
  const normal = normalizeName(test.name)
  const name = options.volatile?.has(normal) ? normal : test.name
  return test.file !== undefined && hasFile(test, options) ? `${test.file} > ${name}` : name
}

const hasFile = (test: TestResult, { withoutFile }: IdentityOptions): boolean =>
  test.file !== undefined && !withoutFile?.has(test.name)
