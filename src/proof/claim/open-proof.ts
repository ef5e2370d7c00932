import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { createPrivateFolder, realPath } from '../../platform/files/files.ts'
import { pathOutside } from '../../platform/safe-path.ts'
import {
  baselineClassifier,
  claimClassifier,
  describeOmissions,
  findTestFiles,
  frozenAtStart,
  openBaseline,
  takeBaseline,
  verifyBaseline,
  type Baseline,
  type BaselineRules,
} from '../frozen/baseline.ts'
import type { Classifier } from '../frozen/classify.ts'
import { composeTrees, type ComposedTrees } from '../frozen/compose.ts'
import { listFoundFiles } from '../frozen/found-files.ts'
import { findTwins } from '../frozen/twins.ts'
import { openEnclosure } from '../room/bubblewrap.ts'
import { loadDependencies, recordDependencies, saveDependencies, type DependencyPlaces } from '../room/dependencies.ts'
import type { Confine } from '../room/confine.ts'
import type { Enclosure } from '../room/enclosure.ts'
import { prepareDependencies, type DependencyPlan } from '../room/install.ts'
import { openOwnGit, type OwnGit, type TreeChange } from '../room/own-git.ts'
import { openRoom, type KeptFile, type Room } from '../room/room.ts'
import { takeSnapshot, type SnapshotRequest } from '../room/snapshot.ts'
import { keepFiles, listChangedKept } from './kept-files.ts'

export type ProofOptions = {
  /** `$RALPH_HOME/state/<uuid>`, not readable to agents. */
  readonly state: string
  readonly project: string
  /** Folders of Ralph in the project, relative to it. */
  readonly exclude: readonly string[]
  /** `room: {copy: […]}`. */
  readonly include?: readonly string[]
  readonly rules: BaselineRules
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folders that checks must not see. */
  readonly hidden: readonly string[]
  /** Where commands run that have no room of their own. */
  readonly confine?: Confine | undefined
  /** The tree that the journal recorded when the sprint began; without it the project is recorded now. */
  readonly baselineTree?: string | undefined
  /** Ralph's cell; otherwise bubblewrap if it works here. */
  readonly enclosure?: Enclosure
}

export type Claim = ComposedTrees & {
  /** The work tree as it was at the claim. */
  readonly tree: string
  readonly classifier: Classifier
  /** What the room cannot show, one sentence each. */
  readonly notes: readonly string[]
}

/** What proves a claim: the baseline, and a room for runs on any tree. */
export type Proof = {
  readonly baseline: Baseline
  readonly room: Room
  /**
   * Records the work tree and composes the trees to run. No agent may be running. `named`: files whose tests ran at the start.
   */
  readonly claim: (named?: readonly string[]) => Promise<Claim>
  /** Stores ignored files of the work tree as they are now. */
  readonly keep: (paths: readonly string[]) => Promise<readonly KeptFile[]>
  /** Those of them that differ in the work tree. */
  readonly listChangedKept: (kept: readonly KeptFile[]) => Promise<readonly string[]>
  /** Where installed packages come from for runs of a claim. */
  readonly dependencies: (claim: Claim, install: InstallOptions) => Promise<DependencyPlan>
}

export type InstallOptions = {
  readonly install?: string | undefined
  readonly timeoutMs: number
  /** `room: {network: true}`. */
  readonly isNetworkOpen?: boolean
}

/** Call it before the first agent runs: later claims are compared with what it records. */
export async function openProof(options: ProofOptions): Promise<Proof> {
  await createPrivateFolder(options.state)
  const [state, project] = [realPath(options.state), realPath(options.project)]
  const request: SnapshotRequest = { project, exclude: options.exclude, include: options.include ?? [] }
  const own = await openOwnGit(join(state, 'git'))
  const baseline =
    options.baselineTree === undefined
      ? await takeBaseline(own, request, options.rules)
      : await openBaseline(own, options.baselineTree, options.rules)
  const record = await dependencyRecord(dependenciesFile(state), baseline, options, project)
  const folder = join(state, 'room')
  const { env } = options
  const hidden = [...options.hidden, state]
  const safePath = pathOutside(env['PATH'] ?? '/usr/bin:/bin', project)
  const machine = { path: safePath, home: env['HOME'] ?? '/root', confine: options.confine }
  const enclosure = options.enclosure ?? (await openEnclosure({ folder, hidden, ...machine }))
  return {
    baseline,
    room: await openRoom({ own, project, folder, enclosure, env }),
    claim: async (named = []) => {
      const { tree, ...omitted } = await takeSnapshot(own, request)
      const [changes] = await Promise.all([own.compare(baseline.tree, tree), verifyBaseline(own, baseline)])
      const touched = changes.map(({ path }) => path).filter((path) => named.includes(path))
      const known = [...(baseline.rules.tests ?? []), ...(await findTestFiles(own, baseline, touched))]
      const twins = await findTwins(own, baseline.paths, changes, frozenAtStart(baseline, known))
      const rules = { ...baseline.rules, tests: [...known, ...twins] }
      const withoutFound = claimClassifier({ ...baseline, rules }, changes)
      const found = await findFound(own, { baseline, tree, changes, classifier: withoutFound })
      const classifier = claimClassifier({ ...baseline, rules: { ...rules, found } }, changes)
      const trees = await composeTrees(own, { baseline: baseline.tree, claim: tree, changes }, classifier)
      return { ...trees, tree, classifier, notes: describeOmissions(omitted) }
    },
    keep: (paths) => keepFiles(own, project, paths),
    listChangedKept: (kept) => listChangedKept(own, project, kept),
    dependencies: ({ newOnNew, dependenciesChanged, classifier }, { install, timeoutMs, isNetworkOpen = false }) =>
      prepareDependencies({
        own,
        enclosure,
        record,
        env,
        install,
        isNetworkOpen,
        timeoutMs,
        dependenciesChanged,
        places: placesFor(project, classifier, baseline.paths),
        baseline: baseline.tree,
        tree: newOnNew,
        isManifest: (path) => ['keys', 'lock'].includes(classifier.classify(path)),
        cache: join(state, 'packages'),
      }),
  }
}

type Comparison = {
  readonly baseline: Baseline
  readonly tree: string
  readonly changes: readonly TreeChange[]
  readonly classifier: Classifier
}

/** Changed files that only a runner loads. */
async function findFound(own: OwnGit, { baseline, tree, changes, classifier }: Comparison): Promise<string[]> {
  const { classify, isFound } = classifier
  if (!changes.some(({ path }) => isFound(path))) return []
  const [before, after] = await Promise.all([own.list(baseline.tree), own.list(tree)])
  const isFrozen = (path: string) => ['test', 'support', 'setting'].includes(classify(path))
  return listFoundFiles(own, { before, after, changes, isFound, isFrozen })
}

/** Describes the installed packages of the start. */
export const dependenciesFile = (state: string): string => join(state, 'dependencies.json')

/** Recorded once, with the baseline. */
async function dependencyRecord(file: string, baseline: Baseline, { baselineTree }: ProofOptions, project: string) {
  const kept = baselineTree === undefined ? undefined : loadDependencies(file)
  if (kept) return kept
  if (baselineTree !== undefined)
    throw new RalphError('BASELINE_DAMAGED', 'the record of installed packages is gone', {
      place: { file },
      hint: 'start the sprint again',
    })
  const record = await recordDependencies(placesFor(project, baselineClassifier(baseline), baseline.paths))
  await saveDependencies(file, record)
  return record
}

export function placesFor(project: string, classifier: Classifier, paths: readonly string[]): DependencyPlaces {
  const { packageRoots, dependencies: names, caches } = classifier
  const isTracked = (folder: string) => paths.some((path) => path.startsWith(`${folder}/`))
  return { project, packageRoots, names, caches, isTracked }
}
