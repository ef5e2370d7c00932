import type { CompiledWorktree } from '../../contract/phases.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { type Compilation, getSprintName } from '../resolve/compilation.ts'
import { unknownText } from '../parse/decode.ts'
import { errorAt } from '../parse/parse.ts'

/** Resolves the worktree of the sprint; undefined if it has none. SPRINT.yaml wins, field by field. */
export function resolveWorktree(compilation: Compilation): CompiledWorktree | undefined {
  const { sprint, main, sprintId, report } = compilation
  const own = sprint.value.worktree
  const shared = main.value.worktree
  if (!(own?.enabled ?? shared?.enabled ?? false)) return undefined
  const fill = createFiller(compilation)
  const branch = own?.branch === undefined ? `${shared?.branchPrefix ?? 'sprint/'}${sprintId}` : fill(own.branch)
  const path =
    own?.path === undefined
      ? shared?.pathPrefix === undefined
        ? `../${sprintId}-worktree`
        : `${shared.pathPrefix}${sprintId}`
      : fill(own.path)
  if (branch.includes(unknownText) || path.includes(unknownText)) return undefined
  if (!isBranchName(branch)) report(createInvalidBranch(branch, compilation))
  if (hasControlCharacters.test(path) || path.startsWith('-')) {
    const [file, field, code] =
      own?.path === undefined
        ? ([main, 'path-prefix', 'WORKFLOW_WORKTREE_INVALID_PATH_PREFIX'] as const)
        : ([sprint, 'path', 'WORKTREE_INVALID_PATH'] as const)
    report(
      errorAt({ parsed: file.parsed, path: ['worktree', field] }, { code, message: `"${path}" cannot be a folder` }),
    )
  }
  return { enabled: true, branch, path, cleanup: own?.cleanup ?? shared?.cleanup ?? 'on-complete' }
}

const hasControlCharacters = /\p{C}/u

/** Stricter than git: nothing that a shell would interpret, even though no shell ever sees it. */
const branchPattern = /^[\p{L}\p{N}_][\p{L}\p{N}._/+@=-]*$/u
const gitRefuses = /\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)|[./]$|^@$/

const isBranchName = (name: string): boolean => name.length <= 200 && branchPattern.test(name) && !gitRefuses.test(name)

function createInvalidBranch(branch: string, { sprint, main }: Compilation) {
  const own = sprint.value.worktree?.branch !== undefined
  const message = `"${branch}" cannot be the name of a branch`
  const hint = 'use letters, digits and . _ / + @ = -'
  return own
    ? errorAt(
        { parsed: sprint.parsed, path: ['worktree', 'branch'] },
        { code: 'WORKTREE_INVALID_BRANCH_NAME', message, hint },
      )
    : errorAt(
        { parsed: main.parsed, path: ['worktree', 'branch-prefix'] },
        { code: 'WORKFLOW_WORKTREE_INVALID_BRANCH_PREFIX', message, hint },
      )
}

/** Replaces `{sprint-id}`, `{sprint-name}`, `{date}` and `{workflow}`; the date comes from the id, else it is today. */
function createFiller({ sprintId, main, input }: Compilation): (text: string) => string {
  const date = /^\d{4}-\d{2}-\d{2}(?=_)/.exec(sprintId)?.[0] ?? formatTimestamp(input.at).slice(0, 10)
  const values = new Map([
    ['sprint-id', sprintId],
    ['sprint-name', getSprintName(sprintId)],
    ['date', date],
    ['workflow', main.name],
  ])
  return (text) => text.replace(/\{([a-z-]+)\}/g, (whole, name: string) => values.get(name) ?? whole)
}
