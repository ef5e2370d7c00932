import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { createPrivateFolder, exists, realPath } from '../../platform/files/files.ts'
import { baselineClassifier, openBaseline, type BaselineRules } from '../frozen/baseline.ts'
import { recordDependencies, saveDependencies } from '../room/dependencies.ts'
import { openOwnGit } from '../room/own-git.ts'
import { dependenciesFile, placesFor } from './open-proof.ts'

export type Adoption = {
  readonly state: string
  readonly project: string
  readonly rules: BaselineRules
  /** Of the project's repository: a commit whose folder `baseline` is the tree. */
  readonly ref: string
  readonly tree: string
}

/**
 * Copies the tree of the start from the project's repository. Git computes all hashes again when it receives objects, so it is
 * the tree that the journal names. Installed packages count as they are now: no agent has run on this machine.
 */
export async function adoptBaseline({ state, project, rules, ref, tree }: Adoption): Promise<void> {
  const file = dependenciesFile(state)
  if (exists(file)) return
  await createPrivateFolder(state)
  const own = await openOwnGit(join(realPath(state), 'git'))
  await own.run(
    {},
    'fetch',
    '--quiet',
    '--no-tags',
    '--depth=1',
    '--',
    realPath(project),
    `+${ref}:refs/ralph/taken-over`,
  )
  const found = (await own.run({}, 'rev-parse', 'refs/ralph/taken-over:baseline')).toString().trim()
  if (found !== tree) throw new RalphError('BASELINE_DAMAGED', 'the files of the start are not those of this sprint')
  await own.run({}, 'update-ref', 'refs/ralph/baseline', await own.commit(tree))
  const baseline = await openBaseline(own, tree, rules)
  const places = placesFor(realPath(project), baselineClassifier(baseline), baseline.paths)
  await saveDependencies(file, await recordDependencies(places))
}
