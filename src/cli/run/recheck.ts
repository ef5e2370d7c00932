import { superviseShell } from '../../agents/supervise/shell.ts'
import type { CheckResult, Progress } from '../../contract/progress.ts'
import type { Check } from '../../contract/check.ts'
import { redactShell } from '../../runtime/redact-ports.ts'
import { createProjectRedactor } from '../../storage/accounts/secrets.ts'
import { describeExit } from '../../words/event-sentences.ts'
import type { Io } from '../io/io.ts'
import { createPaint } from '../io/paint.ts'
import { resolveSprintWorkspace } from '../sprint/changes.ts'
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

/** What a user must know about a finished sprint: whether its checks still pass, and how to continue. */
export function recheckLines({ name, progress }: FinishedSprint, results: readonly CheckResult[], io: Io): string[] {
  const { green, red, bold } = createPaint(io.useColor)
  const failed = results.filter(({ passed }) => !passed)
  const at = `the goal was reached in iteration ${progress.ralphExit.iteration ?? progress.stats.currentIteration}`
  const now =
    failed.length === 0
      ? `${green('✓')} ${bold('goal reached')}: ${results.length === 0 ? `${at}; there is no check to run again` : `${at}, and its checks still pass`}`
      : `${red('✗')} ${bold('no longer true')}: ${at}, but ${failed.map(({ name: check, reason, exitCode }) => `${check} fails now (${describeExit({ error: reason, exitCode })})`).join(', ')}`
  return ['', now, `continue with: ralph follow-up ${name} "what to do next"`]
}
