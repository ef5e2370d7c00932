import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { CommitTarget, CommittedWork } from '../../storage/git/commit-work.ts'
import { commitFinishedWork, readFinishableWork, type FinishableWork } from '../../storage/git/finish-work.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { describeCommit } from '../../words/commit-message.ts'
import { pluralize } from '../../words/counts.ts'
import {
  describeBranch,
  describeFinishNotes,
  describeNewCommit,
  describeNothingToCommit,
  listSomeNames,
} from '../../words/finish-notes.ts'
import { describePullRequest } from '../../words/pull-request.ts'
import { statusWords } from '../../words/status.ts'
import { askYesOrNo } from '../io/confirm.ts'
import { defineCommand } from '../io/command.ts'
import { displayPath } from '../io/display-path.ts'
import type { Io } from '../io/io.ts'
import { requireSprintWorkspace } from '../sprint/changes.ts'
import { findSprint, type FoundSprint } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

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
    const shown = await readFinishableWork(requireSprintWorkspace(sprint.sprintDir, progress, io))
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
    const committed =
      chosen === undefined
        ? []
        : await commitFinishedWork(todo, { sprintDir: sprint.sprintDir, message, target: chosen, env: io.env })
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

const maxShownFiles = 40

function planLines(progress: Progress, shown: readonly FinishableWork[], message: string, io: Io): string[] {
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

function workLines({ work, files, edited }: FinishableWork, io: Io): string[] {
  const { repository, branch } = work
  const where = `${describeBranch(branch)} in ${displayPath(repository.root, io)}`
  if (work.changes.length === 0) return [describeNothingToCommit(where)]
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  return [
    `${pluralize(files.length, 'file')} (+${added} −${removed}) for ${where}`,
    ...files.slice(0, maxShownFiles).map((file) => `  ${file.path} (+${file.added} −${file.removed})`),
    ...(files.length > maxShownFiles ? [`  and ${files.length - maxShownFiles} more`] : []),
    ...describeFinishNotes({ ...work, edited }).map(({ text, names }) => `! ${text}: ${listSomeNames(names)}`),
  ]
}

async function askTarget(todo: readonly FinishableWork[], io: Io): Promise<CommitTarget | undefined> {
  const where = todo.map(({ work }) => describeBranch(work.branch)).join(', ')
  return (await askYesOrNo(`Commit this on ${where}?`, io)) === 'yes' ? { kind: 'head' } : undefined
}

type FinishResult = {
  readonly sprint: FoundSprint
  readonly target: CommitTarget | undefined
  readonly todo: readonly FinishableWork[]
  readonly committed: readonly CommittedWork[]
}

function endLines({ sprint, target, todo, committed }: FinishResult, io: Io): string[] {
  if (todo.length === 0) return []
  if (target === undefined)
    return [`nothing was committed; commit with: ralph finish ${sprint.name} --commit, or --branch NAME`]
  const lines = committed.flatMap(({ commit, staged }, number) => [
    `${describeNewCommit(commit, target.kind === 'branch' ? target.name : todo[number]?.work.branch)} in ${displayPath(todo[number]?.work.repository.root ?? '', io)}`,
    ...(staged.length > 0 ? [`! your staged version stays in the index: ${listSomeNames(staged)}`] : []),
  ])
  const next = target.kind === 'branch' ? [`push it with: git push origin ${target.name}`] : []
  return [...lines, 'no git hook ran, and the commit is not signed', ...next]
}

function describeJson(
  sprint: FoundSprint,
  { status }: Progress,
  {
    message,
    shown,
    committed,
  }: { message: string; shown: readonly FinishableWork[]; committed: readonly CommittedWork[] },
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
