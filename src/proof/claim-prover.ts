import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { RalphError } from '../contract/errors.ts'
import type { CheckResult } from '../contract/progress.ts'
import type { Proof, ProofBaseline } from '../contract/proof.ts'
import type { Check, CheckRoom } from '../contract/check.ts'
import type { Seal } from '../contract/settings.ts'
import { createPrivateFolder, readTextSyncIfExists, realPath, removeFolder } from '../platform/files/files.ts'
import { writePrivateFile } from '../platform/files/private-file.ts'
import { killMarked } from '../platform/processes/process-table.ts'
import type { BaselineKeeper, ClaimProver, ProvedClaim, ProverRequest, RecordedBaseline } from '../runtime/ports.ts'
import { adoptBaseline } from './claim/adopt-baseline.ts'
import { judgeRun } from './claim/judge.ts'
import { proveClaim, type JudgedCheck, type RecordedCheck } from './claim/prove.ts'
import { loadRecord, saveRecord, type CheckRecord } from './claim/record.ts'
import type { CheckPlace } from './claim/run-check.ts'
import { openProof, type Proof as OpenProof } from './claim/open-proof.ts'
import { checkName, recordCheck, recordLater, type Recorder } from './claim/record-check.ts'
import { forgetRest, rememberRest, takeUserEdits } from './claim/user-edits.ts'
import type { Confine } from './room/confine.ts'
import type { KeptFile } from './room/room.ts'

export type ProverOptions = {
  /** Ralph's own folder of the sprint, not readable to agents. */
  readonly state: string
  /** Where the agent works. */
  readonly project: string
  /** Ralph's folders in the project, relative to it. */
  readonly exclude: readonly string[]
  /** Folders that checks must not see. */
  readonly hidden: readonly string[]
  /** Holds the folders of held-out checks. */
  readonly heldOut: string
  /** The folder assets/reporters of the package. */
  readonly assets: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pass: readonly string[]
  readonly frozen: readonly string[]
  readonly mayChange: readonly string[]
  readonly room: CheckRoom | undefined
  readonly seal: Seal | undefined
  /** Whether agents run in a cell that hides `state`. */
  readonly isSealed: boolean
  /** The cell of the sprint, for checks outside the clean room. */
  readonly confine?: Confine | undefined
  readonly redact: (text: string) => string
}

/** Opens nothing until the first call. */
export function createClaimProver(options: ProverOptions): ClaimProver {
  let opened: Promise<Workshop> | undefined
  const open = (checks: readonly Check[], tree?: string) => (opened ??= openWorkshop(options, checks, tree))
  return {
    recordBaseline: async (request, signal) => recordBaseline(options, await open(request.checks), request, signal),
    adoptBaseline: async ({ tree }, { ref }) => {
      const { state, project, frozen, mayChange } = options
      await adoptBaseline({ state, project, rules: { frozen, mayChange, commands: [] }, ref, tree })
    },
    prove: async (request, signal) => {
      const { baseline, checks } = request
      try {
        const workshop = await open(checks, baseline.tree)
        return await proveRecorded({ options, workshop, request, signal }, baseline)
      } catch (error) {
        if (error instanceof RalphError && error.code === 'ROOM_FAILED') return failToRun(checks, error.message)
        throw error
      }
    },
  }
}

/** Keeps the user's edits to tests apart from those of agents. Use it while no prover works. */
export function createBaselineKeeper(options: ProverOptions): BaselineKeeper {
  const kept = {
    state: options.state,
    request: { project: realPath(options.project), exclude: options.exclude, include: listCopies(options, []) },
  }
  return {
    rememberRest: () => rememberRest(kept),
    forgetRest: () => forgetRest(kept),
    retake: async ({ checks, baseline }, signal) => {
      const { frozen, mayChange } = options
      const rules = { frozen, mayChange, commands: checks.map(({ run }) => run) }
      const edits = await takeUserEdits(kept, baseline.tree, rules)
      if (!edits || edits.paths.length === 0) return edits && { ...edits, baseline }
      const workshop = await openWorkshop(options, checks, edits.tree)
      const known = loadRecord(recordFile(workshop.place), baseline.record) ?? []
      const records = await recordAgain({ ...workshop, signal }, checks, known)
      const record = await saveRecord(recordFile(workshop.place), records)
      return { ...edits, baseline: { tree: edits.tree, record, named: records.some(({ run }) => run) } }
    },
  }
}

/** Agents may have changed the work tree since: what ran in it at the start stands. */
async function recordAgain(
  recorder: Recorder,
  checks: readonly Check[],
  known: readonly CheckRecord[],
): Promise<CheckRecord[]> {
  const records: CheckRecord[] = []
  for (const check of checks) {
    const before = known.find(({ name, command }) => name === checkName(check) && command === check.run)
    records.push(before?.place === 'in-place' ? before : await recordLater(recorder, check))
  }
  return records
}

const listCopies = ({ room: settings }: ProverOptions, checks: readonly Check[]): string[] =>
  [settings, ...checks.map(({ room }) => room)].flatMap((room) => (typeof room === 'object' ? (room.copy ?? []) : []))

type Workshop = { readonly proof: OpenProof; readonly place: CheckPlace }

async function openWorkshop(options: ProverOptions, checks: readonly Check[], tree?: string): Promise<Workshop> {
  const { project, exclude, env, hidden, frozen, mayChange, room: settings, assets, heldOut, pass } = options
  await createPrivateFolder(options.state)
  const state = realPath(options.state)
  const proof = await openProof({
    state,
    project,
    exclude,
    include: listCopies(options, checks),
    env,
    hidden,
    confine: options.confine,
    rules: { frozen, mayChange, commands: checks.map(({ run }) => run) },
    baselineTree: tree,
  })
  // The first fill writes every file, so start it before the first claim.
  void proof.room.fill(proof.baseline.tree).catch(() => {})
  await removeFolder(join(state, 'runs'))
  const mark = await readMark(join(state, 'mark'))
  killMarked(mark)
  const { confine } = options
  const place = {
    room: proof.room,
    project: realPath(project),
    state,
    assets,
    env,
    pass,
    heldOut,
    mark,
    settings,
    confine,
  }
  return { proof, place }
}

/** One per sprint, so that a run after a crash finds the processes of the check that it cut off. */
async function readMark(file: string): Promise<string> {
  const known = readTextSyncIfExists(file)
  if (known !== undefined && known !== '') return known
  const mark = `check-${randomUUID()}`
  await writePrivateFile(file, mark)
  return mark
}

async function recordBaseline(
  { redact }: ProverOptions,
  { proof, place }: Workshop,
  { checks, onStart, onEnd }: ProverRequest,
  signal: AbortSignal,
): Promise<RecordedBaseline> {
  const results: CheckResult[] = []
  const records: CheckRecord[] = []
  const notes: string[] = [...proof.baseline.notes]
  for (const check of checks) {
    onStart(check)
    const { record, ended, note } = await recordCheck({ proof, place, signal }, check)
    const result = toResult({ check, record, ended, judged: judgeRun(record, ended, { mayChange: ['**'] }) }, redact)
    onEnd(result)
    results.push(result)
    records.push({ ...record, passed: result.passed })
    if (note !== undefined) notes.push(note)
  }
  const record = await saveRecord(recordFile(place), records)
  const baseline = { tree: proof.baseline.tree, record, named: records.some(({ run }) => run) }
  return { results, baseline, notes }
}

const recordFile = ({ state }: Pick<CheckPlace, 'state'>): string => join(state, 'baseline.json')

type Proving = {
  readonly options: ProverOptions
  readonly workshop: Workshop
  readonly request: ProverRequest
  readonly signal: AbortSignal
}

async function proveRecorded(
  { options, workshop, request, signal }: Proving,
  baseline: ProofBaseline,
): Promise<ProvedClaim> {
  const { proof, place } = workshop
  const known = loadRecord(recordFile(place), baseline.record) ?? []
  const recorded: RecordedCheck[] = []
  for (const check of request.checks) {
    const record = known.find(({ name, command }) => name === checkName(check) && command === check.run)
    recorded.push({ check, record: record ?? (await recordLater({ ...workshop, signal }, check)) })
  }
  const { mayChange, seal, isSealed, redact } = options
  const { proof: result, checks } = await proveClaim({
    opened: proof,
    place: { ...place, kept: joinKept(recorded) },
    checks: recorded,
    mayChange,
    seal,
    isSealed,
    signal,
    onStart: request.onStart,
    onEnd: (judged) => request.onEnd(toResult(judged, redact)),
  })
  return { proof: result, results: listResults(request.checks, checks, result, redact) }
}

const joinKept = (recorded: readonly RecordedCheck[]): KeptFile[] => [
  ...new Map(recorded.flatMap(({ record }) => record.kept ?? []).map((file) => [file.path, file])).values(),
]

/** Every check has a result, also where the proof ended before it ran. */
function listResults(
  checks: readonly Check[],
  judged: readonly JudgedCheck[],
  { verdict }: Proof,
  redact: (text: string) => string,
): CheckResult[] {
  return checks.map((check) => {
    const found = judged.find((each) => each.check === check)
    return found ? toResult(found, redact) : notRun(check, verdict)
  })
}

const notRun = (check: Check, why: string): CheckResult => ({
  name: checkName(check),
  passed: false,
  exitCode: null,
  durationMs: 0,
  output: '',
  reason: `did not run: ${why}`,
})

/** How much of the output prompts and state keep. */
const tailCharacters = 16 * 1024

/** The output of a held-out check never leaves this function. */
function toResult({ check, ended, judged }: JudgedCheck, redact: (text: string) => string): CheckResult {
  const { problem } = judged
  const isHidden = check.heldOut !== undefined
  const reason = isHidden && problem !== undefined ? 'a held-out check is red' : problem
  const isPlainExit = reason === `exit code ${ended.exitCode}`
  return {
    name: checkName(check),
    passed: problem === undefined,
    exitCode: ended.exitCode,
    durationMs: ended.durationMs,
    output: isHidden ? '' : redact(ended.output.slice(-tailCharacters)),
    ...(reason !== undefined && !isPlainExit && { reason }),
  }
}

function failToRun(checks: readonly Check[], why: string): ProvedClaim {
  const proof: Proof = {
    verdict: 'failed-to-run',
    room: 'plain',
    labels: [],
    reasons: [why],
    prompt: '',
    named: true,
    changed: true,
  }
  return { proof, results: checks.map((check) => notRun(check, why)) }
}
