import type { ErrorCode } from '../../contract/errors.ts'

export type FileKind = 'sprint' | 'workflow' | 'config'

/** What can be wrong with a value. */
export type ProblemKind = 'missing' | 'type' | 'empty' | 'value'

type ProblemRow = readonly [FileKind | 'any', pattern: string, ProblemKind | 'any', ErrorCode, message?: string]

const createItemRows = (at: string): ProblemRow[] => [
  ['sprint', at, 'any', 'INVALID_COLLECTION_ITEM', 'An item must be a map with a prompt'],
  ['sprint', `${at}.prompt`, 'missing', 'MISSING_ITEM_PROMPT', 'An item must have a prompt'],
  ['sprint', `${at}.prompt`, 'empty', 'EMPTY_ITEM_PROMPT', 'The prompt of an item must not be empty'],
  ['sprint', `${at}.prompt`, 'any', 'MISSING_ITEM_PROMPT', 'The prompt of an item must be text'],
  ['sprint', `${at}.id`, 'any', 'INVALID_COLLECTION_ITEM', 'The id of an item must be text'],
  ['sprint', `${at}.workflow`, 'any', 'INVALID_ITEM_WORKFLOW', 'The workflow of an item must be a name'],
  ['sprint', `${at}.model`, 'any', 'INVALID_MODEL', 'model must be the name of a model'],
  ['sprint', `${at}.depends-on`, 'any', 'INVALID_DEPENDS_ON', 'depends-on must be a list of item ids'],
  ['sprint', `${at}.depends-on.*`, 'empty', 'EMPTY_DEPENDS_ON_ELEMENT', 'An id in depends-on must not be empty'],
  [
    'sprint',
    `${at}.depends-on.*`,
    'any',
    'INVALID_DEPENDS_ON_ELEMENT',
    'depends-on must be a list of item ids, as text',
  ],
]

const sprint: readonly ProblemRow[] = [
  ['sprint', '', 'any', 'INVALID_SPRINT', 'SPRINT.yaml must be a map of fields'],
  ['sprint', 'workflow', 'any', 'MISSING_WORKFLOW', 'SPRINT.yaml must name its workflow'],
  ['sprint', 'sprint-id', 'empty', 'MISSING_SPRINT_ID', 'sprint-id must not be empty'],
  ['sprint', 'sprint-id', 'any', 'INVALID_SPRINT_ID'],
  ['sprint', 'goal', 'any', 'RALPH_MISSING_GOAL', 'Ralph mode requires goal field in SPRINT.yaml, as text'],
  ['sprint', 'collections', 'any', 'INVALID_COLLECTIONS', 'collections must be a map from names to lists of items'],
  ['sprint', 'collections.*', 'any', 'INVALID_COLLECTION', 'A collection must be a list of items'],
  ...createItemRows('collections.*.*'),
  ['sprint', 'steps', 'any', 'INVALID_COLLECTION', 'steps must be a list'],
  ...createItemRows('steps.*'),
  ['sprint', 'worktree', 'any', 'INVALID_WORKTREE_CONFIG', 'worktree must be a map of fields'],
  ['sprint', 'worktree.enabled', 'missing', 'WORKTREE_MISSING_ENABLED', 'worktree must say enabled: true or false'],
  ['sprint', 'worktree.enabled', 'any', 'WORKTREE_INVALID_ENABLED', 'worktree.enabled must be true or false'],
  ['sprint', 'worktree.branch', 'empty', 'WORKTREE_EMPTY_BRANCH', 'worktree.branch must not be empty'],
  ['sprint', 'worktree.branch', 'any', 'WORKTREE_INVALID_BRANCH', 'worktree.branch must be text'],
  ['sprint', 'worktree.path', 'empty', 'WORKTREE_EMPTY_PATH', 'worktree.path must not be empty'],
  ['sprint', 'worktree.path', 'any', 'WORKTREE_INVALID_PATH', 'worktree.path must be text'],
  ['sprint', 'worktree.cleanup', 'type', 'WORKTREE_INVALID_CLEANUP'],
  ['sprint', 'worktree.cleanup', 'any', 'WORKTREE_INVALID_CLEANUP_MODE'],
  ['sprint', 'per-iteration-hooks', 'any', 'INVALID_HOOKS', 'per-iteration-hooks must be a map or a list of hooks'],
  ['sprint', 'per-iteration-hooks.*', 'any', 'RALPH_INVALID_HOOK_OVERRIDE', 'A hook override must be a map of fields'],
]

const phase = 'phases.*'
const gate = 'phases.*.gate'

const workflow: readonly ProblemRow[] = [
  ['workflow', '', 'any', 'INVALID_WORKFLOW', 'A workflow must be a map of fields'],
  ['workflow', 'name', 'any', 'MISSING_WORKFLOW_NAME', 'A workflow must have a name'],
  ['workflow', 'mode', 'any', 'INVALID_WORKFLOW_MODE', 'mode must be "standard" or "ralph"'],
  ['workflow', 'phases', 'any', 'MISSING_PHASES', 'phases must be a list of phases'],
  ['workflow', phase, 'any', 'INVALID_PHASE', 'A phase must be a map of fields'],
  ['workflow', `${phase}.id`, 'any', 'MISSING_PHASE_ID', 'A phase must have an id'],
  ['workflow', `${phase}.prompt`, 'empty', 'PHASE_MISSING_ACTION', 'The prompt of a phase must not be empty'],
  ['workflow', `${phase}.for-each`, 'empty', 'EMPTY_FOREACH', 'for-each must name a collection'],
  ['workflow', `${phase}.for-each`, 'any', 'INVALID_FOREACH', 'for-each must be the name of a collection'],
  ['workflow', `${phase}.collection`, 'empty', 'EMPTY_COLLECTION_REF', 'collection must name a collection'],
  ['workflow', `${phase}.collection`, 'any', 'INVALID_COLLECTION_REF', 'collection must be the name of a collection'],
  ['workflow', `${phase}.parallel`, 'any', 'INVALID_PARALLEL', 'parallel must be true or false'],
  [
    'workflow',
    `${phase}.wait-for-parallel`,
    'any',
    'INVALID_WAIT_FOR_PARALLEL',
    'wait-for-parallel must be true or false',
  ],
  ['workflow', `${phase}.break`, 'any', 'INVALID_BREAK', 'break must be true or false'],
  ['workflow', `${phase}.model`, 'any', 'INVALID_MODEL', 'model must be the name of a model'],
  ['workflow', gate, 'any', 'INVALID_GATE', 'gate must be a map with script and on-fail'],
  ['workflow', `${gate}.script`, 'missing', 'GATE_MISSING_SCRIPT', 'A gate must have a script'],
  ['workflow', `${gate}.script`, 'empty', 'GATE_EMPTY_SCRIPT', 'The script of a gate must not be empty'],
  ['workflow', `${gate}.script`, 'any', 'GATE_MISSING_SCRIPT', 'The script of a gate must be text'],
  [
    'workflow',
    `${gate}.on-fail`,
    'any',
    'GATE_MISSING_ON_FAIL',
    'A gate must have on-fail with a prompt for the agent',
  ],
  ['workflow', `${gate}.on-fail.prompt`, 'empty', 'GATE_EMPTY_ON_FAIL_PROMPT', 'on-fail.prompt must not be empty'],
  ['workflow', `${gate}.on-fail.prompt`, 'any', 'GATE_MISSING_ON_FAIL_PROMPT', 'on-fail of a gate must have a prompt'],
  [
    'workflow',
    `${gate}.on-fail.max-retries`,
    'any',
    'GATE_INVALID_MAX_RETRIES',
    'max-retries must be a whole number, at least 1',
  ],
  [
    'workflow',
    `${gate}.timeout`,
    'any',
    'GATE_INVALID_TIMEOUT',
    'timeout must be a number of seconds, or a duration such as 5m',
  ],
  ['workflow', `${phase}.**`, 'any', 'INVALID_PHASE'],
  ['workflow', 'worktree', 'any', 'INVALID_WORKFLOW_WORKTREE', 'worktree must be a map of fields'],
  [
    'workflow',
    'worktree.enabled',
    'missing',
    'WORKFLOW_WORKTREE_MISSING_ENABLED',
    'worktree must say enabled: true or false',
  ],
  [
    'workflow',
    'worktree.enabled',
    'any',
    'WORKFLOW_WORKTREE_INVALID_ENABLED',
    'worktree.enabled must be true or false',
  ],
  ['workflow', 'worktree.branch-prefix', 'any', 'WORKFLOW_WORKTREE_INVALID_BRANCH_PREFIX'],
  ['workflow', 'worktree.path-prefix', 'any', 'WORKFLOW_WORKTREE_INVALID_PATH_PREFIX'],
  ['workflow', 'worktree.cleanup', 'type', 'WORKFLOW_WORKTREE_INVALID_CLEANUP'],
  ['workflow', 'worktree.cleanup', 'any', 'WORKFLOW_WORKTREE_INVALID_CLEANUP_MODE'],
  ['workflow', 'per-iteration-hooks', 'any', 'INVALID_HOOKS', 'per-iteration-hooks must be a list of hooks'],
  ['workflow', 'per-iteration-hooks.*', 'any', 'INVALID_HOOK', 'A per-iteration hook must be a map of fields'],
]

const both: readonly ProblemRow[] = [
  ['any', 'per-iteration-hooks.*.id', 'any', 'MISSING_HOOK_ID', 'Per-iteration hook must have an id'],
  ['any', 'per-iteration-hooks.*.parallel', 'any', 'INVALID_HOOK_PARALLEL', 'parallel must be true or false'],
  ['any', 'per-iteration-hooks.*.enabled', 'any', 'INVALID_HOOK_ENABLED', 'enabled must be true or false'],
  ['any', 'per-iteration-hooks.*.**', 'any', 'INVALID_HOOK'],
  ['any', 'model', 'any', 'INVALID_MODEL', 'model must be the name of a model'],
]

/** Maps a problem and its path to a code of the seeds. The first matching row wins. */
const problemTable = [...sprint, ...workflow, ...both].map(([file, pattern, problem, code, message]) => ({
  file,
  segments: pattern === '' ? [] : pattern.split('.'),
  problem,
  code,
  message,
}))

export type ProblemRuling = { readonly code: ErrorCode; readonly message: string | undefined }

export function findRuling(file: FileKind, path: readonly (string | number)[], problem: ProblemKind): ProblemRuling {
  const row = problemTable.find(
    (candidate) =>
      (candidate.file === 'any' || candidate.file === file) &&
      (candidate.problem === 'any' || candidate.problem === problem) &&
      matchesPath(candidate.segments, path),
  )
  return { code: row?.code ?? 'INVALID_FIELD', message: row?.message }
}

/** `*` stands for one segment, a last `**` for one or more. */
function matchesPath(segments: readonly string[], path: readonly (string | number)[]): boolean {
  const open = segments.at(-1) === '**'
  if (open ? path.length < segments.length : path.length !== segments.length) return false
  return segments.every((segment, index) => segment.startsWith('*') || segment === path[index])
}
