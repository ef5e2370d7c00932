/** How each layer reacts to a failure: the HTTP status, the exit code, and whether a retry can help. */
type ErrorCodeRow = { readonly status: number; readonly exit: 0 | 1 | 2 | 3 | 130; readonly retry: boolean }

const badInput: ErrorCodeRow = { status: 422, exit: 1, retry: false }
const notFound: ErrorCodeRow = { status: 404, exit: 1, retry: false }

/** Every failure that a user or a program can meet. Codes of the seed systems keep their names. */
export const errorCodes = {
  USAGE: { status: 400, exit: 1, retry: false },
  SPRINT_NOT_FOUND: notFound,
  SPRINT_LOAD_ERROR: badInput,
  INVALID_SPRINT: badInput,
  MISSING_WORKFLOW: badInput,
  MAIN_WORKFLOW_NOT_FOUND: badInput,
  WORKFLOW_PARSE_ERROR: badInput,
  INVALID_WORKFLOW: badInput,
  INVALID_WORKFLOW_NAME: badInput,
  MISSING_WORKFLOW_NAME: badInput,
  INVALID_WORKFLOW_MODE: badInput,
  INVALID_FIELD: badInput,
  UNKNOWN_FIELD: badInput,
  NOT_SUPPORTED: badInput,
  RALPH_MISSING_GOAL: badInput,
  RALPH_INVALID_HOOK: badInput,
  RALPH_INVALID_HOOK_OVERRIDE: badInput,
  HOOK_AMBIGUOUS_ACTION: badInput,
  MISSING_HOOK_ID: badInput,
  DUPLICATE_HOOK_ID: badInput,
  INVALID_HOOK: badInput,
  INVALID_HOOKS: badInput,
  INVALID_HOOK_PARALLEL: badInput,
  INVALID_HOOK_ENABLED: badInput,
  INVALID_MODEL: badInput,
  INVALID_SPRINT_ID: badInput,
  MISSING_SPRINT_ID: badInput,
  MISSING_PHASES: badInput,
  EMPTY_WORKFLOW: badInput,
  WORKFLOW_NOT_FOUND: badInput,
  PHASE_WORKFLOW_NOT_FOUND: badInput,
  ITEM_WORKFLOW_NOT_FOUND: badInput,
  CYCLE_DETECTED: badInput,
  MAX_DEPTH_EXCEEDED: badInput,
  EXPANSION_TOO_LARGE: badInput,
  INVALID_PHASE: badInput,
  MISSING_PHASE_ID: badInput,
  DUPLICATE_PHASE_ID: badInput,
  PHASE_MISSING_ACTION: badInput,
  PROMPT_WORKFLOW_MUTUAL_EXCLUSIVE: badInput,
  INVALID_FOREACH: badInput,
  EMPTY_FOREACH: badInput,
  INVALID_COLLECTION_REF: badInput,
  EMPTY_COLLECTION_REF: badInput,
  INVALID_PARALLEL: badInput,
  INVALID_WAIT_FOR_PARALLEL: badInput,
  PARALLEL_FOREACH_WARNING: badInput,
  INVALID_BREAK: badInput,
  MISSING_COLLECTIONS: badInput,
  EMPTY_COLLECTIONS: badInput,
  INVALID_COLLECTIONS: badInput,
  INVALID_COLLECTION: badInput,
  COLLECTION_NOT_FOUND: badInput,
  UNUSED_COLLECTION: badInput,
  INVALID_COLLECTION_ITEM: badInput,
  MISSING_ITEM_PROMPT: badInput,
  EMPTY_ITEM_PROMPT: badInput,
  INVALID_ITEM_WORKFLOW: badInput,
  DUPLICATE_ITEM_ID: badInput,
  INVALID_ID: badInput,
  INVALID_DEPENDS_ON: badInput,
  INVALID_DEPENDS_ON_ELEMENT: badInput,
  EMPTY_DEPENDS_ON_ELEMENT: badInput,
  DEPENDENCY_NOT_FOUND: badInput,
  DEPENDENCY_SELF_REFERENCE: badInput,
  DEPENDENCY_CIRCULAR: badInput,
  INVALID_GATE: badInput,
  GATE_MISSING_SCRIPT: badInput,
  GATE_EMPTY_SCRIPT: badInput,
  GATE_MISSING_ON_FAIL: badInput,
  GATE_MISSING_ON_FAIL_PROMPT: badInput,
  GATE_EMPTY_ON_FAIL_PROMPT: badInput,
  GATE_INVALID_MAX_RETRIES: badInput,
  GATE_INVALID_TIMEOUT: badInput,
  INVALID_WORKTREE_CONFIG: badInput,
  WORKTREE_MISSING_ENABLED: badInput,
  WORKTREE_INVALID_ENABLED: badInput,
  WORKTREE_INVALID_BRANCH: badInput,
  WORKTREE_EMPTY_BRANCH: badInput,
  WORKTREE_INVALID_BRANCH_NAME: badInput,
  WORKTREE_INVALID_PATH: badInput,
  WORKTREE_EMPTY_PATH: badInput,
  WORKTREE_INVALID_CLEANUP: badInput,
  WORKTREE_INVALID_CLEANUP_MODE: badInput,
  INVALID_WORKFLOW_WORKTREE: badInput,
  WORKFLOW_WORKTREE_MISSING_ENABLED: badInput,
  WORKFLOW_WORKTREE_INVALID_ENABLED: badInput,
  WORKFLOW_WORKTREE_INVALID_BRANCH_PREFIX: badInput,
  WORKFLOW_WORKTREE_INVALID_PATH_PREFIX: badInput,
  WORKFLOW_WORKTREE_INVALID_CLEANUP: badInput,
  WORKFLOW_WORKTREE_INVALID_CLEANUP_MODE: badInput,
  UNRESOLVED_VARIABLES: badInput,
  RECOMMENDED_PROMPT: badInput,
  DEPRECATED_FIELD: badInput,
  TOO_MANY_PROBLEMS: badInput,
  FILE_NOT_FOUND: notFound,
  YAML_PARSE_ERROR: badInput,
  PROGRESS_CHANGED: { status: 409, exit: 1, retry: true },
  PROGRESS_NOT_FOUND: notFound,
  PROGRESS_INVALID: { status: 409, exit: 1, retry: false },
  CHECKPOINT_NOT_FOUND: notFound,
  GIT_FAILED: { status: 409, exit: 1, retry: false },
  CHECKPOINT_FAILED: { status: 409, exit: 1, retry: true },
  WORKTREE_UNAVAILABLE: { status: 409, exit: 1, retry: false },
  SANDBOX_UNAVAILABLE: { status: 503, exit: 1, retry: false },
  SECRETS_KEY_WRONG: { status: 500, exit: 1, retry: false },
  NETWORK_RULE_INVALID: { status: 422, exit: 1, retry: false },
  NO_QUESTION: { status: 409, exit: 1, retry: false },
  NOT_RUNNING: { status: 409, exit: 1, retry: false },
  SPRINT_LOCKED: { status: 409, exit: 1, retry: true },
  WORK_TREE_BUSY: { status: 409, exit: 1, retry: true },
  WORK_RESTORED: { status: 409, exit: 1, retry: false },
  JOURNAL_DAMAGED: { status: 409, exit: 1, retry: false },
  SPRINT_MOVED: { status: 409, exit: 1, retry: false },
  PLAN_CHANGED: { status: 409, exit: 1, retry: false },
  STATE_UNWRITABLE: { status: 500, exit: 1, retry: true },
  GIT_UNAVAILABLE: { status: 503, exit: 1, retry: false },
  ROOM_FAILED: { status: 500, exit: 1, retry: true },
  CHECK_NOT_STARTED: { status: 422, exit: 1, retry: false },
  BASELINE_DAMAGED: { status: 409, exit: 1, retry: false },
  DISK_FULL: { status: 507, exit: 1, retry: true },
  SPRINT_EXISTS: { status: 409, exit: 1, retry: false },
  INVALID_SCENARIO: badInput,
  AGENT_UNKNOWN: badInput,
  AGENT_NOT_FOUND: { status: 503, exit: 1, retry: false },
  TOKEN_INVALID: { status: 401, exit: 1, retry: false },
  FACT_ILLEGAL: { status: 409, exit: 1, retry: false },
  FILE_UNREADABLE: { status: 500, exit: 1, retry: false },
  FILE_UNWRITABLE: { status: 500, exit: 1, retry: true },
  /** Deliberately the same for absent and forbidden. */
  NOT_FOUND: notFound,
  UNAUTHENTICATED: { status: 401, exit: 1, retry: false },
  TICKET_INVALID: { status: 401, exit: 1, retry: false },
  FORBIDDEN: { status: 403, exit: 1, retry: false },
  ORIGIN_REFUSED: { status: 403, exit: 1, retry: false },
  HOST_REFUSED: { status: 421, exit: 1, retry: false },
  INVALID_REQUEST: badInput,
  NOT_JSON: { status: 415, exit: 1, retry: false },
  BODY_TOO_LARGE: { status: 413, exit: 1, retry: false },
  RATE_LIMITED: { status: 429, exit: 1, retry: true },
  CALL_INTERRUPTED: { status: 409, exit: 1, retry: false },
  AGENT_BUSY: { status: 409, exit: 1, retry: true },
  ALREADY_RUNNING: { status: 409, exit: 1, retry: false },
  REVISION_STALE: { status: 412, exit: 1, retry: true },
  MACHINE_UNREACHABLE: { status: 503, exit: 1, retry: true },
  MACHINE_REFUSED: { status: 502, exit: 1, retry: false },
  MESSAGE_TOO_LONG: { status: 413, exit: 1, retry: false },
  MESSAGE_INVALID: badInput,
  VERSION_UNKNOWN: { status: 409, exit: 1, retry: false },
  JOIN_REFUSED: { status: 403, exit: 1, retry: false },
  JOIN_PENDING: { status: 409, exit: 2, retry: true },
  WORKSPACE_REFUSED: { status: 403, exit: 1, retry: false },
  WORKSPACE_NOT_FOUND: notFound,
  NO_MACHINE: { status: 409, exit: 1, retry: true },
  DATABASE_UNAVAILABLE: { status: 503, exit: 1, retry: true },
  DATABASE_DAMAGED: { status: 503, exit: 1, retry: false },
  DATABASE_NEWER: { status: 503, exit: 1, retry: false },
  DATABASE_IN_USE: { status: 409, exit: 1, retry: false },
  BACKUP_DAMAGED: { status: 422, exit: 1, retry: false },
  DATA_FOLDER_IN_USE: { status: 409, exit: 1, retry: true },
  BACKEND_UNREACHABLE: { status: 503, exit: 1, retry: true },
  CERTIFICATE_INVALID: { status: 502, exit: 1, retry: false },
  BACKEND_NOT_FOUND: { status: 503, exit: 1, retry: true },
  PORT_TAKEN: { status: 500, exit: 1, retry: true },
  IDENTITY_PROVIDER_UNUSABLE: { status: 503, exit: 1, retry: true },
  EXPOSED: { status: 500, exit: 1, retry: false },
  INTERNAL: { status: 500, exit: 1, retry: false },
} as const satisfies Record<string, ErrorCodeRow>

export type ErrorCode = keyof typeof errorCodes

/** A position in a file. Lines and columns start at 1. */
export type Place = { readonly file: string; readonly line?: number; readonly column?: number }

export type ErrorDetails = {
  readonly place?: Place
  /** What the user can do about it. */
  readonly hint?: string
  readonly cause?: unknown
}

/** The only error class thrown on purpose. Callers branch on `code`, never on `message`. */
export class RalphError extends Error {
  override readonly name = 'RalphError'
  readonly code: ErrorCode
  readonly place: Place | undefined
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, { place, hint, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.place = place
    this.hint = hint
  }
}

export const formatPlace = ({ file, line, column }: Place): string =>
  [file, line, column].filter((part) => part !== undefined).join(':')

/** The message of a thrown value of any type. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)

export const firstErrorLine = (error: unknown): string => errorMessage(error).split('\n')[0] ?? ''

export const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
