import { dirname, resolve } from 'node:path'
import { createFolder, readPlainText } from '../../platform/files/files.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { git } from '../../platform/git.ts'

/**
 * At any depth, for the packages of a monorepo. The folder itself must not match: `git add` of a checkpoint names it, and refuses an
 * ignored path.
 */
const pattern = '**/.claude/sprints/*'

/**
 * Hides the sprints of a project from `git status`, for this clone only. True if it did: not if the project has no repository,
 * ignores them already, or has committed some. `git add --force` still adds a SPRINT.yaml.
 */
export async function excludeFromGit(sprintDir: string): Promise<boolean> {
  const cwd = dirname(sprintDir)
  const ask = (...args: readonly string[]) => git({ cwd }, ...args).catch(() => undefined)
  const path = await ask('rev-parse', '--git-path', 'info/exclude')
  if (path === undefined) return false
  const isIgnored = (await ask('check-ignore', '--quiet', resolve(sprintDir, 'SPRINT.yaml'))) !== undefined
  if (isIgnored || (await ask('ls-files', '--', '.')) !== '') return false
  const file = resolve(cwd, path)
  await createFolder(dirname(file))
  // An agent can make it a link to a file that only the user may read.
  const before = readPlainText(file) ?? ''
  await writeFileAtomic(file, `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${pattern}\n`)
  return true
}
