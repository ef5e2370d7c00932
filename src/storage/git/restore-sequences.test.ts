import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createRandom, deriveSeed, type Random } from '../../../test/simulation/random.ts'
import {
  changeProject,
  changeShape,
  createRandomProject,
  isReachable,
  listIgnored,
  nestedFolders,
  readDisk,
  readRef,
  runGit,
  type DiskState,
} from '../../../test/support/random-trees.ts'
import { errorMessage, RalphError } from '../../contract/errors.ts'
import { storeFolder } from './repositories.ts'
import { restoreFiles, type RestorePoint } from './restore.ts'
import { openWorkspace } from './workspace.ts'

/** Sequences to try; all of them: npm run test:more -- restore */
const count = Number(process.env['RESTORE_SEQUENCES'] ?? 6)
const firstSeed = Number(process.env['SEED'] ?? 1)

/** What was on the disk at a checkpoint, and which repositories there were. */
type StoredState = {
  readonly disk: DiskState
  readonly ignored: ReadonlySet<string>
  readonly roots: readonly string[]
}

type Options = { readonly project: string; readonly sprintDir: string; readonly sprintId: string }

it.each([
  [2657, 'a submodule that is ignored and tracked'],
  [20_072, 'an undo after a restore that was refused'],
  [100_337, 'a file in place of a submodule that is ignored and tracked'],
  [20_111, 'an ignored link in place of a folder with skip-worktree files'],
])('loses no byte in sequence %i: %s', async (seed) => {
  await expect(runSequence(seed, [])).resolves.toBeUndefined()
})

it(`loses no byte in ${count} random sequences of edits, checkpoints, restores and undos`, async () => {
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    if (count > 100 && (seed - firstSeed) % 100 === 0) console.log(`seed ${seed}`)
    const history: string[] = []
    const problem = await runSequence(seed, history).then(() => undefined, errorMessage)
    expect(problem, `SEED=${seed} RESTORE_SEQUENCES=1\n${history.join('\n')}`).toBeUndefined()
  }
}, 86_400_000)

async function runSequence(seed: number, history: string[]): Promise<void> {
  const random = createRandom(deriveSeed(seed, 'restore'))
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')))
  try {
    await runTurns(join(folder, 'project'), random, { history, shapes: [2 * seed, 2 * seed + 1] })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `shapes`: changes of the first turn, so that a sample of consecutive seeds contains each. */
async function runTurns(
  project: string,
  random: Random,
  { history, shapes }: { readonly history: string[]; readonly shapes: readonly number[] },
): Promise<void> {
  mkdirSync(project)
  createRandomProject(project, random)
  const options = { project, sprintDir: join(project, '.claude', 'sprints', 's'), sprintId: 's' }
  const workspace = await openWorkspace(options)
  const stored: StoredState[] = []
  const store = async (make: () => Promise<unknown>) => {
    await make()
    stored.push(describe(options))
  }
  await store(workspace.start)
  let restored: StoredState | undefined
  for (let turn = 0; turn < 10; turn++) {
    if (turn === 0) history.push(...shapes.map((which) => changeShape(project, random, which)))
    for (let edits = random.below(4); edits > 0; edits--) history.push(changeProject(project, random))
    if (random.chance(0.5)) {
      history.push(`checkpoint ${stored.length}`)
      await store(() => workspace.checkpoint(stored.length, 'm'))
      continue
    }
    const point = choosePoint(random, stored.length, restored !== undefined)
    history.push(`restore ${JSON.stringify(point)}`)
    restored = (await tryRestore(options, point, { stored, restored, at: turn })) ?? restored
  }
}

const choosePoint = (random: Random, stored: number, canUndo: boolean): RestorePoint =>
  canUndo && random.chance(0.4) ? 'undo' : { iteration: random.below(stored) }

/** Restores, compares with the model, and resolves with what an undo brings back; undefined if nothing was replaced. */
async function tryRestore(
  options: Options,
  point: RestorePoint,
  {
    stored,
    restored,
    at,
  }: { readonly stored: readonly StoredState[]; readonly restored: StoredState | undefined; readonly at: number },
): Promise<StoredState | undefined> {
  const { project } = options
  const before = describe(options)
  const users = readUserState(project)
  const outcome = await restoreFiles(options, point, at).catch((error: unknown) => {
    if (error instanceof RalphError && error.code.startsWith('CHECKPOINT_')) return error
    throw error
  })
  const after = readDisk(project)
  expect(readUserState(project)).toEqual(users)
  if (outcome instanceof RalphError) {
    expect({ refusal: outcome.message, lost: listDifferences(before.disk, after) }).toEqual({
      refusal: outcome.message,
      lost: [],
    })
    return undefined
  }
  const expected = point === 'undo' ? restored : stored[point.iteration]
  if (expected) assertRestored(options, { before, after, expected })
  if (outcome.saved.length > 0) {
    assertNothingLost(options, { before, after, saved: outcome.saved })
    return before
  }
  assertNone('changed', listDifferences(before.disk, after))
  return undefined
}

/** Each file is still there, or is in the ref that holds the replaced files. */
function assertNothingLost(
  options: Options,
  {
    before,
    after,
    saved,
  }: { readonly before: StoredState; readonly after: DiskState; readonly saved: readonly string[] },
): void {
  const kept = new Map<string, string>()
  for (const [number, root] of before.roots.entries()) {
    const prefix = root === '.' ? '' : `${root}/`
    for (const [path, file] of readRef(storeFolder(join(options.project, root), options), saved[number] ?? ''))
      kept.set(`${prefix}${path}`, file)
  }
  const lost = [...before.disk].filter(([path, file]) => after.get(path) !== file && kept.get(path) !== file)
  assertNone('lost', lost)
}

/** Every file of the checkpoint is there, byte for byte, and nothing that was stored since. */
function assertRestored(
  options: Options,
  {
    before,
    after,
    expected,
  }: { readonly before: StoredState; readonly after: DiskState; readonly expected: StoredState },
): void {
  /** In another repository than then, or in none. */
  const isElsewhere = (path: string) => {
    const root = findRoot(before, path)
    return root === undefined || root !== findRoot(expected, path)
  }
  const missing = [...expected.disk].filter(
    ([path, file]) => !expected.ignored.has(path) && !isElsewhere(path) && after.get(path) !== file,
  )
  assertNone('missing', missing)
  const ignored = findIgnored(options, '.', [...after.keys()])
  const extra = [...after.keys()].filter(
    (path) => !expected.disk.has(path) && !before.ignored.has(path) && !ignored.has(path) && !isElsewhere(path),
  )
  assertNone(
    'extra',
    extra.filter((path) => !path.startsWith('trees/')),
  )
}

/** The message lists them all: `expect` abbreviates. */
function assertNone(what: string, found: readonly unknown[]): void {
  if (found.length > 0) throw new Error(`${what}: ${JSON.stringify(found)}`)
}

const findRoot = ({ roots }: StoredState, path: string): string | undefined =>
  roots.filter((root) => root === '.' || path.startsWith(`${root}/`)).toSorted((a, b) => b.length - a.length)[0]

function describe(options: Options): StoredState {
  const { project } = options
  const disk = readDisk(project)
  // Ralph's store makes a project whose `.git` is gone still a repository.
  const isRoot = (root: string) =>
    (existsSync(join(project, root, '.git')) && isReachable(project, `${root}/.git`)) ||
    (root === '.' && existsSync(storeFolder(project, options)))
  const roots = ['.', ...nestedFolders].filter(isRoot)
  const paths = [...disk.keys()]
  const ignored = roots.flatMap((root) => {
    const prefix = root === '.' ? '' : `${root}/`
    const own = paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length))
    return [...findIgnored(options, root, own)].map((path) => `${prefix}${path}`)
  })
  return { disk, ignored: new Set(ignored), roots }
}

function findIgnored(options: Options, root: string, paths: readonly string[]): ReadonlySet<string> {
  const folder = join(options.project, root)
  const gitDir = join(folder, '.git')
  return listIgnored(folder, paths, existsSync(gitDir) ? gitDir : storeFolder(folder, options))
}

const listDifferences = (before: DiskState, after: DiskState): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path))

function readUserState(project: string) {
  const index = join(project, '.git', 'index')
  if (!existsSync(join(project, '.git'))) return {}
  return {
    head: readFileSync(join(project, '.git', 'HEAD'), 'utf8'),
    index: existsSync(index) ? readFileSync(index, 'latin1') : '',
    heads: runGit(project, 'for-each-ref', 'refs/heads'),
  }
}
