import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestResult, TestRun } from '../../../src/contract/tests.ts'
import { prepareReporters, writeReporters } from '../../../src/proof/tests/prepare-reporters.ts'
import { readTestRun } from '../../../src/proof/tests/read-test-run.ts'
import type { ProjectFiles } from './test-project.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export type ProjectRun = {
  readonly project: string
  readonly outputFolder: string
  readonly stdout: string
  readonly exitCode: number | null
  readonly run: TestRun | undefined
}

export type RunOptions = {
  readonly env?: Readonly<Record<string, string>>
  readonly nodeModules?: string
  readonly only?: readonly TestResult[]
  readonly reportPath?: string
  readonly reporters?: 'on' | 'off'
}

const made: string[] = []

/** Runs a command in a new project the way a check does, and reads its tests. */
export async function runProject(files: ProjectFiles, command: string, options: RunOptions = {}): Promise<ProjectRun> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-tests-')))
  made.push(folder)
  const project = join(folder, 'project')
  const outputFolder = join(folder, 'out')
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  if (options.nodeModules) symlinkSync(options.nodeModules, join(project, 'node_modules'))
  // The tests of this project run in vitest, whose variables a check does not have.
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'CARGO_HOME', 'RUSTUP_HOME', 'RUSTUP_TOOLCHAIN', 'PYENV_ROOT']
  const base = Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
  const env = { ...base, ...options.env }
  const request = { outputFolder, assets: join(root, 'assets/reporters'), env }
  const prepared = await prepareReporters({ ...request, ...(options.only && { only: options.only }) })
  await writeReporters(prepared, outputFolder)
  const startedAt = Date.now()
  const { stdout, status } = spawnSync('/bin/sh', ['-c', `exec 2>&1\n${command}`], {
    cwd: project,
    env: { ...env, ...(options.reporters === 'off' ? {} : prepared.env) },
    encoding: 'utf8',
  })
  const check = { command, project, outputFolder, stdout, startedAt }
  const run = await readTestRun({ ...check, ...(options.reportPath && { reportPath: options.reportPath }) })
  return { project, outputFolder, stdout, exitCode: status, run }
}

export function removeProjects(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
}

/** `passed  file > name`, one line per test, sorted. */
export const testLines = (run: TestRun | undefined): string[] =>
  (run?.tests ?? []).map(({ file, name, status }) => `${status}  ${file ? `${file} > ` : ''}${name}`).toSorted()
