import { maxNames, proofLabels, type Proof } from '../../contract/proof.ts'
import type { Check } from '../../contract/check.ts'
import type { Seal as SealRules } from '../../contract/settings.ts'
import type { TestResult } from '../../contract/tests.ts'
import type { Claim, Proof as OpenProof } from './open-proof.ts'
import type { DependencyMount } from '../room/room.ts'
import { findChangedChecker } from './checker-run.ts'
import { isFlaky, judgeRun, type Judgement } from './judge.ts'
import type { CheckRecord } from './record.ts'
import { findRedOnOldCode, gradeByHollowRun, type HollowGrade, type RedOnOldCode } from './red-first.ts'
import { runCheck, type CheckPlace, type CheckRun } from './run-check.ts'
import { findRunnerKnowledge } from './runner-knowledge.ts'
import { describeSeal, testSeal, type Seal } from './seal.ts'
import { findSuppressions } from './suppressions.ts'
import { describeProof } from './texts.ts'

export type ProveRequest = {
  readonly opened: OpenProof
  readonly place: CheckPlace
  readonly checks: readonly RecordedCheck[]
  readonly mayChange: readonly string[]
  readonly seal?: SealRules | undefined
  /** No agent can reach Ralph's state. */
  readonly isSealed: boolean
  readonly signal: AbortSignal
  readonly onStart: (check: Check) => void
  readonly onEnd: (judged: JudgedCheck) => void
}

/** A check and its result before the first agent. */
export type RecordedCheck = { readonly check: Check; readonly record: CheckRecord }

export type JudgedCheck = RecordedCheck & { readonly ended: CheckRun; readonly judged: Judgement }

export type ProvedClaim = { readonly proof: Proof; readonly checks: readonly JudgedCheck[] }

/**
 * Proves a claim: its own tests and those of the start are green on its code, no test is lost, and something that was red is
 * green, or a new test is red without the change.
 */
export async function proveClaim(request: ProveRequest): Promise<ProvedClaim> {
  const claim = await request.opened.claim(listTestFiles(request))
  const mounts = await findMounts(request, claim)
  if ('reason' in mounts) return contestPackages(request, claim, mounts.reason)
  const session: Session = { ...request, claim, dependencies: mounts.mounts }
  const now = await runAll(session, claim.newOnNew, request.onStart)
  for (const judged of now) request.onEnd(judged)
  const conclude = (verdict: Proof['verdict'], more: Conclusion = {}): Promise<ProvedClaim> =>
    describe(session, { verdict, now, ...more })
  const red = now.filter(({ judged }) => judged.problem !== undefined)
  if (red.length > 0) {
    const kept = await request.opened.listChangedKept(request.place.kept ?? [])
    if (kept.length > 0)
      return conclude('contested', { reason: `Not in git, and not as at the start: ${kept.join(', ')}` })
    return conclude(red.every(({ judged }) => isFlaky(judged)) ? 'flaky' : 'refused')
  }
  const old = claim.oldOnNew === claim.newOnNew ? now : await runOldTests(session, now)
  const lost = old.filter(({ judged }) => judged.problem !== undefined)
  if (lost.length > 0)
    return conclude(lost.every(({ judged }) => isFlaky(judged)) ? 'flaky' : 'contested', { old, lost })
  if (now.some(({ record }) => record.place === 'in-place') && (await hasRewrittenTests(claim)))
    return conclude('contested', {
      reason: 'The check runs in the work tree itself, and what it is made of was changed there',
    })
  const suppressions = await findSuppressions(session, now)
  if (suppressions.length > 0)
    return conclude('contested', {
      reason: `Red without new lines that switch findings off: ${suppressions.join(', ')}`,
    })
  const found = old.some(isFixed) ? await findChecker(session, old) : await findRedFirst(session, now, old)
  if (found.verdict) return conclude(found.verdict, found)
  const runs = [...now, ...old].flatMap(({ ended }) => ended.left ?? [])
  const left = { outside: runs.flatMap((run) => run.outside), inProject: runs.flatMap((run) => run.inProject) }
  // Held-out checks run in the same room: code that recognises it passes them too.
  const ignored = await claim.listIgnoredImports(request.place.project)
  const knowledge = [...(await findRunnerKnowledge(claim, left)), ...ignored]
  if (knowledge.length > 0) return conclude('unproven', { ...found, knowledge })
  const seal = await testSeal(session, now)
  return conclude(seal?.isBroken ? 'unproven' : 'proved', { ...found, ...(seal && { seal }) })
}

/** Tests and settings of the start were changed or deleted: where a check has no room, nothing else puts them back. */
async function hasRewrittenTests({ frozenChanges }: Claim): Promise<boolean> {
  for (const { kind, change, readDiff } of frozenChanges) {
    const isTest = kind === 'test' || kind === 'support' || kind === 'found'
    if (!isTest || change === 'deleted') return true
    if (change === 'changed' && /^-(?!--)/m.test(await readDiff())) return true
  }
  return false
}

/** Files that runners named at the start: tests, also where no pattern knows their names. */
const listTestFiles = ({ checks }: ProveRequest): string[] => [
  ...new Set(checks.flatMap(({ record }) => record.run?.tests ?? []).flatMap(({ file }) => file ?? [])),
]

/** Without a verdict: what is green now is so because of the work. */
async function findChecker(
  session: Session,
  old: readonly JudgedCheck[],
): Promise<Conclusion & { readonly verdict?: Proof['verdict'] }> {
  const checker = await findChangedChecker(session, old)
  return { old, ...(checker !== undefined && { checker, verdict: 'unproven' as const }) }
}

/** Without a verdict: a new test is red without the change. */
async function findRedFirst(
  session: Session,
  now: readonly JudgedCheck[],
  old: readonly JudgedCheck[],
): Promise<Conclusion & { readonly verdict?: Proof['verdict'] }> {
  const redBefore = session.claim.isChanged ? await findRedOnOldCode(session, now) : undefined
  if (!redBefore) return { verdict: 'unproven', old }
  const grade = redBefore.isCostly ? 'unknown' : await gradeByHollowRun(session, now)
  return { old, redBefore, grade, ...(grade === 'empty' && { verdict: 'unproven' as const }) }
}

/** The context of one proof. */
export type Session = ProveRequest & { readonly claim: Claim; readonly dependencies: readonly DependencyMount[] }

type Conclusion = {
  readonly old?: readonly JudgedCheck[]
  readonly lost?: readonly JudgedCheck[]
  readonly redBefore?: RedOnOldCode
  readonly grade?: HollowGrade
  readonly seal?: Seal
  /** Lines that look for a test runner. */
  readonly knowledge?: readonly string[]
  /** Why it is contested, unless tests of the start are lost. */
  readonly reason?: string
  /** A changed file that only judges others. */
  readonly checker?: string
}

/** With the text of its tests as it was: a red test passes, or a red check without names does. */
const isFixed = ({ record, judged }: JudgedCheck): boolean => (judged.tests?.fixed.length ?? 0) > 0 || !record.passed

async function runAll(session: Session, tree: string, onStart?: (check: Check) => void): Promise<JudgedCheck[]> {
  const judged: JudgedCheck[] = []
  for (const recorded of session.checks) {
    onStart?.(recorded.check)
    judged.push(await runJudged(session, recorded, tree))
  }
  return judged
}

/** In-place checks saw the work tree as it is, held-out ones are the same on both trees: their results stand. */
async function runOldTests(session: Session, now: readonly JudgedCheck[]): Promise<JudgedCheck[]> {
  const old: JudgedCheck[] = []
  for (const judged of now) {
    const isShared = judged.record.place === 'in-place' || judged.check.heldOut !== undefined
    old.push(isShared ? judged : await runJudged(session, judged, session.claim.oldOnNew))
  }
  return old
}

/** Runs a check; its red tests run once more before they count. */
async function runJudged(session: Session, { check, record }: RecordedCheck, tree: string): Promise<JudgedCheck> {
  const { place, dependencies, mayChange, signal } = session
  const run = (only?: readonly TestResult[]) =>
    runCheck(place, {
      check,
      dependencies,
      signal,
      ...(record.place === 'room' && { tree }),
      ...(only && { only }),
    })
  const ended = await run()
  const judged = judgeRun(record, ended, { mayChange })
  if (judged.red.length === 0 || judged.red.length > maxReruns) return { check, record, ended, judged }
  const { run: rerun } = await run(judged.red)
  return { check, record, ended, judged: judgeRun(record, ended, { rerun, mayChange }) }
}

/** A suite that fails as a whole is not flaky. */
const maxReruns = 20

type Mounts = { readonly mounts: readonly DependencyMount[] } | { readonly reason: string }

async function findMounts({ opened, place, checks }: ProveRequest, claim: Claim): Promise<Mounts> {
  if (checks.every(({ record }) => record.place === 'in-place')) return { mounts: [] }
  const { settings } = place
  const install =
    checks.find(({ check }) => check.install)?.check.install ??
    (typeof settings === 'object' ? settings.install : undefined)
  const rooms = [settings, ...checks.map(({ check }) => check.room)]
  const isNetworkOpen = rooms.some((room) => typeof room === 'object' && room.network === true)
  const plan = await opened.dependencies(claim, { install, isNetworkOpen, timeoutMs: installTimeoutMs })
  return plan.kind === 'dependencies-changed' ? { reason: plan.reason } : { mounts: plan.mounts }
}

const installTimeoutMs = 600_000

function contestPackages(request: ProveRequest, claim: Claim, reason: string): Promise<ProvedClaim> {
  const session: Session = { ...request, claim, dependencies: [] }
  return describe(session, {
    verdict: 'contested',
    now: [],
    reason: `The installed packages are not those of the start: ${reason}`,
  })
}

export type Finding = Conclusion & {
  readonly verdict: Proof['verdict']
  readonly now: readonly JudgedCheck[]
}

async function describe(session: Session, finding: Finding): Promise<ProvedClaim> {
  const { claim, checks, isSealed, place } = session
  const { now, old = now, verdict } = finding
  const isInPlace = checks.some(({ record }) => record.place === 'in-place')
  const labels = [
    ...(verdict === 'proved' && !checks.some(({ check }) => check.heldOut) ? [proofLabels.visibleOnly] : []),
    ...(isSealed ? [] : [proofLabels.reachable]),
    ...(finding.redBefore && finding.grade !== 'looks' ? [proofLabels.weak] : []),
    ...(finding.seal ? [describeSeal(finding.seal)] : []),
    ...(isInPlace ? [proofLabels.inPlace] : []),
  ]
  const named = checks.some(({ record }) => record.run) || now.some(({ judged }) => judged.tests)
  const texts = describeProof(finding, claim)
  const tests = joinTests(old, now)
  const diff = verdict === 'contested' ? await readTestDiff(claim) : undefined
  const room = isInPlace ? 'in-place' : place.room.kind
  const { isChanged: changed } = claim
  const proof: Proof = {
    verdict,
    room,
    labels,
    named,
    changed,
    ...texts,
    ...((finding.grade === 'empty' || finding.seal?.isBroken || finding.knowledge || finding.checker) && {
      isForPeople: true,
    }),
    ...(tests && { tests }),
    ...(finding.seal && { survivors: few(finding.seal.survivors) }),
    ...(diff && { diff }),
  }
  return { proof, checks: now }
}

/** Fixed and red with the tests of the start; new ones with those of the claim. */
function joinTests(old: readonly JudgedCheck[], now: readonly JudgedCheck[]): Proof['tests'] {
  const visible = (all: readonly JudgedCheck[]) =>
    all.flatMap(({ check, judged }) => (judged.tests && check.heldOut === undefined ? [judged.tests] : []))
  const [before, after] = [visible(old), visible(now)]
  if (before.length === 0 && after.length === 0) return undefined
  const flaky = [...before, ...after].flatMap((tests) => tests.flaky)
  return {
    fixed: few(before.flatMap(({ fixed }) => fixed)),
    stillRed: few([...before, ...after].flatMap(({ stillRed, newlyRed }) => [...stillRed, ...newlyRed])),
    added: few(after.flatMap(({ added }) => added)),
    missing: few([...before, ...after].flatMap(({ missing }) => missing)),
    ...(flaky.length > 0 && { flaky: few(flaky) }),
  }
}

const few = (ids: readonly string[]): string[] => [...new Set(ids)].slice(0, maxNames)

const maxDiff = 20_000

async function readTestDiff({ frozenChanges }: Claim): Promise<string> {
  const diffs = await Promise.all(frozenChanges.slice(0, 20).map(({ readDiff }) => readDiff()))
  return diffs.join('').slice(0, maxDiff)
}
