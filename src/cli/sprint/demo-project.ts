import { join } from 'node:path'
import { copyFileTo, copyFolder, createFolder } from '../../platform/files/files.ts'
import { git } from '../../platform/git.ts'
import { assetPath } from '../io/assets.ts'

/** The sprint of the sample project. */
export const demoSprintFolder = (project: string): string => join(project, '.claude', 'sprints', 'pancakes')

/** Creates the sample project in its own repository, with a sprint in it, whose folder it returns. */
export async function createDemoProject(project: string): Promise<string> {
  const sprintDir = demoSprintFolder(project)
  await copyFolder(assetPath('demo/project'), project)
  await createFolder(sprintDir)
  for (const name of ['SPRINT.yaml', 'SCENARIO.yaml'])
    await copyFileTo(assetPath(`demo/${name}`), join(sprintDir, name))
  await git({ cwd: project }, 'init', '--quiet', '--initial-branch=main')
  await git({ cwd: project }, 'add', '--all')
  await git({ cwd: project }, 'commit', '--quiet', '--message', 'A recipe library whose tests fail')
  return sprintDir
}
