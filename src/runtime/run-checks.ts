import type { CheckResult, Progress } from '../contract/progress.ts'
import type { Check } from '../contract/check.ts'
import { getCheckName } from '../loop/core/request-checks.ts'
import type { Fact } from '../loop/core/fact.ts'
import { listDefiningFiles } from './defining-files.ts'
import { proveWithChecks } from './prove-claim.ts'
import type { OrderContext, OrderByType } from './context.ts'
import { errorMessage } from '../contract/errors.ts'
import type { Ports } from './ports.ts'
import { ranNoTests } from './empty-test-run.ts'

/** Runs the checks one after the other, outside the agent's process and reach: those of a claim prove it. */
export async function runChecks(order: OrderByType<'run-checks'>, context: OrderContext): Promise<Fact | undefined> {
  const { progress, signal } = context
  const { iteration } = order
  const checks = (progress.doneWhen ?? []).filter((check) => order.names.includes(getCheckName(check)))
  const checkFiles = iteration === 0 ? await storeCheckFiles(checks, context) : undefined
  const { changed: tampered, lost } = iteration === 0 ? nothingChanged : await findChangedFiles(checks, context)
  // A protected file that cannot be restored makes its check red, whatever a copy says.
  const proved = lost.length > 0 ? undefined : await proveWithChecks({ iteration, checks }, context)
  if (signal.aborted) return undefined
  if (proved) return { ...proved, checkFiles, tampered }
  const results = await runInWorkTree({ iteration, checks, lost }, context)
  if (!results) return undefined
  return { type: 'checks-ended', at: context.ports.clock.now(), iteration, results, checkFiles, tampered }
}

type DueChecks = {
  readonly iteration: number
  readonly checks: readonly Check[]
  readonly lost: ChangedCheckFiles['lost']
}

/** Undefined if it was aborted. */
async function runInWorkTree(
  { iteration, checks, lost }: DueChecks,
  context: OrderContext,
): Promise<CheckResult[] | undefined> {
  const { ports, signal } = context
  const results: CheckResult[] = []
  for (const check of checks) {
    ports.observe({ type: 'check-started', iteration, name: getCheckName(check) })
    const broken = lost.find(({ file }) => check.protect && isDefinedBy(check, file))
    const result = broken
      ? createFailedResult(check, `${broken.file} could not be restored: ${broken.why}`)
      : await runCheck(check, { iteration, number: results.length + 1 }, context)
    if (signal.aborted) return undefined
    ports.observe({ type: 'check-ended', iteration, result })
    results.push(result)
  }
  return results
}

type CheckPosition = { readonly iteration: number; readonly number: number }

async function runCheck(
  check: Check,
  { iteration, number }: CheckPosition,
  { ports, signal }: OrderContext,
): Promise<CheckResult> {
  const attempt = `${iteration}-check-${number}`
  const { exitCode, error, durationMs, output } = await ports.shell
    .run({ attempt, command: check.run, timeoutMs: check.timeout }, signal)
    .catch((cause: unknown) => createFailedResult(check, `could not start: ${errorMessage(cause)}`))
  const ended = exitCode === 0 && error === undefined
  const vacuous = ended && ranNoTests(output)
  const reason = vacuous ? 'it ran no test' : error
  return {
    name: getCheckName(check),
    passed: ended && !vacuous,
    exitCode,
    durationMs,
    output,
    ...(reason !== undefined && { reason }),
  }
}

/** A check that did not run counts as failed. */
const createFailedResult = (check: Check, error: string) => ({
  name: getCheckName(check),
  passed: false,
  exitCode: null,
  durationMs: 0,
  output: '',
  reason: error,
  error,
})

/** Records and stores the files that define the checks, so that they can be restored. */
async function storeCheckFiles(checks: readonly Check[], { ports }: OrderContext): Promise<Progress['checkFiles']> {
  const names = [...new Set(checks.flatMap((check) => listDefiningFiles(check.run, ports.projectFiles.isFile)))]
  return Promise.all(names.map(async (file) => ({ file, hash: await ports.projectFiles.store(file) })))
}

type ChangedCheckFiles = {
  readonly changed: string[]
  /** Protected files that could not be restored. */
  readonly lost: { readonly file: string; readonly why: string }[]
}

const nothingChanged: ChangedCheckFiles = { changed: [], lost: [] }

/** Finds files that changed since the start, and restores those that a check protects. */
async function findChangedFiles(
  checks: readonly Check[],
  { progress, ports }: OrderContext,
): Promise<ChangedCheckFiles> {
  const { checkFiles = [] } = progress
  const changed: string[] = []
  const lost: ChangedCheckFiles['lost'] = []
  for (const { file, hash } of checkFiles) {
    if ((await ports.projectFiles.hash(file)) === hash) continue
    changed.push(file)
    if (!checks.some((check) => check.protect && isDefinedBy(check, file))) continue
    await ports.projectFiles
      .restore(file, hash)
      .catch((cause: unknown) => lost.push({ file, why: errorMessage(cause) }))
  }
  return { changed: [...changed, ...findNewFiles(checks, progress, ports)], lost }
}

/** A configuration file that appeared after the start also affects the result. It is reported, not removed: it may be part of the work. */
function findNewFiles(checks: readonly Check[], { checkFiles = [], baseline = [] }: Progress, { projectFiles }: Ports) {
  const known = checks.filter((check) => baseline.some(({ name }) => name === getCheckName(check)))
  const names = new Set(known.flatMap((check) => listDefiningFiles(check.run, projectFiles.isFile)))
  return [...names].filter((name) => !checkFiles.some(({ file }) => file === name)).map((name) => `${name} (new)`)
}

const isDefinedBy = (check: Check, file: string): boolean =>
  listDefiningFiles(check.run, (name) => name === file).length > 0
