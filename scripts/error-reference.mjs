// The meaning of each error code and what to do about it, for docs/reference/errors.md. The codes come from src/contract/errors.ts.
import { errorCodes } from '../dist/contract/errors.js'

const groups = [
  {
    title: 'On the command line',
    codes: {
      USAGE: [
        'A command, an option or its value is not understood.',
        'The hint guesses what was meant; `ralph <command> --help` shows all.',
      ],
      SPRINT_NOT_FOUND: [
        'The folder that was given does not exist.',
        'Give the folder that contains SPRINT.yaml; `ralph status` lists all.',
      ],
      SPRINT_EXISTS: [
        'A file or folder of that name exists and would be overwritten.',
        'Take another name, or delete it yourself.',
      ],
      FILE_NOT_FOUND: ['A file that was named does not exist.', 'Look at the path; it is taken from where you are.'],
      FILE_UNREADABLE: ['A file is there but cannot be read.', 'Look at its permissions.'],
      FILE_UNWRITABLE: [
        'A file cannot be written: permissions, a read-only disk, a folder in its place.',
        'The message names the path and the reason.',
      ],
      DISK_FULL: [
        'There is no room on the disk.',
        'Free some space and run the same command again; nothing that was acknowledged is lost.',
      ],
      INTERNAL: ['A bug in Ralph.', '`RALPH_DEBUG=1` shows where; please report it.'],
    },
  },
  {
    title: 'At run time',
    codes: {
      AGENT_UNKNOWN: [
        'There is no agent program of that name in Ralph.',
        '`ralph agents` lists them; any program is `command:…`, any that speaks ACP `acp:…`.',
      ],
      AGENT_NOT_FOUND: [
        'The agent program is not on PATH.',
        'Install it, or take another with `--agent`; `ralph doctor` looks.',
      ],
      SANDBOX_UNAVAILABLE: [
        '`sandbox: required`, and this machine has none.',
        'Install bubblewrap, or run in a container and say `sandbox: off`.',
      ],
      GIT_UNAVAILABLE: ['Git cannot be started.', 'Install it, or put it on PATH.'],
      CHECK_NOT_STARTED: [
        'A check cannot start: its program is not there, or cannot be executed. No agent has run.',
        'Install what the check needs, or correct `done-when`.',
      ],
      ROOM_FAILED: [
        'The clean room for a check could not be made; the check has not run.',
        'The message has the reason; `room: off` runs the check in place, and the result says so.',
      ],
      BASELINE_DAMAGED: [
        'What was recorded at the start of the sprint was changed since: a stored test has another content.',
        'A program wrote into Ralph’s own folder. Start the sprint again, with a sandbox.',
      ],
      SECRETS_KEY_WRONG: [
        'The key for secrets in the database is missing, too short, or another one.',
        'Set RALPH_SECRETS_KEY or RALPH_SECRETS_KEY_FILE to the key that the backend had before.',
      ],
      NETWORK_RULE_INVALID: [
        'A host in the allow-list of the network is none.',
        'Write a name, `name:port` or `*.name`, without a scheme and a path.',
      ],
      SPRINT_LOCKED: [
        'Another process runs this sprint.',
        '`ralph watch` shows it, `ralph stop` ends it. A lock of a dead process is replaced by itself.',
      ],
      WORK_TREE_BUSY: [
        'Another sprint works on the same files.',
        'Wait for it, stop it with `ralph stop`, or start the new one with `--worktree`.',
      ],
      NO_QUESTION: ['The sprint has no open question.', '`ralph tell` sends the agent a message without one.'],
      NOT_RUNNING: [
        'No run is active that could be paused, stopped or messaged.',
        '`ralph status` says how the sprint stands.',
      ],
      ALREADY_RUNNING: ['The request is still running.', 'Wait for it, or stop it first.'],
      PROGRESS_NOT_FOUND: ['The sprint has never been compiled or run.', '`ralph compile` or `ralph run`.'],
      PROGRESS_INVALID: [
        'PROGRESS.yaml is not what Ralph wrote, or of another version.',
        '`ralph doctor <sprint>` says what is wrong and repairs what is safe.',
      ],
      JOURNAL_DAMAGED: [
        'Records in the middle of the journal are damaged.',
        '`ralph doctor <sprint>` shows them; `--repair` sets them aside.',
      ],
      CHECKPOINT_NOT_FOUND: [
        'There is no checkpoint for that iteration.',
        'Iterations that changed nothing have none; see `ralph status`.',
      ],
      CHECKPOINT_FAILED: [
        'The current files could not be saved, so Ralph restored nothing.',
        'Free some space on the disk or repair the repository (`git fsck`), then try again.',
      ],
      WORKTREE_UNAVAILABLE: [
        'The git worktree cannot be made or found.',
        'The message is that of git: a branch in use, a folder in the way, no repository.',
      ],
      TOKEN_INVALID: [
        'A report came with a token that is not that of a living attempt.',
        'Nothing to do: an agent spoke after its end.',
      ],
      INVALID_SCENARIO: [
        'The scenario of the scripted agent has a mistake.',
        'The place is in the message; see [install](../start/install.md#see-it-work).',
      ],
      FACT_ILLEGAL: [
        'Something was reported that cannot have happened in this state.',
        'It was refused and nothing changed; a bug if you did not cause it.',
      ],
    },
  },
  {
    title: 'SPRINT.yaml',
    codes: {
      SPRINT_LOAD_ERROR: ['There is no SPRINT.yaml in the folder.', '`ralph init` makes one.'],
      YAML_PARSE_ERROR: [
        'The file is no YAML.',
        'The place is where the parser gave up: often a missing quote or a wrong indentation above it.',
      ],
      INVALID_SPRINT: ['SPRINT.yaml is not a map of fields.', 'Begin with `workflow: ralph` and `goal:`.'],
      MISSING_WORKFLOW: ['`workflow` is missing.', 'Write `workflow: ralph` for the bundled one.'],
      MAIN_WORKFLOW_NOT_FOUND: [
        'There is no workflow of that name.',
        'Look at the spelling and at `.claude/workflows`.',
      ],
      RALPH_MISSING_GOAL: ['Ralph mode without a goal.', 'Write `goal:`, with the criteria for success.'],
      INVALID_SPRINT_ID: ['`sprint-id` cannot be the name of a folder.', 'Letters, digits, `.`, `_` and `-`.'],
      MISSING_SPRINT_ID: ['`sprint-id` is empty.', 'Leave it out, or fill it in.'],
      INVALID_FIELD: [
        'A field has a value that it cannot have.',
        'The message says what it takes; the [reference](sprint-yaml.md) too.',
      ],
      UNKNOWN_FIELD: ['There is no such field.', 'The hint guesses what was meant.'],
      NOT_SUPPORTED: ['What is written is understood, but cannot be done here.', 'The message says why.'],
      INVALID_MODEL: [
        '`model` is no name of a model, or not one of that agent program.',
        '`ralph agents` lists those that are known.',
      ],
      DEPRECATED_FIELD: ['A field still works, but something else does its work now.', 'Remove it, as the hint says.'],
      UNRESOLVED_VARIABLES: [
        'A `{{…}}` in a prompt stands for nothing.',
        'Look at its spelling; `item`, `phase` and `sprint` have fields.',
      ],
      RECOMMENDED_PROMPT: [
        'A workflow in ralph mode without `goal-prompt` or `reflection-prompt`.',
        'Only a warning: it works without.',
      ],
      TOO_MANY_PROBLEMS: ['There are more mistakes than are worth listing.', 'Fix the first ones, then run it again.'],
    },
  },
  {
    title: 'Hooks',
    codes: {
      INVALID_HOOKS: [
        '`per-iteration-hooks` is neither a list nor a map.',
        'See [hooks](../guides/sprint-yaml.md#hooks).',
      ],
      INVALID_HOOK: ['A hook is not a map of fields.', 'Give it `id` and one of `run`, `prompt`, `workflow`.'],
      RALPH_INVALID_HOOK: ['A hook has nothing to do.', 'Give it one of `run`, `prompt`, `workflow`.'],
      RALPH_INVALID_HOOK_OVERRIDE: [
        'What SPRINT.yaml says about a hook is not a map, or there is no such hook.',
        'Look at the ids in the workflow.',
      ],
      HOOK_AMBIGUOUS_ACTION: ['A hook has more than one of `run`, `prompt`, `workflow`.', 'Make two hooks of it.'],
      MISSING_HOOK_ID: ['A hook has no `id`.', 'Give it one.'],
      DUPLICATE_HOOK_ID: ['Two hooks have the same `id`.', 'Rename one.'],
      INVALID_HOOK_PARALLEL: ['`parallel` is neither true nor false.', 'Write one of them.'],
      INVALID_HOOK_ENABLED: ['`enabled` is neither true nor false.', 'Write one of them.'],
    },
  },
  {
    title: 'The fleet',
    codes: {
      UNAUTHENTICATED: ['There is no session, or it is over.', 'Log in again; for programs, make a new token.'],
      FORBIDDEN: ['Your role does not allow it.', 'Ask a user with that role, or request the role.'],
      NOT_FOUND: ['It does not exist, or you may not see it.', 'Look at the address and at your roles.'],
      ORIGIN_REFUSED: ['A page of another site asked.', 'Open the page at its own address.'],
      HOST_REFUSED: [
        'The backend was asked under a name that is not its own.',
        'Name it in its settings, or use the address that it printed.',
      ],
      INVALID_REQUEST: [
        'A request has fields that it cannot have.',
        'The message names them; see the API description.',
      ],
      NOT_JSON: ['The body is not JSON.', 'Send `content-type: application/json`.'],
      BODY_TOO_LARGE: ['The body is too long.', 'Send less at once.'],
      RATE_LIMITED: ['Too many requests.', 'Wait as long as `retry-after` says.'],
      CALL_INTERRUPTED: [
        'A call with this idempotency key died with its backend; it is unknown whether it took effect.',
        'Look whether it was done; if not, call again with another key.',
      ],
      AGENT_BUSY: ['The agent is running a prompt.', 'Queue the prompt, or interrupt the agent.'],
      REVISION_STALE: ['Another user has changed it since.', 'Reload it and repeat the change.'],
      MACHINE_UNREACHABLE: [
        'The machine does not answer.',
        'Look whether its agents-server runs; what was asked for waits for it.',
      ],
      MACHINE_REFUSED: ['The machine did not accept what was asked of it.', 'The message has its reason.'],
      NO_MACHINE: ['No machine can take the work.', 'Join one, or free one.'],
      JOIN_REFUSED: ['The join token is wrong, used or too old.', 'Make a new one.'],
      JOIN_PENDING: ['A user has to admit the machine.', 'A user with the role does that on the page.'],
      WORKSPACE_REFUSED: ['The machine does not allow work in that folder.', 'Allow it on the machine.'],
      WORKSPACE_NOT_FOUND: ['There is no such folder on the machine.', 'Look at its path there.'],
      DATABASE_UNAVAILABLE: ['The database does not answer.', 'Look at it; the backend tries again by itself.'],
      DATABASE_NEWER: ['The database was made by a newer version.', 'Use that version.'],
      DATABASE_IN_USE: [
        'A backup is only restored into an empty database.',
        'Create one, or take another `--data` folder.',
      ],
      BACKUP_DAMAGED: [
        'The backup is cut off, changed or no backup.',
        'Take another one; `ralph backup check` tests it.',
      ],
      DATA_FOLDER_IN_USE: ['Another backend uses this data folder.', 'Stop it, or take another folder.'],
      CERTIFICATE_INVALID: [
        'A certificate is not trusted, has expired, is for another name or cannot be read; the message says which and why.',
        'Name your own authority with `--ca FILE` or `RALPH_CA`; renew the certificate; set the clock.',
      ],
      IDENTITY_PROVIDER_UNUSABLE: [
        'The identity provider of `RALPH_OIDC_ISSUER` does not answer as one.',
        'Check its address, and its certificate (`--ca`).',
      ],
      PORT_TAKEN: ['Something else listens on that port.', 'Take another with `--port`.'],
      EXPOSED: [
        'It would be reachable from outside without what protects it.',
        'Bind it to loopback, or add what the message names: TLS, sign-in.',
      ],
    },
  },
]

/** The rest by prefix: the name says what is wrong, and the message has the place. */
const families = [
  [
    'Workflows and phases',
    /^(WORKFLOW_NOT|WORKFLOW_PARSE|INVALID_WORKFLOW(_NAME|_MODE)?$|MISSING_WORKFLOW_NAME|EMPTY_WORKFLOW|PHASE|MISSING_PHASE|DUPLICATE_PHASE|INVALID_PHASE|CYCLE|MAX_DEPTH|EXPANSION|PROMPT_WORKFLOW|INVALID_PARALLEL|INVALID_WAIT|PARALLEL_FOREACH|INVALID_BREAK|ITEM_WORKFLOW)/,
    'Look at the named place of the workflow; [standard mode](../guides/phases.md) and the [reference](workflow.md) list what is allowed.',
  ],
  [
    'Collections, items and dependencies',
    /(COLLECTION|FOREACH|ITEM|DEPEND|^INVALID_ID$)/,
    'Look at `collections` and `steps` in SPRINT.yaml; [standard mode](../guides/phases.md) says how items are named and wait for each other.',
  ],
  ['Gates', /GATE/, 'A gate needs `script` and `on-fail` with `prompt`; see [standard mode](../guides/phases.md).'],
  [
    'Worktrees',
    /WORKTREE/,
    '`worktree` needs `enabled: true`; `branch`, `path` and `cleanup` (`never`, `on-complete`, `on-merge`) may be left out.',
  ],
  ['Others', /./, 'The message and its hint say what to do.'],
]

export function errorPage() {
  const listed = new Set(groups.flatMap(({ codes }) => Object.keys(codes)))
  const left = new Set(Object.keys(errorCodes).filter((code) => !listed.has(code)))
  return [
    '# Errors',
    '',
    '<!-- Written by scripts/reference-docs.mjs from src/contract/errors.ts; npm run generate -->',
    '',
    'An error is one line: the place (`file:line:column`), the code, what is wrong, and in brackets what to do. Programs get the same as JSON with',
    '`--json`, and branch on `code`. The exit code is 1 unless the table says otherwise. What can be tried again as it is has a ↻.',
    '[Troubleshooting](../guides/troubleshooting.md) starts from the symptom.',
    '',
    ...groups.flatMap(({ title, codes }) => [
      `## ${title}`,
      '',
      '| code | cause | what to do |',
      '| --- | --- | --- |',
      ...Object.entries(codes)
        .filter(([code]) => code in errorCodes)
        .map(([code, [cause, fix]]) => `| ${shown(code)} | ${cause} | ${fix} |`),
      '',
    ]),
    ...families.flatMap(([title, pattern, fix]) => {
      const codes = [...left].filter((code) => pattern.test(code))
      for (const code of codes) left.delete(code)
      if (codes.length === 0) return []
      const rows = codes.map((code) => `| ${shown(code)} | ${words(code)} |`)
      return [`## ${title}`, '', fix, '', '| code | what is wrong |', '| --- | --- |', ...rows, '']
    }),
  ].join('\n')
}

function shown(code) {
  const { exit, retry } = errorCodes[code]
  return `\`${code}\`${retry ? ' ↻' : ''}${exit === 1 ? '' : ` exit ${exit}`}`
}

/** INVALID_FOREACH -> "invalid: for-each". */
function words(code) {
  const text = code.toLowerCase().replaceAll('_', ' ').replace('foreach', 'for-each').replaceAll('on fail', 'on-fail')
  const moved = /^(gate |workflow worktree |worktree |)(invalid|missing|empty|duplicate) (.+)$/.exec(text)
  if (!moved) return `${text[0].toUpperCase()}${text.slice(1)}`
  const how = {
    invalid: 'has a value that it cannot have',
    missing: 'is missing',
    empty: 'is empty',
    duplicate: 'is there twice',
  }
  const what = `${moved[1]}${moved[3]}`
  return `${what[0].toUpperCase()}${what.slice(1)} ${how[moved[2]]}`
}
