/** A small project for one test runner, in three states. */
export type TestProject = {
  readonly command: string
  /** The runner is a package of npm. */
  readonly nodeModules?: true
  /** Passed, failed, skipped, todo or expected to fail, twice the same name, and where the runner bears it a file that cannot be loaded. */
  readonly mixed: ProjectFiles
  readonly green: ProjectFiles
  /** Ends the process with 0 before the first test. */
  readonly stopped: ProjectFiles
  /** A file that cannot be loaded, where that keeps all others from running. */
  readonly unloadable?: ProjectFiles
}

export type ProjectFiles = Readonly<Record<string, string>>
export const projectStates = ['mixed', 'green', 'stopped', 'unloadable'] as const
