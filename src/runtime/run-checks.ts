import type { CheckResult, Progress } from '../contract/progress.ts'
import type { Check } from '../contract/settings.ts'
import { checkName } from '../loop/checks.ts'
import type { Fact } from '../loop/fact.ts'
import { definingFiles } from './defining-files.ts'
import type { Context, Doing } from './context.ts'
import { ranNoTests } from './vacuous.ts'

/** Runs the checks one after the other, outside the agent's process and reach. */
export async function runChecks(order: Doing<'run-checks'>, context: Context): Promise<Fact | undefined> {
  const { progress, ports, signal } = context
  const { iteration } = order
  const checks = (progress.doneWhen ?? []).filter((check) => order.names.includes(checkName(check)))
  const checkFiles = iteration === 0 ? await keepFiles(checks, context) : undefined
  const tampered = iteration === 0 ? [] : await changedFiles(checks, context)
  const results: CheckResult[] = []
  for (const check of checks) {
    ports.observe({ type: 'check-started', iteration, name: checkName(check) })
    const result = await runCheck(check, { iteration, number: results.length + 1 }, context)
    if (signal.aborted) return undefined
    ports.observe({ type: 'check-ended', iteration, result })
    results.push(result)
  }
  return { type: 'checks-ended', at: ports.clock.now(), iteration, results, checkFiles, tampered }
}

type Numbered = { readonly iteration: number; readonly number: number }

async function runCheck(
  check: Check,
  { iteration, number }: Numbered,
  { ports, signal }: Context,
): Promise<CheckResult> {
  const attempt = `${iteration}-check-${number}`
  const { exitCode, error, durationMs, output } = await ports.shell.run(
    { attempt, command: check.run, timeoutMs: check.timeout },
    signal,
  )
  const ended = exitCode === 0 && error === undefined
  const vacuous = ended && ranNoTests(output)
  const reason = vacuous ? 'it ran no test' : error
  return {
    name: checkName(check),
    passed: ended && !vacuous,
    exitCode,
    durationMs,
    output,
    ...(reason !== undefined && { reason }),
  }
}

/** Remembers the files that define the checks; those of `protect: true` are kept, to be put back. */
async function keepFiles(checks: readonly Check[], { ports }: Context): Promise<Progress['checkFiles']> {
  const names = [...new Set(checks.flatMap((check) => definingFiles(check.run, ports.projectFiles.isFile)))]
  return Promise.all(names.map(async (file) => ({ file, hash: await ports.projectFiles.keep(file) })))
}

/** Those that are no longer what they were at the start; what a check protects is put back. */
async function changedFiles(checks: readonly Check[], { progress, ports }: Context): Promise<string[]> {
  const changed: string[] = []
  for (const { file, hash } of progress.checkFiles ?? []) {
    if ((await ports.projectFiles.hash(file)) === hash) continue
    changed.push(file)
    const isProtected = checks.some((check) => check.protect && definesIt(check, file))
    if (isProtected) await ports.projectFiles.putBack(file)
  }
  return changed
}

const definesIt = (check: Check, file: string): boolean => definingFiles(check.run, (name) => name === file).length > 0
