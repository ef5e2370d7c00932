import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import type { Check } from '../../contract/check.ts'
import { isFile, listTree } from '../../platform/files/files.ts'
import { findVolatileNames } from '../tests/volatile-names.ts'
import { chooseKept } from './kept-files.ts'
import { findDifference, findFlips, isRicher, judgeRun } from './judge.ts'
import type { Proof as OpenProof } from './open-proof.ts'
import { proposeNetwork, proposeRoom } from './propose-room.ts'
import type { CheckRecord } from './record.ts'
import { runCheck, usesNetwork, type CheckPlace, type CheckRun } from './run-check.ts'

/** What recording a check needs. */
export type Recorder = { readonly proof: OpenProof; readonly place: CheckPlace; readonly signal: AbortSignal }

type RecordedRun = { readonly record: CheckRecord; readonly ended: CheckRun; readonly note?: string }

/** Runs a check in the work tree and in the room. Where they differ the room lacks something: the work tree counts, marked. */
export async function recordCheck(recorder: Recorder, check: Check): Promise<RecordedRun> {
  const { proof, place, signal } = recorder
  const inPlace = check.heldOut === undefined ? await runCheck(place, { check, signal }) : undefined
  if (inPlace) refuseMissing(check, inPlace, place.project)
  const isOff = isRoomOff(recorder, check)
  if (inPlace && (isOff || signal.aborted))
    return { record: toRecord(check, inPlace, 'in-place'), ended: inPlace, ...adviseNetwork(check, inPlace, isOff) }
  const inRoom = await runOnBaseline(recorder, check)
  if (!inPlace) return { record: toRecord(check, inRoom, 'room'), ended: inRoom }
  const isOpen = usesNetwork(check.room ?? place.settings)
  const flaky = await findFlaky(recorder, check, { inPlace, inRoom })
  const difference = findDifference(inPlace, inRoom, flaky)
  if (difference !== undefined && !isRicher(inPlace, inRoom, isOpen)) {
    const gap = { omitted: await listOmitted(proof, place), output: inRoom.output }
    const completed = await completeRoom(recorder, check, { inPlace, ...gap })
    if (completed) return completed
    const note = `${checkName(check)} says something else in a clean copy (${difference}): it runs in the work tree, and the result says so. ${proposeRoom(gap)}`
    return { record: toRecord(check, inPlace, 'in-place'), ended: inPlace, note }
  }
  const record = toRecord(check, inRoom, 'room', inPlace)
  if (flaky.size === 0) return { record, ended: inRoom, ...(!isOpen && adviseNetwork(check, inRoom, false)) }
  const note = `flaky before any change, so it proves nothing: ${[...flaky].slice(0, 5).join(', ')}`
  return { record: { ...record, flaky: [...flaky] }, ended: inRoom, note }
}

/** Adds the ignored data of the work tree to the room; undefined: the check says something else there still. */
async function completeRoom(
  recorder: Recorder,
  check: Check,
  {
    inPlace,
    omitted,
    output,
  }: { readonly inPlace: CheckRun; readonly omitted: readonly string[]; readonly output: string },
): Promise<RecordedRun | undefined> {
  const { proof, place } = recorder
  const paths = chooseKept(place.project, omitted, output)
  if (paths.length === 0) return undefined
  const kept = await proof.keep(paths)
  const ended = await runOnBaseline({ ...recorder, place: { ...place, kept } }, check)
  if (findDifference(inPlace, ended) !== undefined) return undefined
  const names = paths.length <= 5 ? paths.join(', ') : `${paths.slice(0, 5).join(', ')} and ${paths.length - 5} more`
  const note = `not in git: ${names}. ${checkName(check)} gets them as they are now; \`room: {copy: […]}\` takes them from the work tree`
  return { record: { ...toRecord(check, ended, 'room', inPlace), kept: [...kept] }, ended, note }
}

function adviseNetwork(check: Check, { exitCode, output }: CheckRun, isOff: boolean): { readonly note?: string } {
  const advice = exitCode === 0 ? undefined : proposeNetwork(output, isOff)
  return advice === undefined ? {} : { note: `${checkName(check)} ${advice}` }
}

/** Runs a check twice more where its results differ by place: a flaky test is no difference between the places. */
async function findFlaky(
  recorder: Recorder,
  check: Check,
  { inPlace, inRoom }: { readonly inPlace: CheckRun; readonly inRoom: CheckRun },
): Promise<ReadonlySet<string>> {
  if (findDifference(inPlace, inRoom) === undefined || findFlips(inPlace, inRoom).length === 0) return new Set()
  const { place, signal } = recorder
  const placeAgain = await runCheck(place, { check, signal })
  const roomAgain = await runOnBaseline(recorder, check)
  return new Set([...findFlips(inPlace, placeAgain), ...findFlips(inRoom, roomAgain)])
}

/** A check that was added after the start, or whose record is lost, has its baseline in the tree of the start. */
export async function recordLater(recorder: Recorder, check: Check): Promise<CheckRecord> {
  const { place, signal } = recorder
  if (isRoomOff(recorder, check))
    return { ...toRecord(check, await runCheck(place, { check, signal }), 'in-place'), passed: true }
  const ended = await runOnBaseline(recorder, check)
  const record = toRecord(check, ended, 'room')
  return { ...record, passed: judgeRun(record, ended, { mayChange: ['**'] }).problem === undefined }
}

const isRoomOff = ({ place }: Recorder, { room }: Check): boolean => (room ?? place.settings) === 'off'

/** Files of the work tree that the room does not have. */
async function listOmitted({ baseline }: OpenProof, { project }: CheckPlace): Promise<string[]> {
  const known = new Set(baseline.paths)
  const except = ['.git', '.claude', 'node_modules', '.venv', 'venv', 'target', '__pycache__', '.pytest_cache']
  return (await listTree(project, { except })).filter((path) => !known.has(path))
}

async function runOnBaseline({ proof, place, signal }: Recorder, check: Check): Promise<CheckRun> {
  const { tree } = proof.baseline
  const claim = await proof.claim()
  const plan = await proof.dependencies(
    { ...claim, newOnNew: tree, dependenciesChanged: false },
    { install: check.install, timeoutMs: check.timeout },
  )
  return runCheck(place, { check, tree, dependencies: plan.mounts, signal })
}

export const checkName = ({ name, run }: Check): string => name ?? run

const toRecord = (check: Check, ended: CheckRun, place: CheckRecord['place'], other?: CheckRun): CheckRecord => ({
  name: checkName(check),
  command: check.run,
  passed: false,
  exitCode: ended.exitCode,
  place,
  ...(ended.run && { run: ended.run }),
  volatile: ended.run && other?.run ? [...findVolatileNames(ended.run, other.run)] : [],
})

/** The shell's exit codes for a missing or not executable program. A script of the project may be part of the goal. */
function refuseMissing(check: Check, { exitCode, output }: CheckRun, project: string): void {
  if (exitCode !== 126 && exitCode !== 127) return
  const [program = ''] = check.run.trim().split(/\s+/)
  if (program.includes('/') && !isFile(join(project, program))) return
  const lastLine = output.trim().split('\n').at(-1) ?? ''
  throw new RalphError('CHECK_NOT_STARTED', `the check "${checkName(check)}" cannot start: ${lastLine}`, {
    hint: 'install what it needs, or name another command: --check with the same goal, or done-when in SPRINT.yaml; no agent has run',
  })
}
