import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testRunners } from '../../../src/proof/tests/registry.ts'
import { nodeProjects } from './node.ts'
import { otherProjects } from './other.ts'
import { projectStates, type TestProject } from './test-project.ts'
import { runProject, type ProjectRun } from './run-project.ts'

export const recordings = fileURLToPath(new URL('../../fixtures/test-runs', import.meta.url))
export const testProjects: Readonly<Record<string, TestProject>> = { ...nodeProjects, ...otherProjects }

/** Runs the real program in every state of its project, and keeps what it wrote, without paths of this machine. */
export async function recordRunner(runner: string, nodeModules: string | undefined): Promise<void> {
  const found = testProjects[runner]
  if (!found) throw new Error(`there is no project for ${runner}`)
  rmSync(join(recordings, runner), { recursive: true, force: true })
  for (const state of projectStates) {
    const files = found[state]
    if (!files) continue
    const ran = await runProject(files, found.command, nodeModules ? { nodeModules } : {})
    keep(join(recordings, runner, state), ran, nodeModules)
  }
  const off = { reporters: 'off', ...(nodeModules && { nodeModules }) } as const
  const plain = await runProject(found.mixed, found.command, off)
  if (testRunners.get(runner)?.readOutput) keep(join(recordings, runner, 'plain'), plain, nodeModules)
}

function keep(folder: string, { project, outputFolder, stdout, exitCode }: ProjectRun, nodeModules?: string): void {
  const clean = (text: string) =>
    (nodeModules ? text.replaceAll(nodeModules, '/project/node_modules') : text)
      .replaceAll(project, '/project')
      .replaceAll(outputFolder, '/out')
      .replaceAll(/hostname="[^"]*"/g, 'hostname="machine"')
      .replaceAll(/^npm warn .*\n/gm, '')
      .replaceAll(/\/(root|home\/\w+)\//g, '/home/user/')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'stdout.txt'), clean(stdout))
  writeFileSync(join(folder, 'exit-code.txt'), `${exitCode}\n`)
  const names = readdirSync(join(outputFolder, 'reports'))
  for (const [index, name] of names.toSorted().entries()) {
    const text = clean(readFileSync(join(outputFolder, 'reports', name), 'utf8'))
    mkdirSync(join(folder, 'reports'), { recursive: true })
    writeFileSync(join(folder, 'reports', name.replace(/-\d+\./, `-${index + 1}.`)), text)
  }
}
