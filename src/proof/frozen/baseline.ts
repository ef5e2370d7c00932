import { RalphError } from '../../contract/errors.ts'
import type { OwnGit } from '../room/own-git.ts'
import { findLfsPointers, takeSnapshot, type SnapshotRequest } from '../room/snapshot.ts'
import { createClassifier, type Classifier, type FrozenRules } from './classify.ts'
import { findCheckScripts } from './check-scripts.ts'
import { frozenTable } from './frozen-table.ts'

/** The project before the first agent: what every claim is measured against. */
export type Baseline = {
  readonly tree: string
  readonly paths: readonly string[]
  readonly rules: FrozenRules
  /** What the room cannot show, one sentence each. */
  readonly notes: readonly string[]
}

/** What the user says, and the commands of the checks: scripts that they name are frozen too. */
export type BaselineRules = FrozenRules & { readonly commands: readonly string[] }

/** Stores the project's files as they are, before an agent runs. */
export async function takeBaseline(own: OwnGit, request: SnapshotRequest, rules: BaselineRules): Promise<Baseline> {
  const { tree, nested, unreadable } = await takeSnapshot(own, request)
  await own.run({}, 'update-ref', 'refs/ralph/baseline', await own.commit(tree))
  const baseline = await openBaseline(own, tree, rules)
  return { ...baseline, notes: [...describe(nested, unreadable), ...baseline.notes] }
}

/** The baseline of a sprint that is resumed, by the tree that the journal recorded. */
export async function openBaseline(own: OwnGit, tree: string, rules: BaselineRules): Promise<Baseline> {
  const files = await own.list(tree)
  const pointers = await findLfsPointers(own, tree)
  const read = async (path: string) => {
    const entry = files.get(path)
    return entry?.mode.startsWith('100') ? (await own.readBlobs([entry.id]))[0]?.toString() : undefined
  }
  const scripts = await findCheckScripts(rules.commands, [...files.keys()], read)
  const notes = pointers.length === 0 ? [] : [`LFS content not included, pointers only: ${few(pointers)}`]
  return {
    tree,
    paths: [...files.keys()],
    rules: { frozen: [...rules.frozen, ...scripts.map(literalGlob)], mayChange: rules.mayChange },
    notes,
  }
}

/** Sentences about what a snapshot left out. */
export const describe = (nested: readonly string[], unreadable: readonly string[]): string[] => [
  ...(nested.length === 0 ? [] : [`submodule or nested repository not included: ${few(nested)}`]),
  ...(unreadable.length === 0 ? [] : [`file not readable, not included: ${few(unreadable)}`]),
]

const few = (names: readonly string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`

/** A path as a glob that matches nothing else. */
const literalGlob = (path: string): string => `/${path.replace(/[[\]*?{}]/g, '?')}`

/** How the paths of a baseline and a claim are read. */
export async function classifierFor(own: OwnGit, baseline: Baseline, claim: string): Promise<Classifier> {
  const added = (await own.compare(baseline.tree, claim)).filter(({ before }) => !before).map(({ path }) => path)
  return createClassifier(frozenTable(), [...baseline.paths, ...added], baseline.rules)
}

/**
 * Computes the hash of every frozen file of the baseline again. Git does not when it reads, so without a cell an agent could
 * have put other bytes under the same name.
 */
export async function verifyBaseline(own: OwnGit, { tree }: Baseline, { classify }: Classifier): Promise<void> {
  const frozen = new Set(['test', 'setting', 'keys'])
  const ids = [...(await own.list(tree))].filter(([path]) => frozen.has(classify(path))).map(([, { id }]) => id)
  await own.readBlobs([...new Set(ids)])
  const fsck = own.run({}, 'rev-parse', '--verify', '--quiet', `${tree}^{tree}`)
  await fsck.catch((cause: unknown) => {
    throw new RalphError('BASELINE_DAMAGED', 'the tree of the baseline is gone', { cause })
  })
}
