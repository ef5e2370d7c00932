import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { cleanText, joinName, shortMessage } from '../form/names.ts'
import type { Report } from '../form/test-runner.ts'

/** A longer one would only serve to keep the expression below busy. */
const longestLine = 2000

const point = /^( *)(not )?ok\b *(\d*)(?: +-)? ?(.*?)(?: +# *(skip|todo)\S*\b *(.*))?$/i

/**
 * Reads the Test Anything Protocol. The report is complete if it has a plan and as many points as the plan says. A point that
 * sums up the indented points before it is a suite, and counts only if it is red without a red point inside.
 */
export function readTap(text: string): Report {
  const lines = cleanText(text)
    .split(/\r?\n/)
    .map((line) => line.slice(0, longestLine))
  const tests: TestResult[] = []
  let plan: number | undefined
  let points = 0
  /** What stands at each depth until the point that closes it: tests without their suite. */
  const inside = new Map<number, TestResult[]>()
  for (const [index, line] of lines.entries()) {
    plan = readPlan(line) ?? plan
    const found = readPoint(line, lines.slice(index + 1, index + 60))
    if (!found) continue
    const { depth, test } = found
    const children = takeDeeper(inside, depth)
    const results = children.length === 0 ? [test] : joinSuite(test, children)
    if (depth > 0) inside.set(depth, [...(inside.get(depth) ?? []), ...results])
    else {
      points += 1
      tests.push(...results)
    }
  }
  const stopped = lines.some((line) => line.startsWith('Bail out!'))
  return { complete: plan !== undefined && plan === points && !stopped, tests }
}

function readPlan(line: string): number | undefined {
  const plan = /^1\.\.(\d+)\b/.exec(line)?.[1]
  return plan === undefined ? undefined : Number(plan)
}

function readPoint(line: string, following: readonly string[]): { depth: number; test: TestResult } | undefined {
  const [whole, indent = '', not, number = '', name = '', directive] = point.exec(line) ?? []
  if (whole === undefined) return undefined
  const message = not ? readDiagnosis(following) : undefined
  const status = readStatus(not === undefined, directive?.toLowerCase())
  // TAP escapes what would start a directive.
  const plain = name.replace(/\\([#\\])/g, '$1')
  return {
    depth: indent.length,
    test: { name: joinName([plain || number]), status, ...(message && { message }) },
  }
}

function readStatus(isOk: boolean, directive: string | undefined): TestStatus {
  if (directive === 'skip') return 'skipped'
  if (directive === 'todo') return 'todo'
  return isOk ? 'passed' : 'failed'
}

/** The message in the block of YAML after a point. */
function readDiagnosis(following: readonly string[]): string | undefined {
  if (!/^ *---$/.test(following[0] ?? '')) return undefined
  const block = following.slice(
    1,
    following.findIndex((line) => /^ *\.\.\.$/.test(line)),
  )
  const found = block.flatMap((line) => /^ *(?:message|error): *['"]?(.*?)['"]?$/.exec(line)?.[1] ?? [])
  return shortMessage(found.find((text) => !/^[|>]-?$/.test(text)))
}

function takeDeeper(inside: Map<number, TestResult[]>, depth: number): readonly TestResult[] {
  const deeper = [...inside].filter(([at]) => at > depth)
  for (const [at] of deeper) inside.delete(at)
  return deeper.flatMap(([, tests]) => tests)
}

function joinSuite(suite: TestResult, children: readonly TestResult[]): TestResult[] {
  const tests = children.map((test) => ({ ...test, name: joinName([suite.name, test.name]) }))
  const isOwnFailure = suite.status === 'failed' && !children.some(({ status }) => status === 'failed')
  return isOwnFailure ? [...tests, suite] : tests
}
