import { superviseShell } from '../../agents/supervise/shell.ts'
import type { CheckResult, Progress } from '../../contract/progress.ts'
import type { Check } from '../../contract/check.ts'
import { git } from '../../platform/git.ts'
import { redactShell } from '../../runtime/redact-ports.ts'
import { createProjectRedactor } from '../../storage/accounts/secrets.ts'
import { describeExit } from '../../words/event-sentences.ts'
import type { Io } from '../io/io.ts'
import { createPaint } from '../io/paint.ts'
import { removedWorktreeBranch, resolveSprintWorkspace } from '../sprint/changes.ts'
import type { RunView } from '../view/view.ts'

type FinishedSprint = { readonly sprintDir: string; readonly name: string; readonly progress: Progress }

/** Runs the checks of a finished sprint on the files as they are now, and shows each result. Changes no state. */
export async function recheckSprint(
  { sprintDir, progress }: FinishedSprint,
  view: RunView,
  io: Io,
): Promise<CheckResult[]> {
  const { project: cwd } = resolveSprintWorkspace(sprintDir, progress, io)
  const shell = redactShell(superviseShell({ sprintDir, cwd, env: io.env }), createProjectRedactor(cwd, io.env))
  const iteration = progress.stats.currentIteration
  const results: CheckResult[] = []
  for (const check of progress.doneWhen ?? []) {
    const name = check.name ?? check.run
    view.show({ type: 'check-started', iteration, name })
    const attempt = `recheck-${results.length + 1}`
    const ended = await shell.run(
      { attempt, command: check.run, timeoutMs: check.timeout },
      new AbortController().signal,
    )
    const result = toResult(check, ended)
    view.show({ type: 'check-ended', iteration, result })
    results.push(result)
  }
  return results
}

function toResult(
  check: Check,
  { exitCode, error, durationMs, output }: Awaited<ReturnType<ReturnType<typeof superviseShell>['run']>>,
): CheckResult {
  const passed = exitCode === 0 && error === undefined
  return {
    name: check.name ?? check.run,
    passed,
    exitCode,
    durationMs,
    output,
    ...(error !== undefined && { reason: error }),
  }
}

/**
 * The branch of a finished sprint whose files are gone and whose work is not in the project: its checks cannot run. Undefined also if
 * the user has deleted the branch, as after a merge: the checks then run in the project.
 */
export async function findUnmergedBranch({ sprintDir, progress }: FinishedSprint, io: Io): Promise<string | undefined> {
  const branch = removedWorktreeBranch(progress)
  if (branch === undefined) return undefined
  const { project: cwd } = resolveSprintWorkspace(sprintDir, progress, io)
  const isUnmerged = async () =>
    (await git({ cwd }, 'for-each-ref', '--no-merged=HEAD', '--format=%(refname)', `refs/heads/${branch}`)) !== ''
  return (await isUnmerged().catch(() => false)) ? branch : undefined
}

/** What a user must know about a finished sprint whose work is on a branch. */
export function unmergedLines({ progress }: FinishedSprint, branch: string, io: Io): string[] {
  const { green, bold } = createPaint(io.useColor)
  return [
    '',
    `${green('✓')} ${bold('goal reached')}${doubtText(progress)}: in iteration ${reachedIn(progress)}; the work is on branch ${branch}`,
    `bring it here with: git merge ${branch}`,
  ]
}

const reachedIn = ({ ralphExit, stats }: Progress): number => ralphExit.iteration ?? stats.currentIteration

const doubtText = ({ ralphExit }: Progress): string =>
  ralphExit.unchecked === true ? ', unchecked' : ralphExit.unproven === true ? ', unproven' : ''

/** What a user must know about a finished sprint: whether its checks still pass, and how to continue. */
export function recheckLines({ name, progress }: FinishedSprint, results: readonly CheckResult[], io: Io): string[] {
  const { green, red, bold } = createPaint(io.useColor)
  const failed = results.filter(({ passed }) => !passed)
  const at = `the goal was reached in iteration ${reachedIn(progress)}`
  const now =
    failed.length === 0
      ? `${green('✓')} ${bold('goal reached')}${doubtText(progress)}: ${results.length === 0 ? `${at}; there is no check to run again` : `${at}, and its checks still pass`}`
      : `${red('✗')} ${bold('no longer true')}: ${at}, but ${failed.map(({ name: check, reason, exitCode }) => `${check} fails now (${describeExit({ error: reason, exitCode })})`).join(', ')}`
  return ['', now, `continue with: ralph follow-up ${name} "what to do next"`]
}
