import { join } from 'node:path'
import type { TestResult, TestRun } from '../../contract/tests.ts'
import { fileSize, listFolder, listTree, modifiedAt, readTextIfExists } from '../../platform/files/files.ts'
import { reportsFolder } from './prepare-reporters.ts'
import { readNamedReport } from './readers/named-report.ts'
import { recognizeRunners, testRunners } from './registry.ts'
import type { Report, TestRunner } from './form/test-runner.ts'

export type FinishedCheck = {
  readonly command: string
  /** The folder that the command ran in, as the command saw it: reports name files below it. */
  readonly project: string
  /** Where that folder is now, if the check ran in a room of its own; absent: at the same place. */
  readonly projectNow?: string
  readonly outputFolder: string
  /** Standard output, with standard error if the check joins them. */
  readonly stdout: string
  /** `report:` of the check, relative to the project. It wins over everything else. */
  readonly reportPath?: string
  /** When the command was started, in milliseconds: result files that are older belong to an earlier run. */
  readonly startedAt: number
  /** Texts of package.json, Makefile and the like, which name the runner that a command calls. */
  readonly projectTexts?: readonly string[]
}

const largestReport = 256 * 1024 ** 2

/** What a check said about its tests; undefined where no reader finds any trace of a runner. */
export async function readTestRun(check: FinishedCheck): Promise<TestRun | undefined> {
  if (check.reportPath !== undefined) return readReportFile(check, check.reportPath)
  return (await readReports(check)) ?? (await readResultFiles(check)) ?? readPlainOutput(check)
}

async function readReportFile(check: FinishedCheck, reportPath: string): Promise<TestRun> {
  const path = join(check.projectNow ?? check.project, reportPath)
  const isFresh = (modifiedAt(path) ?? 0) >= wholeSecond(check.startedAt)
  const text = isFresh ? await readTextIfExists(path) : undefined
  const { format, report } = readNamedReport(text ?? '', check.project)
  return { runner: format, source: 'file', verified: true, complete: report.complete, tests: [...report.tests] }
}

async function readReports({ outputFolder, project, stdout }: FinishedCheck): Promise<TestRun | undefined> {
  const folder = reportsFolder(outputFolder)
  const names = (await listFolder(folder)).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const parts: { runner: TestRunner; report: Report }[] = []
  for (const name of names) {
    const runner = testRunners.get(/^(.+)-\d+\.\w+$/.exec(name)?.[1] ?? '')
    const path = join(folder, name)
    // The code under test can write here too. What is too large is read as empty, which is incomplete.
    const text = fileSize(path) > largestReport ? '' : await readTextIfExists(path)
    if (runner?.readReport && text !== undefined) parts.push({ runner, report: runner.readReport(text, project) })
  }
  for (const runner of new Set(parts.map((part) => part.runner))) {
    const tests = runner.readMissingFromReports?.(stdout) ?? []
    if (tests.length > 0) parts.push({ runner, report: { complete: true, tests } })
  }
  return joinReports(parts, 'reporter')
}

async function readResultFiles(check: FinishedCheck): Promise<TestRun | undefined> {
  const runners = recognizeRunners(check.command, check.projectTexts).filter(({ resultFiles }) => resultFiles)
  if (runners.length === 0) return undefined
  const root = check.projectNow ?? check.project
  const files = await listTree(root, { except: ['node_modules', '.git'] })
  const parts: { runner: TestRunner; report: Report }[] = []
  for (const runner of runners) {
    for (const file of files.filter((name) => runner.resultFiles?.pattern.test(name))) {
      if ((modifiedAt(join(root, file)) ?? 0) < wholeSecond(check.startedAt)) continue
      const text = await readTextIfExists(join(root, file))
      const report = runner.resultFiles?.read(text ?? '', check.project)
      if (report) parts.push({ runner, report })
    }
  }
  return joinReports(parts, 'file')
}

/** The runners that the command names come first: the output of one may look like that of another. */
function readPlainOutput({ command, projectTexts, stdout, project }: FinishedCheck): TestRun | undefined {
  for (const runner of new Set([...recognizeRunners(command, projectTexts), ...testRunners.values()])) {
    const report = runner.readOutput?.(stdout, project)
    if (report && report.tests.length > 0) return joinReports([{ runner, report }], 'output')
  }
  return undefined
}

function joinReports(
  parts: readonly { readonly runner: TestRunner; readonly report: Report }[],
  source: TestRun['source'],
): TestRun | undefined {
  if (parts.length === 0) return undefined
  return {
    runner: [...new Set(parts.map(({ runner }) => runner.name))].join(' + '),
    source,
    verified: parts.every(({ runner }) => runner.recorded !== undefined),
    complete: parts.every(({ report }) => report.complete),
    tests: parts.flatMap(({ report }): readonly TestResult[] => report.tests),
  }
}

/** Some file systems keep whole seconds only. */
const wholeSecond = (time: number): number => Math.floor(time / 1000) * 1000
