import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { git, type GitAuthor } from '../../platform/git.ts'
import { assertCommittable, commitWork, type CommitTarget, type CommittedWork } from '../../storage/git/commit-work.ts'
import { countChangedLines, listLaterEdits, readSprintWork, type SprintWork } from '../../storage/git/sprint-work.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { pluralize } from '../../words/counts.ts'
import { describePullRequest } from '../../words/pull-request.ts'
import { statusWords } from '../../words/status.ts'
import { describeCommit } from '../report/commit-message.ts'
import { askYesOrNo } from '../io/confirm.ts'
import { defineCommand } from '../io/command.ts'
import { displayPath } from '../io/display-path.ts'
import type { Io } from '../io/io.ts'
import { resolveSprintWorkspace } from '../sprint/changes.ts'
import { findSprint, type FoundSprint } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

type ChangedLines = { readonly path: string; readonly added: number; readonly removed: number }
/** The work in one repository, as shown to the user. `edited`: paths that changed after the last checkpoint. */
type ShownWork = {
  readonly work: SprintWork
  readonly files: readonly ChangedLines[]
  readonly edited: readonly string[]
}

export const finish = defineCommand({
  name: 'finish',
  summary: 'Turn the work of a sprint into a commit, a branch or the text of a pull request',
  arguments: ['[sprint]'],
  options: {
    commit: { type: 'boolean', description: 'commit the work on the current branch' },
    branch: { type: 'string', value: 'NAME', description: 'commit the work on a new branch, without switching to it' },
    'pr-body': {
      type: 'boolean',
      description: 'print the text of a pull request with the evidence, and commit nothing',
    },
    message: {
      type: 'string',
      short: 'm',
      value: 'TEXT',
      description: 'commit message; default: the goal and the evidence',
    },
    json: { type: 'boolean', description: 'print {sprint, status, message, repositories} as JSON' },
  },
  details: `Without an option, lists what a commit would contain, and asks on a terminal.
The commit contains what the sprint changed, and nothing else: not the sprint folder, not the changes that you had not committed
before the sprint, and not what you changed after it. Your files stay as they are.
Ralph runs no git hook, filter or signing program here, because the agent may have changed their configuration.`,
  examples: [
    'ralph finish',
    'ralph finish auth --branch auth && git push origin auth',
    'gh pr create --title "Sign-in" --body "$(ralph finish auth --pr-body)"',
  ],
  async run({ values, positionals: [sprintArgument] }, io) {
    const isJson = values.json === true
    const target = parseTarget(values)
    const sprint = await findSprint(sprintArgument, io)
    const progress = await requireProgress(sprint.sprintDir, io)
    refuseRunning(sprint)
    const shown = await readShownWork(sprint.sprintDir, progress, io)
    if (target === 'pr-body') {
      const body = describePullRequest(
        progress,
        shown.flatMap(({ files }) => files),
      )
      io.print(isJson ? JSON.stringify({ sprint: sprint.name, status: progress.status, body }) : body.trimEnd())
      return 0
    }
    const message = values.message ?? describeCommit(progress)
    if (!isJson) for (const line of planLines(progress, shown, message, io)) io.print(line)
    const todo = shown.filter(({ work }) => work.changes.length > 0)
    const chosen = target ?? (isJson || todo.length === 0 ? undefined : await askTarget(todo, io))
    const committed = chosen === undefined ? [] : await commitAll(todo, { sprint, message, target: chosen }, io)
    if (isJson) io.print(JSON.stringify(describeJson(sprint, progress, { message, shown, committed })))
    else for (const line of endLines({ sprint, target: chosen, todo, committed }, io)) io.print(line)
    return 0
  },
})

type Values = {
  readonly commit?: boolean
  readonly branch?: string
  readonly 'pr-body'?: boolean
  readonly message?: string
}

function parseTarget(values: Values): CommitTarget | 'pr-body' | undefined {
  const targets = [values.commit, values.branch, values['pr-body']].filter((value) => value !== undefined)
  if (targets.length > 1) throw new RalphError('USAGE', 'finish: give one of --commit, --branch and --pr-body')
  if (values.message !== undefined && values.message.trim() === '')
    throw new RalphError('USAGE', 'finish: --message is empty')
  if (values['pr-body'] === true) return 'pr-body'
  if (values.branch !== undefined) return { kind: 'branch', name: values.branch }
  return values.commit === true ? { kind: 'head' } : undefined
}

function refuseRunning({ sprintDir, name }: FoundSprint): void {
  const owner = readSprintOwner(sprintDir)
  if (owner === undefined) return
  throw new RalphError('SPRINT_LOCKED', `the sprint is running (${owner})`, {
    place: { file: name },
    hint: `pause it first: ralph pause ${name}`,
  })
}

async function readShownWork(sprintDir: string, progress: Progress, io: Io): Promise<ShownWork[]> {
  const works = await readSprintWork(resolveSprintWorkspace(sprintDir, progress, io))
  return Promise.all(
    works.map(async (work) => ({
      work,
      files: await countChangedLines(work),
      edited: await listLaterEdits(work),
    })),
  )
}

const maxShownFiles = 40

function planLines(progress: Progress, shown: readonly ShownWork[], message: string, io: Io): string[] {
  const { status } = progress
  const indented = message
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`.trimEnd())
  return [
    ...(status === 'completed' ? [] : [`! the goal is not reached: ${statusWords[status].ending}`]),
    ...shown.flatMap((one) => workLines(one, io)),
    ...(shown.some(({ work }) => work.changes.length > 0) ? ['commit message:', '', ...indented, ''] : []),
  ]
}

function workLines({ work, files, edited }: ShownWork, io: Io): string[] {
  const { repository, branch, mixed, untouched, conflicts } = work
  const where = `${branch ?? 'a detached HEAD'} in ${displayPath(repository.root, io)}`
  if (work.changes.length === 0) return [`nothing to commit on ${where}: it contains all changes of the sprint`]
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  return [
    `${pluralize(files.length, 'file')} (+${added} −${removed}) for ${where}`,
    ...files.slice(0, maxShownFiles).map((file) => `  ${file.path} (+${file.added} −${file.removed})`),
    ...(files.length > maxShownFiles ? [`  and ${files.length - maxShownFiles} more`] : []),
    ...noteLine('you had changed these before the sprint; the commit contains both changes', mixed),
    ...noteLine('not in the commit, because you had changed it before the sprint', untouched),
    ...noteLine('not in the commit, because it changed after the last iteration', edited),
    ...noteLine('a later commit also changed these, so only --branch works', conflicts),
  ]
}

const noteLine = (text: string, names: readonly string[]): string[] =>
  names.length === 0
    ? []
    : [`! ${text}: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`]

async function askTarget(todo: readonly ShownWork[], io: Io): Promise<CommitTarget | undefined> {
  const where = todo.map(({ work }) => work.branch ?? 'a detached HEAD').join(', ')
  return (await askYesOrNo(`Commit this on ${where}?`, io)) === 'yes' ? { kind: 'head' } : undefined
}

type CommitPlan = { readonly sprint: FoundSprint; readonly message: string; readonly target: CommitTarget }

/** In all repositories or in none, as far as Ralph can know before it writes. */
async function commitAll(todo: readonly ShownWork[], plan: CommitPlan, io: Io): Promise<CommittedWork[]> {
  const { sprint, message, target } = plan
  for (const { work } of todo) await assertCommittable(work, target)
  const committed: CommittedWork[] = []
  for (const { work } of todo) {
    const author = await readAuthor(work, io)
    committed.push(await commitWork(work, { sprintDir: sprint.sprintDir, message, author, target }))
  }
  return committed
}

/** The user's identity, as git reads it. */
async function readAuthor({ repository: { root } }: SprintWork, io: Io): Promise<GitAuthor> {
  const read = (name: string) => git({ cwd: root }, 'config', '--get', name).catch(() => '')
  const name = io.env['GIT_AUTHOR_NAME'] ?? (await read('user.name'))
  const email = io.env['GIT_AUTHOR_EMAIL'] ?? io.env['EMAIL'] ?? (await read('user.email'))
  if (name !== '' && email !== '') return { name, email }
  throw new RalphError('GIT_FAILED', 'git does not know who you are', {
    hint: 'git config --global user.name "…"; git config --global user.email "…"',
  })
}

type Finished = {
  readonly sprint: FoundSprint
  readonly target: CommitTarget | undefined
  readonly todo: readonly ShownWork[]
  readonly committed: readonly CommittedWork[]
}

function endLines({ sprint, target, todo, committed }: Finished, io: Io): string[] {
  if (todo.length === 0) return []
  if (target === undefined)
    return [`nothing was committed; commit with: ralph finish ${sprint.name} --commit, or --branch NAME`]
  const lines = committed.flatMap(({ commit, staged }, number) => [
    `committed ${commit.slice(0, 10)} on ${target.kind === 'branch' ? target.name : (todo[number]?.work.branch ?? 'a detached HEAD')} in ${displayPath(todo[number]?.work.repository.root ?? '', io)}`,
    ...noteLine('your staged version stays in the index', staged),
  ])
  const next = target.kind === 'branch' ? [`push it with: git push origin ${target.name}`] : []
  return [...lines, 'no git hook ran, and the commit is not signed', ...next]
}

function describeJson(
  sprint: FoundSprint,
  { status }: Progress,
  { message, shown, committed }: { message: string; shown: readonly ShownWork[]; committed: readonly CommittedWork[] },
) {
  const done = [...committed]
  const repositories = shown.map(({ work, files, edited }) => {
    const result = work.changes.length > 0 ? done.shift() : undefined
    const { repository, branch = null, head, mixed, untouched, conflicts } = work
    const commit = result?.commit ?? null
    return { root: repository.root, branch, head, files, mixed, untouched, edited, conflicts, commit }
  })
  return { sprint: sprint.name, status, message, repositories }
}
