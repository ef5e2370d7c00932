import { z } from 'zod'
import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { joinName, relativeFile, shortMessage } from '../form/names.ts'
import { parseJson } from '../readers/ctrf.ts'
import type { Report, TestRunner } from '../form/test-runner.ts'

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const rspec: TestRunner = {
  name: 'rspec',
  recorded: '3.12',
  pattern: /\brspec\b/,
  reporter: {
    environment: ({ folder, only }) => [
      {
        name: 'SPEC_OPTS',
        text: [
          `--require ${quote(`${folder}/ruby/check_report_rspec.rb`)} --format progress`,
          ...(only ?? []).map(({ name }) => `--example ${quote(name)}`),
        ].join(' '),
        separator: ' ',
      },
    ],
  },
  readReport,
  // Handed over by SPEC_OPTS.
  select: () => ({}),
}

const RspecJson = z.object({
  examples: z.array(
    z.object({
      full_description: z.string(),
      status: z.enum(['passed', 'failed', 'pending']),
      file_path: z.string(),
      pending_message: z.string().nullish(),
      exception: z.object({ message: z.string() }).nullish(),
    }),
  ),
  messages: z.array(z.string()).optional(),
  summary: z.object({ example_count: z.number(), errors_outside_of_examples_count: z.number() }),
})

/** rspec writes its JSON once, at the end. Suites and example are one sentence there. */
function readReport(text: string, project: string): Report {
  const parsed = RspecJson.safeParse(parseJson(text))
  if (!parsed.success) return { complete: false, tests: [] }
  const { examples, summary, messages } = parsed.data
  const tests = examples.map((example): TestResult => {
    const file = relativeFile(example.file_path, project)
    const message = shortMessage(example.exception?.message)
    return {
      ...(file && { file }),
      name: joinName([example.full_description]),
      status: readStatus(example),
      ...(message && { message }),
    }
  })
  const message = shortMessage(messages?.join('\n'))
  const error: TestResult = {
    name: 'outside of examples',
    status: 'failed',
    outside: true,
    ...(message && { message }),
  }
  const hasError = summary.errors_outside_of_examples_count > 0
  return { complete: summary.example_count === tests.length, tests: hasError ? [...tests, error] : tests }
}

/** `pending` is a skip, an example without a body, or one that fails as it was said to; the report does not tell the last. */
function readStatus({ status, pending_message: reason }: z.infer<typeof RspecJson>['examples'][number]): TestStatus {
  if (status !== 'pending') return status
  return /not yet implemented/i.test(reason ?? '') ? 'todo' : 'skipped'
}
