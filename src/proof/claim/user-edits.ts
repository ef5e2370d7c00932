import { join } from 'node:path'
import { readTextSyncIfExists, removeFile } from '../../platform/files/files.ts'
import { writePrivateFile } from '../../platform/files/private-file.ts'
import { claimClassifier, openBaseline, type BaselineRules } from '../frozen/baseline.ts'
import { openOwnGit, type OwnGit, type TreeChange } from '../room/own-git.ts'
import { takeSnapshot, type SnapshotRequest } from '../room/snapshot.ts'

/** Where the work tree is, and the state that no agent reads. */
export type KeptTree = { readonly state: string; readonly request: SnapshotRequest }

const restFile = ({ state }: KeptTree): string => join(state, 'rest')

/** Records the work tree as agents and hooks left it. */
export async function rememberRest(kept: KeptTree): Promise<void> {
  const own = await openOwnGit(join(kept.state, 'git'))
  const { tree } = await takeSnapshot(own, kept.request)
  await own.run({}, 'update-ref', 'refs/ralph/rest', await own.commit(tree))
  await writePrivateFile(restFile(kept), tree)
}

/** While agents run, and after a run that was cut off, no edit is known to be the user's. */
export const forgetRest = (kept: KeptTree): Promise<void> => removeFile(restFile(kept))

export type UserEdits = {
  /** The baseline with the user's tests and settings. */
  readonly tree: string
  readonly paths: readonly string[]
  /** The user edited them, but an agent had changed them before. */
  readonly contested: readonly string[]
}

/** What the user changed in tests and settings since the last rest; undefined if nothing, or if no rest is recorded. */
export async function takeUserEdits(
  kept: KeptTree,
  baselineTree: string,
  rules: BaselineRules,
): Promise<UserEdits | undefined> {
  const rest = readTextSyncIfExists(restFile(kept))
  if (rest === undefined || rest === '') return undefined
  const own = await openOwnGit(join(kept.state, 'git'))
  const { tree: now } = await takeSnapshot(own, kept.request)
  const edits = await own.compare(rest, now)
  if (edits.length === 0) return undefined
  const { classify } = claimClassifier(await openBaseline(own, baselineTree, rules), edits)
  const frozen = edits.filter(({ path }) => frozenKinds.has(classify(path)))
  if (frozen.length === 0) return undefined
  const byAgent = new Set((await own.compare(baselineTree, rest)).map(({ path }) => path))
  return layOver(own, baselineTree, frozen, byAgent)
}

const frozenKinds = new Set(['test', 'support', 'setting', 'keys'])

async function layOver(
  own: OwnGit,
  baselineTree: string,
  edits: readonly TreeChange[],
  byAgent: ReadonlySet<string>,
): Promise<UserEdits> {
  const taken = edits.filter(({ path }) => !byAgent.has(path))
  const contested = edits.filter(({ path }) => byAgent.has(path)).map(({ path }) => path)
  const tree = await own.edit(
    baselineTree,
    taken.map(({ path, after }) => ({ path, entry: after })),
  )
  await own.run({}, 'update-ref', 'refs/ralph/baseline', await own.commit(tree))
  return { tree, paths: taken.map(({ path }) => path), contested }
}
