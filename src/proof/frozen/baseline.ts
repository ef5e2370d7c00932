import { posix } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import type { OwnGit, TreeChange, TreeEntry } from '../room/own-git.ts'
import { findLfsPointers, takeSnapshot, type Snapshot, type SnapshotRequest } from '../room/snapshot.ts'
import {
  createClassifier,
  joinShapes,
  readShape,
  type Classifier,
  type FrozenRules,
  type ProjectShape,
} from './classify.ts'
import { findCheckScripts } from './check-scripts.ts'
import { listIncludedDocs } from './rust-examples.ts'
import { findTestAssets } from './test-assets.ts'
import { findTestHelpers } from './test-helpers.ts'
import { frozenTable } from './frozen-table.ts'

/** The project before the first agent. Every claim is compared with it. */
export type Baseline = {
  readonly tree: string
  readonly paths: readonly string[]
  readonly rules: FrozenRules
  readonly shape: ProjectShape
  /** The files that later runs rely on. */
  readonly frozenIds: readonly string[]
  /** What the room cannot show, one sentence each. */
  readonly notes: readonly string[]
}

/** What the user says, and the commands of the checks: scripts that they name are frozen too. */
export type BaselineRules = FrozenRules & { readonly commands: readonly string[] }

/** Stores the project's files as they are, before an agent runs. */
export async function takeBaseline(own: OwnGit, request: SnapshotRequest, rules: BaselineRules): Promise<Baseline> {
  const { tree, ...omitted } = await takeSnapshot(own, request)
  await own.run({}, 'update-ref', 'refs/ralph/baseline', await own.commit(tree))
  const baseline = await openBaseline(own, tree, rules)
  return { ...baseline, notes: [...describeOmissions(omitted), ...baseline.notes] }
}

/** The baseline of a sprint that is resumed, by the tree that the journal recorded. */
export async function openBaseline(own: OwnGit, tree: string, rules: BaselineRules): Promise<Baseline> {
  if (!(await own.has(tree)))
    throw new RalphError('ROOM_FAILED', 'the files of the start of this sprint are not on this machine', {
      hint: 'another machine recorded them; accept the work as unproven, or start the sprint again',
    })
  const files = await own.list(tree)
  const pointers = await findLfsPointers(own, tree)
  const read = async (path: string) => {
    const entry = files.get(path)
    return entry?.mode.startsWith('100') ? (await own.readBlobs([entry.id]))[0]?.toString() : undefined
  }
  const { scripts, programs } = await findCheckScripts(rules.commands, [...files.keys()], read)
  const notes = pointers.length === 0 ? [] : [`LFS content not included, pointers only: ${few(pointers)}`]
  const paths = [...files.keys()]
  const shape = readShape(frozenTable(), paths)
  const withScripts = { frozen: rules.frozen, mayChange: rules.mayChange, scripts, tests: programs }
  const { classify: kind } = createClassifier(frozenTable(), shape, withScripts)
  const plain = paths.filter((path) => files.get(path)?.mode.startsWith('100'))
  const readAll = async (names: readonly string[]) =>
    (await own.readBlobs(names.map((path) => files.get(path)?.id ?? ''))).map(String)
  const helpers = await findTestHelpers({
    paths: plain,
    isTest: (path) => testKinds.has(kind(path)),
    read: readAll,
    search: (words) => searchTree(own, tree, words),
  })
  const included = await findIncludedDocs(own, { tree, files })
  const assets = await findTestAssets({
    paths: plain,
    links: await readLinks(own, files),
    isTest: (path) => testKinds.has(kind(path)) || helpers.includes(path),
    isSetting: (path) => kind(path) === 'setting',
    read: readAll,
    search: (words) => searchTree(own, tree, words),
  })
  const frozenRules = { ...withScripts, helpers: [...helpers, ...included, ...assets] }
  const { classify } = createClassifier(frozenTable(), shape, frozenRules)
  const frozen = [...files].filter(([path]) => verified.has(classify(path))).map(([, { id }]) => id)
  return { tree, paths, rules: frozenRules, shape, frozenIds: [...new Set(frozen)], notes }
}

const verified = new Set(['test', 'setting', 'keys'])
const testKinds = new Set(['test', 'support', 'setting'])

/** Links and where they lead, as git stores them. */
async function readLinks(own: OwnGit, files: ReadonlyMap<string, TreeEntry>): Promise<ReadonlyMap<string, string>> {
  const links = [...files].filter(([, { mode }]) => mode === '120000')
  const targets = await own.readBlobs(links.map(([, { id }]) => id))
  return new Map(links.map(([path], at) => [path, String(targets[at])]))
}

/** Texts whose examples rustdoc runs because a source includes them, as a README. */
async function findIncludedDocs(
  own: OwnGit,
  { tree, files }: { readonly tree: string; readonly files: ReadonlyMap<string, TreeEntry> },
): Promise<string[]> {
  if (![...files.keys()].some((path) => path.endsWith('.rs'))) return []
  const sources = (await searchTree(own, tree, ['include_str!', 'doctest!'])).filter((path) => path.endsWith('.rs'))
  const texts = await own.readBlobs(sources.map((path) => files.get(path)?.id ?? ''))
  const found = sources.flatMap((path, at) =>
    listIncludedDocs(String(texts[at])).map((name) =>
      posix.join(name.startsWith('/') ? findCrate(files, path) : posix.dirname(path), name),
    ),
  )
  return [...new Set(found)].filter((path) => files.get(path)?.mode.startsWith('100'))
}

/** The nearest folder with a Cargo.toml. */
function findCrate(files: ReadonlyMap<string, TreeEntry>, path: string): string {
  const folder = posix.dirname(path)
  return folder === '.' || files.has(posix.join(folder, 'Cargo.toml')) ? folder : findCrate(files, folder)
}

/** grep exits with 1 if nothing matches. */
async function searchTree(own: OwnGit, tree: string, words: readonly string[]): Promise<string[]> {
  const patterns = words.flatMap((word) => ['-e', word])
  const found = await own.run({}, 'grep', '-l', '-z', '-I', '-F', ...patterns, tree).catch(() => Buffer.from(''))
  return found
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((line) => line.slice(tree.length + 1))
}

/** Sentences about what a snapshot left out. */
export const describeOmissions = ({ nested, unreadable, large }: Omit<Snapshot, 'tree'>): string[] => [
  ...(nested.length === 0 ? [] : [`nested repository not included: ${few(nested)}`]),
  ...(large.length === 0
    ? []
    : [`not in git and too large, not included: ${few(large)}; checks that need it: \`room: {copy: […]}\``]),
  ...(unreadable.length === 0 ? [] : [`file not readable, not included: ${few(unreadable)}`]),
]

const few = (names: readonly string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`

export const baselineClassifier = ({ shape, rules }: Baseline): Classifier =>
  createClassifier(frozenTable(), shape, rules)

/** Whether a path is put back as it was at the start. `tests`: files whose tests ran. */
export function frozenAtStart(baseline: Baseline, tests: readonly string[]): (path: string) => boolean {
  const { classify } = baselineClassifier({ ...baseline, rules: { ...baseline.rules, tests } })
  return (path) => testKinds.has(classify(path))
}

/** How the paths of a baseline and a claim are read. */
export function claimClassifier({ shape, rules }: Baseline, changes: readonly TreeChange[]): Classifier {
  const added = changes.filter(({ before }) => !before).map(({ path }) => path)
  return createClassifier(frozenTable(), joinShapes(shape, readShape(frozenTable(), added)), rules)
}

/**
 * Computes the hash of every frozen file of the baseline again. Git does not when it reads, so without a cell an agent could
 * have put other bytes under the same name.
 */
export async function verifyBaseline(own: OwnGit, { frozenIds }: Baseline): Promise<void> {
  await own.readBlobs(frozenIds)
}

/** Of the files that a runner named at the start, those that hold tests and nothing else. A doc test stands in its source. */
export async function findTestFiles(own: OwnGit, { tree }: Baseline, named: readonly string[]): Promise<string[]> {
  const files = await own.list(tree)
  const known = named.flatMap((path) => {
    const entry = files.get(path)
    return entry?.mode.startsWith('100') && !path.endsWith('.rs') ? [{ path, id: entry.id }] : []
  })
  const texts = await own.readBlobs(known.map(({ id }) => id))
  return known.filter((_, at) => isTestText(texts[at]?.toString() ?? '')).map(({ path }) => path)
}

/** A test is defined in the text, and none of it is an example in a source. */
const isTestText = (text: string): boolean =>
  /\b(?:test|it|describe|suite|specify|scenario)\s*(?:\.\w+\s*)*\(|^\s*(?:async\s+)?def test|\bTestCase\b|\bfunc Test|@Test\b|#\[test\]/m.test(
    text,
  ) && !/^\s*>>> |import\.meta\.vitest/m.test(text)
