import { join, posix } from 'node:path'
import { isFile } from '../../platform/files/files.ts'
import { lazy } from '../../platform/lazy.ts'
import type { OwnGit, TreeChange, TreeEdit, TreeEntry } from '../room/own-git.ts'
import type { Classifier, FrozenKind } from './classify.ts'
import { listChangedModules } from './merge-go-mod.ts'
import { canHoldTests, exchangeInlineTests } from './inline-tests.ts'
import { isCode, listImports } from './test-helpers.ts'
import { limitToOldTests, listScripts } from './old-tests.ts'
import { freezeNew, listEntries, freezeKeys, restoreEntries, takeDependencies } from './merge-keys.ts'

export type ComposedTrees = {
  /** The claim's code with the tests, support and settings of the baseline. */
  readonly oldOnNew: string
  /** The claim with the settings of the baseline. */
  readonly newOnNew: string
  /** The baseline's code with the tests and dependencies of the claim. Composed when asked: most claims do not need it. */
  readonly newOnOld: () => Promise<string>
  /** The agent's changes of frozen files, which make a claim contested. */
  readonly frozenChanges: readonly FrozenChange[]
  /** Changed tests, and what tests load, that the user lets the agent change. */
  readonly releasedTests: readonly string[]
  /** New modules that would hide one of the test runner; they are in no tree. */
  readonly shadows: readonly string[]
  /** Whether lockfiles or dependencies in a manifest differ. */
  readonly dependenciesChanged: boolean
  /** Whether anything but dropped files differs at all. */
  readonly isChanged: boolean
  /** The work itself: what differs and is neither a test nor a setting. */
  readonly readSources: () => Promise<readonly SourceChange[]>
  /** Changed sources that load a file of the work tree which is not in the claim, because git ignores it. */
  readonly listIgnoredImports: (project: string) => Promise<readonly string[]>
  /** Whether code of the start that is no test loads the file, or a manifest of the start names it. */
  readonly isLoadedByCode: (path: string) => Promise<boolean>
  /** The claim with other texts in some of its files. */
  readonly replaceIn: (tree: string, files: readonly SourceText[]) => Promise<string>
}

export type SourceText = { readonly path: string; readonly text: string }

/** Empty texts stand for a file that is not there. */
export type SourceChange = { readonly path: string; readonly before: string; readonly after: string }

export type FrozenChange = {
  readonly path: string
  readonly kind: Exclude<FrozenKind, 'source' | 'drop' | 'lock'>
  readonly change: 'changed' | 'deleted' | 'added'
  /** A unified diff of what the agent did. */
  readonly readDiff: () => Promise<string>
}

export type ClaimTrees = {
  readonly baseline: string
  readonly claim: string
  /** What differs between the two. */
  readonly changes: readonly TreeChange[]
}

/** Lays old over new and new over old in the index. One tree id each: equal ids need one run only. */
export async function composeTrees(own: OwnGit, trees: ClaimTrees, classifier: Classifier): Promise<ComposedTrees> {
  const classified = trees.changes.map((change) => ({ ...change, kind: kindNow(classifier, change) }))
  const manifests = await mergeManifests(own, trees, classified, classifier)
  const isVendored = await findVendored(own, classified, classifier)
  const changes = classified.map((change) => (isVendored(change) ? { ...change, kind: 'lock' as const } : change))
  const inline = await exchangeInline(own, changes, classifier)
  const lay = (side: Side) =>
    changes.flatMap((change): TreeEdit[] => {
      if (side === 'newOnOld' && classifier.isReleasedTest(change.path))
        return [{ path: change.path, entry: change.after }]
      const exchanged = side === 'newOnNew' ? undefined : inline.get(change.path)?.[side]
      const entry = exchanged ?? choose(side, change, manifests.get(change.path))
      const base = side === 'newOnOld' ? change.before : change.after
      return entry?.id === base?.id && entry?.mode === base?.mode ? [] : [{ path: change.path, entry }]
    })
  return {
    oldOnNew: await own.edit(trees.claim, lay('oldOnNew')),
    newOnNew: await own.edit(trees.claim, lay('newOnNew')),
    newOnOld: () => own.edit(trees.baseline, lay('newOnOld')),
    frozenChanges: describeChanges(
      own,
      trees,
      changes.map((change) => (inline.has(change.path) ? { ...change, kind: 'test' as const } : change)),
      manifests,
    ),
    releasedTests: changes.map(({ path }) => path).filter(classifier.isReleasedTest),
    shadows: changes.filter(({ kind }) => kind === 'shadow').map(({ path }) => path),
    dependenciesChanged: changes.some(
      ({ path, kind }) => kind === 'lock' || manifests.get(path)?.dependenciesDiffer === true,
    ),
    isChanged: changes.some(({ kind }) => kind !== 'drop'),
    readSources: () =>
      readSources(
        own,
        changes.filter(({ path }) => !classifier.isReleased(path)),
      ),
    listIgnoredImports: async (project) => {
      const known = await own.list(trees.claim)
      const left = { has: (path: string) => !known.has(path) && isFile(join(project, path)) }
      const sources = await readSources(own, changes)
      return sources.filter(({ path, after }) => listImports(path, after, left).length > 0).map(({ path }) => path)
    },
    isLoadedByCode: (path) => isLoadedByCode(own, trees.baseline, classifier, path),
    replaceIn: (tree, files) => replaceIn(own, tree, files),
  }
}

type EntryExchange = { readonly oldOnNew: TreeEntry; readonly newOnOld: TreeEntry }

/** Source files with tests inside: the code of one side with the tests of the other. */
async function exchangeInline(own: OwnGit, changes: readonly Change[], { isReleased }: Classifier) {
  const exchanged = new Map<string, EntryExchange>()
  const candidates = changes.filter(({ path, kind }) => kind === 'source' && canHoldTests(path) && !isReleased(path))
  for (const { path, before, after } of candidates.slice(0, maxSources)) {
    const [old, now] = await Promise.all([readText(own, before), readText(own, after)])
    const texts = after && exchangeInlineTests(path, old ?? '', now ?? '')
    if (!texts) continue
    const write = async (text: string): Promise<TreeEntry> => ({ mode: after.mode, id: await own.writeBlob(text) })
    exchanged.set(path, { oldOnNew: await write(texts.oldOnNew), newOnOld: await write(texts.newOnOld) })
  }
  return exchanged
}

/** Larger changes are not examined. */
const maxSources = 500

async function readSources(own: OwnGit, changes: readonly Change[]): Promise<SourceChange[]> {
  const sources = changes.filter(({ kind }) => kind === 'source' || kind === 'found').slice(0, maxSources)
  const read = async (entry: TreeEntry | undefined) => (await readText(own, entry)) ?? ''
  return Promise.all(
    sources.map(async ({ path, before, after }) => ({ path, before: await read(before), after: await read(after) })),
  )
}

/** What a package offers to tests may be empty for all that its own tests say. */
const isTestKit = /(?:^|[/_-])(?:testing|test[-_]?(?:utils?|helpers?|support|kit)|asserts?|assertions?)(?:\/|\.\w+$)/i

/** More sources than this are not read. */
const maxUsers = 3000

async function isLoadedByCode(own: OwnGit, tree: string, { classify }: Classifier, path: string): Promise<boolean> {
  const files = await own.list(tree)
  const known = new Set(files.keys())
  const users = [...files]
    .filter(([user, { mode }]) => user !== path && mode.startsWith('100'))
    .filter(([user]) => (isCode.test(user) && classify(user) === 'source') || posix.basename(user) === 'package.json')
    .slice(0, maxUsers)
  const texts = (await own.readBlobs(users.map(([, { id }]) => id))).map(String)
  return users.some(([user], at) => {
    const text = texts[at] ?? ''
    if (isCode.test(user)) return listImports(user, text, known).includes(path)
    return !isTestKit.test(path) && listEntries(text).some((target) => posix.join(posix.dirname(user), target) === path)
  })
}

async function replaceIn(own: OwnGit, tree: string, files: readonly SourceText[]): Promise<string> {
  const entries = await own.list(tree)
  const edits: TreeEdit[] = []
  for (const { path, text } of files)
    edits.push({ path, entry: { mode: entries.get(path)?.mode ?? '100644', id: await own.writeBlob(text) } })
  return own.edit(tree, edits)
}

type Side = 'oldOnNew' | 'newOnNew' | 'newOnOld'
type Change = TreeChange & { readonly kind: FrozenKind }

/** A module that was there at the start hides nothing that it did not hide then. */
function kindNow(classifier: Classifier, { path, before }: TreeChange): FrozenKind {
  const kind = classifier.classify(path)
  return kind === 'shadow' && before !== undefined ? 'source' : kind
}

/** Installed packages in the repository, where the agent changed what is installed: they come from the claim as a lock does. */
async function findVendored(own: OwnGit, changes: readonly Change[], { isFrozenByUser }: Classifier) {
  const folders: string[] = []
  const crates: string[] = []
  for (const { path, kind, before, after } of changes) {
    const name = posix.basename(path)
    const vendor = posix.join(posix.dirname(path), 'vendor')
    if (name === 'Cargo.lock' && kind === 'lock') crates.push(`${vendor}/`)
    if (name !== 'go.mod' || kind !== 'keys') continue
    const [old = '', now = ''] = await Promise.all([readText(own, before), readText(own, after)])
    const modules = listChangedModules(old, now)
    if (modules.length > 0) folders.push(`${vendor}/modules.txt`, ...modules.map((module) => `${vendor}/${module}/`))
  }
  // Cargo compares a checksum of every file of a crate, also of its manifest and tests.
  const isOfCrate = ({ path, kind }: Change) =>
    kind === 'support' || (/(?:\/Cargo\.toml|\.rs)$/.test(path) && kind !== 'source' && !isFrozenByUser(path))
  return (change: Change): boolean =>
    (change.kind === 'support' && isIn(change.path, folders)) || (isIn(change.path, crates) && isOfCrate(change))
}

const isIn = (path: string, places: readonly string[]): boolean => places.some((place) => path.startsWith(place))

type MergeResult = {
  readonly frozen: TreeEntry | undefined
  /** The same, with the entries of the start. */
  readonly restored: TreeEntry | undefined
  /** Also a new manifest: without it the tests of a new package would not run on the old code. */
  readonly old: TreeEntry | undefined
  readonly isFrozenDifferent: boolean
  readonly dependenciesDiffer: boolean
}

/** The entry at a changed path of one tree. */
function choose(side: Side, { kind, before, after }: Change, merged: MergeResult | undefined): TreeEntry | undefined {
  switch (kind) {
    case 'drop':
    case 'setting':
      return before
    case 'shadow':
      return undefined
    case 'keys':
      return side === 'newOnOld' ? merged?.old : side === 'oldOnNew' ? merged?.restored : merged?.frozen
    case 'lock':
      return after
    case 'test':
      return side === 'oldOnNew' ? before : after
    case 'found':
      return side === 'newOnNew' ? after : before
    case 'support':
      return side === 'oldOnNew' ? (before ?? after) : after
    case 'source':
      return side === 'newOnOld' ? before : after
  }
}

async function mergeManifests(
  own: OwnGit,
  { baseline, claim }: ClaimTrees,
  changes: readonly Change[],
  classifier: Classifier,
): Promise<Map<string, MergeResult>> {
  const merged = new Map<string, MergeResult>()
  const removed = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path))
  const left = changes.some(({ kind }) => kind === 'keys') ? [...(await own.list(claim)).keys()] : []
  const scripts = lazy(() => readScripts(own, baseline))
  for (const { path, kind, before, after } of changes) {
    const rule = kind === 'keys' ? classifier.keys(path) : undefined
    if (rule === undefined) continue
    const [old, now] = await Promise.all([readText(own, before), readText(own, after)])
    const texts = { before: old, after: now }
    const frozen = freezeKeys(path, texts, rule)
    const withDependencies = takeDependencies(path, texts, rule)
    const isGone = (target: string) =>
      target.includes('*')
        ? isPatternGone(posix.join(posix.dirname(path), target), removed, left)
        : ['', '.js', '/index.js'].some((end) => removed.has(posix.join(posix.dirname(path), target + end)))
    const holdsTests = async () =>
      [...(await own.list(baseline)).keys()].some(
        (other) => isBelow(other, posix.dirname(path)) && classifier.classify(other) === 'test',
      )
    const isFirst = async () => ![...(await own.list(baseline)).keys()].some((other) => classifier.keys(other))
    // A new manifest beside tests of the start would change how they run.
    const restored =
      old === undefined && now !== undefined && (await holdsTests())
        ? freezeNew(path, now, rule, await isFirst())
        : restoreEntries(path, { before: old, after: frozen ?? now }, rule, isGone)
    const limited = limitToOldTests(path, { before: old, after: restored ?? frozen ?? now }, await scripts())
    const write = async (text: string): Promise<TreeEntry> => ({ mode: '100644', id: await own.writeBlob(text) })
    const oldText = limited ?? restored
    const frozenEntry = frozen === undefined ? (now === undefined ? before : after) : await write(frozen)
    merged.set(path, {
      frozen: frozenEntry,
      restored: oldText === undefined ? frozenEntry : await write(oldText),
      old: withDependencies === undefined ? (before ?? after) : await write(withDependencies),
      isFrozenDifferent: (frozen ?? oldText) !== undefined,
      dependenciesDiffer: withDependencies !== undefined || (before === undefined) !== (after === undefined),
    })
  }
  return merged
}

/** What the packages of the start run. */
async function readScripts(own: OwnGit, tree: string): Promise<ReadonlySet<string>> {
  const manifests = [...(await own.list(tree))].filter(([path]) => posix.basename(path) === 'package.json')
  const texts = await own.readBlobs(manifests.flatMap(([, { mode, id }]) => (mode.startsWith('100') ? [id] : [])))
  return new Set(texts.flatMap((text) => listScripts(String(text))))
}

/** Files of the start matched it, and none of the claim does. A star stands for any text, also with slashes. */
function isPatternGone(pattern: string, removed: ReadonlySet<string>, left: readonly string[]): boolean {
  const [start = '', ...ends] = pattern.split('*')
  const end = ends.at(-1) ?? ''
  const matches = (path: string) =>
    path.length >= start.length + end.length && path.startsWith(start) && path.endsWith(end)
  return [...removed].some(matches) && !left.some(matches)
}

const isBelow = (path: string, folder: string): boolean => folder === '.' || path.startsWith(`${folder}/`)

/** Undefined for what is not a plain file: a manifest that became a link leads out of the room. */
async function readText(own: OwnGit, entry: TreeEntry | undefined): Promise<string | undefined> {
  if (entry === undefined || !entry.mode.startsWith('100')) return undefined
  return (await own.readBlobs([entry.id]))[0]?.toString()
}

/** More than a person would read. */
const maxCharacters = 200_000

function describeChanges(
  own: OwnGit,
  { baseline, claim }: ClaimTrees,
  changes: readonly Change[],
  manifests: ReadonlyMap<string, MergeResult>,
): FrozenChange[] {
  const words = ['diff-tree', '-p', '-r', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color']
  return changes.flatMap(({ path, kind, before, after }): FrozenChange[] => {
    if (kind === 'source' || kind === 'drop' || kind === 'lock') return []
    if (kind === 'keys' && manifests.get(path)?.isFrozenDifferent !== true) return []
    const change = before === undefined ? 'added' : after === undefined ? 'deleted' : 'changed'
    const readDiff = async () =>
      (await own.run({}, ...words, baseline, claim, '--', `:(top,literal)${path}`)).toString().slice(0, maxCharacters)
    return [{ path, kind, change, readDiff }]
  })
}
