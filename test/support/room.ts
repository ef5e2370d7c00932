import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { claimClassifier, frozenAtStart, takeBaseline, type BaselineRules } from '../../src/proof/frozen/baseline.ts'
import { composeTrees } from '../../src/proof/frozen/compose.ts'
import { findTwins } from '../../src/proof/frozen/twins.ts'
import { openEnclosure } from '../../src/proof/room/bubblewrap.ts'
import type { Enclosure } from '../../src/proof/room/enclosure.ts'
import { openOwnGit } from '../../src/proof/room/own-git.ts'
import { plainEnclosure } from '../../src/proof/room/plain.ts'
import { openRoom, type RoomJob } from '../../src/proof/room/room.ts'
import { takeSnapshot } from '../../src/proof/room/snapshot.ts'
import { createTestFolder } from './folder.ts'

/** A text is a file, null a folder, `{ link }` a link, `{ program }` a file that can be started. */
export type Files = Readonly<Record<string, string | null | { readonly link: string } | { readonly program: string }>>

export function put(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(content === null ? path : dirname(path), { recursive: true })
    if (typeof content === 'string') writeFileSync(path, content)
    else if (content !== null && 'link' in content) symlinkSync(content.link, path)
    else if (content !== null) {
      writeFileSync(path, content.program)
      chmodSync(path, 0o755)
    }
  }
}

export const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@localhost', '-c', 'init.defaultBranch=main', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()

/** A project that is a repository with one commit. */
export function createProject(files: Files): string {
  const project = join(createTestFolder(), 'project')
  put(project, files)
  git(project, 'init', '-q')
  git(project, 'add', '-A')
  git(project, 'commit', '-q', '-m', 'start', '--allow-empty')
  return project
}

export const enclosures: readonly (readonly [string, (folder: string) => Promise<Enclosure>])[] = [
  [
    'what this machine has',
    (folder) =>
      openEnclosure({
        folder,
        hidden: [],
        path: process.env['PATH'] ?? '/usr/bin:/bin',
        home: process.env['HOME'] ?? '/root',
      }),
  ],
  ['no namespaces', () => Promise.resolve(plainEnclosure('asked for'))],
]

const noRules: BaselineRules = { frozen: [], mayChange: [], commands: [] }

/** Ralph's side of a sprint: baseline taken, room filled. */
export async function createSprint(
  project: string,
  open: (folder: string) => Promise<Enclosure>,
  rules: Partial<BaselineRules> = {},
) {
  const state = createTestFolder()
  const request = { project, exclude: ['.claude/sprints'] }
  const own = await openOwnGit(join(state, 'git'))
  const baseline = await takeBaseline(own, request, { ...noRules, ...rules })
  const enclosure = await open(join(state, 'room'))
  const room = await openRoom({ own, project, folder: join(state, 'room'), enclosure, env: process.env })
  onTestFinished(() => room.close())
  await room.fill(baseline.tree)
  const claim = async () => {
    const snapshot = await takeSnapshot(own, request)
    const changes = await own.compare(baseline.tree, snapshot.tree)
    const tests = await findTwins(own, baseline.paths, changes, frozenAtStart(baseline, []))
    const classifier = claimClassifier({ ...baseline, rules: { ...baseline.rules, tests } }, changes)
    const trees = await composeTrees(own, { baseline: baseline.tree, claim: snapshot.tree, changes }, classifier)
    return { ...trees, snapshot, classifier }
  }
  const run = (tree: string, command: string, more: Partial<RoomJob> = {}) =>
    room.run({ tree, command, timeoutMs: 60_000, ...more })
  return { state, own, baseline, enclosure, room, request, claim, run }
}
