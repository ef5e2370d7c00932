import { errorMessage } from '../contract/errors.ts'
import type { HookTask, Progress, Step } from '../contract/progress.ts'
import { advance } from '../loop/advance.ts'
import type { Fact } from '../loop/core/fact.ts'
import { checkAttempts, type AttemptFolderState } from './attempt-invariants.ts'
import { broken, notice, type Finding } from './finding.ts'

/** One record of the journal, as far as the invariants need it. */
export type ReplayEntry = { readonly seq: number; readonly epoch: number } & (
  | { readonly kind: 'snapshot'; readonly progress: Progress }
  | { readonly kind: 'run' }
  | { readonly kind: 'fact'; readonly fact: Fact }
)

/** Everything that a sprint left on disk. */
export type Evidence = {
  /** Oldest first. The first one is a snapshot, unless the list is empty. */
  readonly entries: readonly ReplayEntry[]
  /** Content of PROGRESS.yaml; undefined if the file is missing. */
  readonly shown?: Progress | undefined
  readonly attempts: readonly AttemptFolderState[]
  /** Whether a process is running the sprint right now. */
  readonly isRunning: boolean
  /** Part of the journal was moved aside, so the state may not know every attempt. */
  readonly isRepaired?: boolean
}

export type InvariantReport = { readonly findings: readonly Finding[]; readonly progress?: Progress }

/** Returns all violations, and the state that the journal leads to. */
export function checkInvariants(evidence: Evidence, rules = advance): InvariantReport {
  const { entries, shown, isRunning } = evidence
  const history = createHistoryChecker()
  const findings: Finding[] = []
  let progress: Progress | undefined
  let before: ReplayEntry | undefined
  for (const entry of entries) {
    findings.push(...checkRecordOrder(before, entry))
    const next = replayEntry(progress, before, entry, rules)
    if ('problem' in next) return { findings: [...findings, next.problem], ...(progress && { progress }) }
    if (next.begins) history.reset(next.progress)
    else if (progress && entry.kind === 'fact') findings.push(...history.check(progress, next.progress, entry.fact))
    progress = next.progress
    before = entry
  }
  if (!progress) return { findings }
  findings.push(...checkShownProgress(progress, shown, isRunning), ...checkAttempts(progress, evidence))
  return { findings, progress }
}

/** Sequence numbers have no gaps, and the epoch grows with every run. */
function checkRecordOrder(before: ReplayEntry | undefined, { seq, epoch, kind }: ReplayEntry): Finding[] {
  if (!before) return kind === 'snapshot' ? [] : [broken('I1', `record ${seq} has no snapshot before it`)]
  const isBeginning = kind === 'snapshot' && epoch > before.epoch
  const gap = seq === before.seq + 1 || isBeginning ? [] : [broken('I1', `record ${seq} follows record ${before.seq}`)]
  const isNewRun = kind === 'run' && epoch > before.epoch
  // The run that starts a journal writes its snapshot before its own record.
  const isFirstRun = kind === 'run' && before.kind === 'snapshot' && epoch === before.epoch
  const continuesRun = kind !== 'run' && epoch === before.epoch
  if (isNewRun || isFirstRun || continuesRun || isBeginning) return gap
  return [...gap, broken('I5', `record ${seq} (${kind}) of epoch ${epoch} follows one of epoch ${before.epoch}`)]
}

type ReplayStep = { readonly progress: Progress; readonly begins?: true } | { readonly problem: Finding }

function replayEntry(
  progress: Progress | undefined,
  before: ReplayEntry | undefined,
  entry: ReplayEntry,
  rules: typeof advance,
): ReplayStep {
  if (entry.kind === 'snapshot') {
    // A sprint that is recompiled before its first run, or repaired, starts from a new snapshot.
    if (!progress || entry.epoch > (before?.epoch ?? 0)) return { progress: entry.progress, begins: true }
    if (isDeepEqual(progress, entry.progress)) return { progress: entry.progress }
    return { problem: broken('I8', `the snapshot in record ${entry.seq} is not what the records before it lead to`) }
  }
  if (!progress) return { problem: broken('I1', `record ${entry.seq} has no snapshot before it`) }
  if (entry.kind === 'run') return { progress }
  try {
    return { progress: rules(progress, entry.fact).progress }
  } catch (error) {
    const why = errorMessage(error)
    return { problem: broken('I8', `record ${entry.seq} cannot be applied: ${why}`) }
  }
}

/** What has happened since the last starting snapshot. */
function createHistoryChecker() {
  let started = new Set<number>()
  let ended = new Set<number>()
  let attempts = new Set<string>()
  let completed = new Set<string>()
  return {
    reset({ stats, live, dynamicSteps }: Progress): void {
      started = new Set(Array.from({ length: stats.currentIteration }, (_, index) => index + 1))
      ended = new Set([...started].filter((number) => !live.some((one) => one.number === number)))
      attempts = new Set()
      completed = new Set(dynamicSteps.filter(isStepCompleted).map(({ id }) => id))
    },
    check(from: Progress, to: Progress, fact: Fact): Finding[] {
      return [
        ...checkIterations(from, to, { started, ended }),
        ...checkRepeatedAttempt(fact, attempts),
        ...checkSteps(from, to, completed),
        ...checkHookTasks(from.hookTasks, to.hookTasks),
        ...(fact.type === 'recompiled' ? [] : checkCounters(from, to)),
      ]
    },
  }
}

type IterationNumbers = { readonly started: Set<number>; readonly ended: Set<number> }

function checkIterations({ live: before }: Progress, to: Progress, { started, ended }: IterationNumbers): Finding[] {
  const findings: Finding[] = []
  const numbers = new Set(before.map(({ number }) => number))
  for (const { number, attempt } of to.live) {
    if (numbers.delete(number)) continue
    if (started.has(number)) findings.push(broken('I2', `iteration ${number} begins twice`))
    else if (number !== started.size + 1) findings.push(broken('I2', `iteration ${number} follows ${started.size}`))
    const { maxIterations } = to.stats
    // An iteration without an attempt only runs a gate or the checks, and no limit forbids that.
    if (number > maxIterations && attempt > 0)
      findings.push(broken('I11', `iteration ${number} is over the limit of ${maxIterations}`))
    started.add(number)
  }
  for (const number of numbers) {
    if (ended.has(number)) findings.push(broken('I2', `iteration ${number} ends twice`))
    if (to.iterations.filter((record) => record.number === number).length !== 1) {
      findings.push(broken('I2', `iteration ${number} has ended without a receipt of its own`))
    }
    ended.add(number)
  }
  if (to.stats.currentIteration !== started.size) {
    findings.push(
      broken('I2', `iteration ${started.size} is the last one, but ${to.stats.currentIteration} are counted`),
    )
  }
  return findings
}

function checkRepeatedAttempt(fact: Fact, attempts: Set<string>): Finding[] {
  if (fact.type !== 'attempt-ended' || (fact.end.kind === 'failed' && fact.end.notStarted)) return []
  const name = `${fact.iteration}-${fact.attempt}`
  if (attempts.has(name)) return [broken('I4', `attempt ${name} ends twice`)]
  attempts.add(name)
  return []
}

const isStepCompleted = ({ status }: Step): boolean => status === 'completed'

function checkSteps({ dynamicSteps: before, stats }: Progress, to: Progress, completed: Set<string>): Finding[] {
  const findings: Finding[] = []
  if (before === to.dynamicSteps) return findings
  const known = new Map(before.map((step) => [step.id, step]))
  const now = new Set<string>()
  const done = completed.size
  for (const { id, status } of to.dynamicSteps) {
    if (now.has(id)) findings.push(broken('I3', `${id} is there twice`))
    now.add(id)
    if (status === 'pending' && completed.has(id))
      findings.push(broken('I3', `${id} was completed and is pending again`))
    if (!known.has(id) && Number(id.replace('step-', '')) < stats.totalSteps) {
      findings.push(broken('I3', `the id ${id} is used again`))
    }
    if (status === 'completed') completed.add(id)
  }
  const added = [...now].filter((id) => !known.has(id)).length
  if (to.stats.totalSteps - stats.totalSteps !== added) {
    findings.push(broken('I3', `${added} steps are new, ${to.stats.totalSteps - stats.totalSteps} are counted`))
  }
  const lost = before.filter((step) => step.status === 'pending' && !now.has(step.id))
  findings.push(...lost.map(({ id }) => broken('I3', `${id} was pending and is gone`)))
  const counted = to.stats.completedSteps - stats.completedSteps
  if (counted !== completed.size - done) {
    findings.push(broken('I3', `${completed.size - done} steps were completed, ${counted} are counted`))
  }
  return findings
}

/** Compares only tasks that changed: a journal has thousands of facts, and each state up to 1,000 tasks. */
function checkHookTasks(before: readonly HookTask[], after: readonly HookTask[]): Finding[] {
  if (before === after) return []
  const findings: Finding[] = []
  // Old tasks are dropped at the start, so the rest moves by as many places.
  const [first] = after
  const moved = first === undefined ? 0 : Math.max(0, before.indexOf(first))
  const gone = new Set(before.filter((task, index) => task !== after[index - moved]))
  const now = after.filter((task, index) => task !== before[index + moved])
  const changed = now.filter((task) => !gone.has(task))
  if (changed.some((task) => after.filter(isSame(task)).length > 1))
    findings.push(broken('I14', 'a hook is there twice for the same iteration'))
  for (const task of gone) {
    if (now.includes(task)) continue
    const later = changed.find(isSame(task))
    if (task.status === 'running' ? !later : later && later.status !== task.status) {
      findings.push(broken('I14', `hook ${formatHookTask(task)} was ${task.status} and is ${later?.status ?? 'gone'}`))
    }
  }
  return findings
}

const isSame =
  (a: HookTask) =>
  (b: HookTask): boolean =>
    a.iteration === b.iteration && a.hookId === b.hookId

const formatHookTask = ({ iteration, hookId }: HookTask): string => `${hookId} of iteration ${iteration}`

function checkCounters(from: Progress, to: Progress): Finding[] {
  const findings = to.rev === from.rev + 1 ? [] : [broken('I10', `rev ${to.rev} follows ${from.rev}`)]
  const counters = ({ stats }: Progress): Readonly<Record<string, number>> => ({
    'current-iteration': stats.currentIteration,
    'total-steps': stats.totalSteps,
    'completed-steps': stats.completedSteps,
    'active-ms': stats.activeMs,
    'input-tokens': stats.usage.inputTokens,
    'output-tokens': stats.usage.outputTokens,
    ...(from.stats.costUsd !== null && to.stats.costUsd !== null && { 'cost-usd': stats.costUsd ?? 0 }),
  })
  const now = counters(to)
  for (const [name, value] of Object.entries(counters(from))) {
    if ((now[name] ?? 0) < value) findings.push(broken('I10', `${name} was ${value} and is ${now[name]}`))
  }
  return findings
}

function checkShownProgress(progress: Progress, shown: Progress | undefined, isRunning: boolean): Finding[] {
  if (isRunning) return []
  if (!shown) return [notice('I8', 'PROGRESS.yaml is not there; the next run writes it')]
  if (shown.rev > progress.rev) {
    return [broken('I8', `PROGRESS.yaml is of rev ${shown.rev}, the journal ends at rev ${progress.rev}`)]
  }
  if (shown.rev < progress.rev) {
    return [
      notice('I8', `PROGRESS.yaml is of rev ${shown.rev}, the journal of ${progress.rev}; the next run writes it`),
    ]
  }
  return isDeepEqual(shown, progress) ? [] : [notice('I8', 'PROGRESS.yaml was edited; the next run takes that over')]
}

/** Deep equality that treats undefined fields as absent. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, n) => isDeepEqual(item, b[n]))
  if (!isRecord(a) || !isRecord(b)) return false
  for (const name in a) if (!isDeepEqual(a[name], b[name])) return false
  for (const name in b) if (b[name] !== undefined && a[name] === undefined) return false
  return true
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
