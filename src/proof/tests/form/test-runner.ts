import type { TestResult } from '../../../contract/tests.ts'

/** What we know of one test runner, and nothing else: data and pure functions. */
export type TestRunner = {
  readonly name: string
  /** The version whose reports were recorded for the tests of its reader; absent: never seen running. */
  readonly recorded?: string
  /** Whether a command, or a script that a command calls, names this runner. */
  readonly pattern: RegExp
  readonly reporter?: Reporter
  /** Reads what the reporter wrote to `<output folder>/reports/<name>-<process id>.<kind>`. */
  readonly readReport?: (text: string, project: string) => Report
  /** Result files that the runner writes into the project by itself. */
  readonly resultFiles?: ResultFiles
  /** Reads the plain output; undefined if it is not the output of this runner. */
  readonly readOutput?: (text: string, project: string) => Report | undefined
  /** Tests that the output shows and the reports lack. */
  readonly readMissingFromReports?: (output: string) => readonly TestResult[]
  /** Files for the folder of the reporters that make the runner run only some tests; absent: it runs all of them. */
  readonly select?: (tests: readonly TestResult[]) => Readonly<Record<string, string>>
}

export type Report = {
  /** The last record of the run is there. */
  readonly complete: boolean
  readonly tests: readonly TestResult[]
}

export type Reporter = {
  /** Changes of the environment that switch the reporter on. `folder` holds the reporters. */
  readonly environment: (place: ReporterPlace) => readonly EnvironmentChange[]
  /** Files beside those of assets/reporters, by their path in the folder of the reporters. */
  readonly files?: (place: ReporterPlace) => Readonly<Record<string, string>>
}

export type ReporterPlace = {
  readonly folder: string
  readonly reports: string
  /** The tests to run, where the whole suite is not wanted. */
  readonly only?: readonly TestResult[]
}

/** Text added to a variable that may have a value already. Without `separator` the variable is set only if it has none. */
export type EnvironmentChange = {
  readonly name: string
  readonly text: string
  readonly separator?: ' ' | ':'
  /** Which side of the value the text stands on; the end if absent. */
  readonly side?: 'start' | 'end'
  /** Leaves the variable alone if its value matches. */
  readonly unless?: RegExp
  /** The separator is needed also where there was no value. */
  readonly keepSeparator?: true
}

export type ResultFiles = {
  /** Matches paths relative to the project. */
  readonly pattern: RegExp
  readonly read: (text: string, project: string) => Report
}
