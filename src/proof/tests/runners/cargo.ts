import { z } from 'zod'
import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { cleanText, joinName, relativeFile, shortMessage } from '../form/names.ts'
import { parseJson } from '../readers/ctrf.ts'
import { readStartExample } from '../form/start-example.ts'
import type { Report, TestRunner } from '../form/test-runner.ts'

const triples = ['x86_64', 'aarch64'].flatMap((cpu) =>
  ['unknown_linux_gnu', 'unknown_linux_musl', 'apple_darwin'].map((system) => `${cpu}_${system}`.toUpperCase()),
)

export const cargo: TestRunner = {
  name: 'cargo',
  recorded: '1.95',
  pattern: /\bcargo( \+\S+)? (test|t)\b/,
  reporter: {
    environment: ({ folder }) => [
      // rustdoc names its tests, also where `cargo test -q` asks for dots.
      { name: 'CARGO_BUILD_RUSTDOCFLAGS', text: '--test-args --format=pretty', separator: ' ' },
      ...(/\s/.test(folder) ? [] : triples).map((triple) => ({
        name: `CARGO_TARGET_${triple}_RUNNER`,
        text: `${folder}/shell/cargo.sh`,
      })),
    ],
  },
  readReport,
  readOutput,
  readMissingFromReports: (output) => [...readDocTests(output), ...countQuietDocTests(output)],
  select: (tests) => ({ 'only-cargo.txt': tests.map(({ name }) => `${name.replaceAll(' > ', '::')}\n`).join('') }),
}

const Line = z.union([
  z.object({
    type: z.literal('test'),
    event: z.enum(['ok', 'failed', 'ignored', 'timeout']),
    name: z.string(),
    stdout: z.string().optional(),
  }),
  z.object({ type: z.literal('suite'), event: z.enum(['ok', 'failed']), passed: z.number() }),
])

/** One test binary: folder, name, the JSON lines of Rust's harness, exit code. The line of the suite comes last. */
function readReport(report: string, project: string): Report {
  const folder = relativeFile(/^folder (.*)$/m.exec(report)?.[1], `${project}/`) ?? ''
  // The hash behind the name changes with every build.
  const binary = /^binary (.*?)(-[0-9a-f]{16})?$/m.exec(report)?.[1] ?? ''
  const file = [folder === project ? '' : folder, binary].filter((part) => part !== '').join('/')
  const tests: TestResult[] = []
  let complete = false
  for (const text of report.split('\n')) {
    // A test that prints without a line break puts its text before the line.
    const line = Line.safeParse(parseJson(text.slice(Math.max(0, text.search(/\{ "type": /)))))
    if (!line.success) continue
    if (line.data.type === 'suite') complete = true
    else if (line.data.event !== 'timeout') tests.push(readTest(line.data, file))
  }
  return { complete, tests }
}

function readTest({ name, event, stdout }: { name: string; event: string; stdout?: string | undefined }, file: string) {
  const message = event === 'failed' ? shortMessage(stdout) : undefined
  return {
    file,
    name: joinName(name.split('::')),
    status: statuses[event] ?? ('failed' satisfies TestStatus),
    ...(message && { message }),
  }
}

/** Plain output. `Running tests/x.rs (target/…)` names the binary and goes to stderr, so the file is often unknown. */
function readOutput(output: string): Report | undefined {
  const text = cleanText(output)
  const announced = [...text.matchAll(/^running \d+ tests?$/gm)].length
  if (announced === 0) return undefined
  const ended = [...text.matchAll(/^test result: (ok|FAILED)\. /gm)].length
  const found = text.matchAll(/^test (?!result: )(\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b/gm)
  const tests = [...found].map(([, name = '', word = '']): TestResult => ({
    name: joinName(name.split('::')),
    status: statuses[word] ?? 'failed',
  }))
  return { complete: ended === announced, tests: [...tests, ...readDocTests(text)] }
}

/** Documentation tests run inside rustdoc. Their names hold a line number, which moves with the code. */
function readDocTests(output: string): TestResult[] {
  const found = cleanText(output).matchAll(
    /^test (\S+) - (.*?) ?\(line \d+\)(?: - [\w ]+)? \.\.\. (ok|FAILED|ignored)\b/gm,
  )
  return [...found].map(([, file = '', name = '', word = '']) => ({
    file,
    name: joinName(['doc', ...readStartExample(name).split('::')]),
    status: statuses[word] ?? 'failed',
  }))
}

/** RUSTDOCFLAGS wins over the flags of the reporter: then `-q` leaves dots. Only rustdoc announces tests beside reports. */
function countQuietDocTests(output: string): TestResult[] {
  const runs = cleanText(output).matchAll(
    /^running \d+ tests?\n((?:(?!running \d|test result: ).*\n)*)test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm,
  )
  const found = [...runs].filter(([, lines = '']) => !/^test \S+ - /m.test(lines))
  return found.flatMap(([, , passed, failed, ignored]) => [
    ...repeatUnnamed(passed, 'passed'),
    ...repeatUnnamed(failed, 'failed'),
    ...repeatUnnamed(ignored, 'skipped'),
  ])
}

const repeatUnnamed = (count: string | undefined, status: TestStatus): TestResult[] =>
  Array.from({ length: Number(count) }, () => ({ name: 'doc', status }))

const statuses: Readonly<Record<string, TestStatus>> = {
  ok: 'passed',
  failed: 'failed',
  FAILED: 'failed',
  ignored: 'skipped',
}
