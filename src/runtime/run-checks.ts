import type { CheckResult, Progress } from '../contract/progress.ts'
import type { Check } from '../contract/settings.ts'
import { checkName } from '../loop/checks.ts'
import type { Fact } from '../loop/fact.ts'
import { definingFiles } from './defining-files.ts'
import type { Context, Doing } from './context.ts'
import { messageOf } from './outcomes.ts'
import type { Ports } from './ports.ts'
import { ranNoTests } from './vacuous.ts'

/** Runs the checks one after the other, outside the agent's process and reach. */
export async function runChecks(order: Doing<'run-checks'>, context: Context): Promise<Fact | undefined> {
  const { progress, ports, signal } = context
  const { iteration } = order
  const checks = (progress.doneWhen ?? []).filter((check) => order.names.includes(checkName(check)))
  const checkFiles = iteration === 0 ? await keepFiles(checks, context) : undefined
  const { changed: tampered, lost } = iteration === 0 ? nothingChanged : await changedFiles(checks, context)
  const results: CheckResult[] = []
  for (const check of checks) {
    ports.observe({ type: 'check-started', iteration, name: checkName(check) })
    const broken = lost.find(({ file }) => check.protect && definesIt(check, file))
    const result = broken
      ? red(check, `${broken.file} could not be restored: ${broken.why}`)
      : await runCheck(check, { iteration, number: results.length + 1 }, context)
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
  const { exitCode, error, durationMs, output } = await ports.shell
    .run({ attempt, ifBegun: 'repeat', command: check.run, timeoutMs: check.timeout }, signal)
    .catch((cause: unknown) => red(check, `could not start: ${messageOf(cause)}`))
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

/** A check that did not run counts as failed. */
const red = (check: Check, error: string) => ({
  name: checkName(check),
  passed: false,
  exitCode: null,
  durationMs: 0,
  output: '',
  reason: error,
  error,
})

/** Records and stores the files that define the checks, so that they can be restored. */
async function keepFiles(checks: readonly Check[], { ports }: Context): Promise<Progress['checkFiles']> {
  const names = [...new Set(checks.flatMap((check) => definingFiles(check.run, ports.projectFiles.isFile)))]
  return Promise.all(names.map(async (file) => ({ file, hash: await ports.projectFiles.keep(file) })))
}

type Changed = {
  readonly changed: string[]
  /** Protected files that could not be restored. */
  readonly lost: { readonly file: string; readonly why: string }[]
}

const nothingChanged: Changed = { changed: [], lost: [] }

/** Finds files that changed since the start, and restores those that a check protects. */
async function changedFiles(checks: readonly Check[], { progress, ports }: Context): Promise<Changed> {
  const { checkFiles = [] } = progress
  const changed: string[] = []
  const lost: Changed['lost'] = []
  for (const { file, hash } of checkFiles) {
    if ((await ports.projectFiles.hash(file)) === hash) continue
    changed.push(file)
    if (!checks.some((check) => check.protect && definesIt(check, file))) continue
    await ports.projectFiles.putBack(file).catch((cause: unknown) => lost.push({ file, why: messageOf(cause) }))
  }
  return { changed: [...changed, ...newFiles(checks, progress, ports)], lost }
}

/** A configuration file that appeared after the start also affects the result. It is reported, not removed: it may be part of the work. */
function newFiles(checks: readonly Check[], { checkFiles = [], baseline = [] }: Progress, { projectFiles }: Ports) {
  const known = checks.filter((check) => baseline.some(({ name }) => name === checkName(check)))
  const names = new Set(known.flatMap((check) => definingFiles(check.run, projectFiles.isFile)))
  return [...names].filter((name) => !checkFiles.some(({ file }) => file === name)).map((name) => `${name} (new)`)
}

const definesIt = (check: Check, file: string): boolean => definingFiles(check.run, (name) => name === file).length > 0
