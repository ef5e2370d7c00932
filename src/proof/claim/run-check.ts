import { quoteShellWord } from '../../contract/text.ts'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { RoomKind } from '../../contract/proof.ts'
import type { Check, CheckRoom } from '../../contract/check.ts'
import type { TestResult, TestRun } from '../../contract/tests.ts'
import {
  createPrivateFolder,
  isFolder,
  listFolder,
  listTree,
  realPath,
  removeFolder,
} from '../../platform/files/files.ts'
import { writeText } from '../../platform/files/text-files.ts'
import { buildCommandEnv } from '../../agents/supervise/environment.ts'
import { runCaptured, type CapturedJob } from '../../platform/processes/captured-process.ts'
import type { Confine } from '../room/confine.ts'
import { roomEnvironment } from '../room/environment.ts'
import type { DependencyMount, KeptFile, LeftFiles, Room } from '../room/room.ts'
import { keepReporters, prepareReporters, reportsFolder, writeReporters } from '../tests/prepare-reporters.ts'
import { readTestRun } from '../tests/read-test-run.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Where checks run, and with what. */
export type CheckPlace = {
  readonly room: Room
  /** The real path of the work tree. */
  readonly project: string
  /** Ralph's own folder of the sprint: each run gets a fresh random folder in it, which no other run reads. */
  readonly state: string
  /** The folder assets/reporters of the package. */
  readonly assets: string
  readonly env: Variables
  /** Names of more variables that checks may see in the room. */
  readonly pass: readonly string[]
  /** Holds the folders of held-out checks that are given by name. */
  readonly heldOut: string
  /** Marks the processes of checks, so that those of a run that was killed can be found. */
  readonly mark: string
  /** Files of the start that git ignores and checks read: each room has them. */
  readonly kept?: readonly KeptFile[]
  /** `room` of the sprint. */
  readonly settings: CheckRoom | undefined
  /** The cell of the sprint, for checks in the work tree. */
  readonly confine?: Confine | undefined
}

export type CheckJob = {
  readonly check: Check
  /** A tree for the room; absent: in the work tree. */
  readonly tree?: string
  readonly dependencies?: readonly DependencyMount[]
  /** Run only these tests, where the runner can choose. */
  readonly only?: readonly TestResult[]
  readonly signal: AbortSignal
}

/** One run of a check. */
export type CheckRun = {
  /** Null if it was killed. */
  readonly exitCode: number | null
  readonly output: string
  readonly durationMs: number
  /** Known of runs in the room. */
  readonly left?: LeftFiles
  /** Why its exit code says nothing: it was killed, or had no disk space. */
  readonly killed?: string
  readonly run?: TestRun
  readonly room: RoomKind
  readonly notes: readonly string[]
}

/** Runs a check once. Its exit code comes from the process itself, never from a file. */
export async function runCheck(place: CheckPlace, job: CheckJob): Promise<CheckRun> {
  const outputFolder = join(place.state, 'runs', randomUUID())
  await createPrivateFolder(outputFolder)
  try {
    return await (job.tree === undefined
      ? runInPlace(place, job, outputFolder)
      : runInRoom(place, { ...job, tree: job.tree }, outputFolder))
  } finally {
    await removeFolder(outputFolder)
  }
}

async function runInRoom(
  place: CheckPlace,
  job: CheckJob & { readonly tree: string },
  folder: string,
): Promise<CheckRun> {
  const { check, tree, dependencies = [], signal } = job
  const { room, project, pass } = place
  const real = realPath(folder)
  const where = { home: '/tmp/.room/home', temporary: '/tmp' }
  const prepared = await prepare(place, job, real, roomEnvironment({ from: place.env, project, pass, ...where }))
  const nonce = check.nonce === true ? randomUUID() : undefined
  if (nonce !== undefined) await writeText(join(reportsFolder(real), 'nonce'), `${nonce}\n`)
  const startedAt = Date.now()
  const ended = await room.run({
    tree,
    command: askWithNonce(check, real, keepReport({ ...check, run: keepReporters(check.run, real) }, real)),
    timeoutMs: check.timeout,
    network: usesNetwork(check.room ?? place.settings),
    pass,
    variables: prepared.env,
    dependencies,
    heldOut: await listHeldOut(check, place.heldOut),
    ...(place.kept && { kept: place.kept }),
    readable: [join(real, 'reporters')],
    writable: [reportsFolder(real)],
    signal,
  })
  const run = await readTestRun({
    command: check.run,
    project: room.path,
    projectNow: join(reportsFolder(real), 'files'),
    outputFolder: real,
    stdout: ended.output,
    startedAt,
    ...(check.report !== undefined && { reportPath: check.report }),
  })
  const isSilent = nonce !== undefined && !ended.output.includes(nonce)
  const answer = isSilent ? { killed: 'it did not answer with the word that it was given' } : {}
  return {
    ...describeEnd(ended, check),
    ...answer,
    room: ended.room,
    left: ended.left,
    notes: ended.notes,
    ...(run && { run }),
  }
}

/** Passes the nonce through a pipe, so that code that the check loads later cannot find it. */
function askWithNonce({ nonce }: Check, folder: string, command: string): string {
  if (nonce !== true) return command
  const file = quoteShellWord(join(reportsFolder(folder), 'nonce'))
  return `{ cat ${file}; rm -f ${file}; } | {\n${command}\n}`
}

async function runInPlace(place: CheckPlace, job: CheckJob, folder: string): Promise<CheckRun> {
  const { check, signal } = job
  const { project, mark } = place
  const env = place.confine ? buildCommandEnv(place.env, place.pass) : ownVariables(place.env)
  const prepared = await prepare(place, job, folder, env)
  const startedAt = Date.now()
  const command: CapturedJob = {
    argv: ['/bin/sh', '-c', `exec 2>&1\n${keepReporters(check.run, folder)}`],
    cwd: project,
    env: { ...env, ...prepared.env, [markVariable]: mark },
    timeoutMs: check.timeout,
    mark,
    signal,
  }
  const ended = await (place.confine?.({ ...command, read: [], write: [realPath(folder)] }) ?? runCaptured(command))
  const { output: stdout } = ended
  const named = check.report === undefined ? {} : { reportPath: check.report }
  const run = await readTestRun({ command: check.run, project, outputFolder: folder, stdout, startedAt, ...named })
  const failure = ended.failure === undefined ? {} : { killed: `could not start: ${ended.failure}` }
  return { ...describeEnd(ended, check), ...failure, room: 'in-place', notes: [], ...(run && { run }) }
}

/** Reveals nothing about Ralph to the code under test. */
const markVariable = 'CHECK_RUN'

async function prepare({ assets }: CheckPlace, { only }: CheckJob, outputFolder: string, env: Variables) {
  const prepared = await prepareReporters({ outputFolder, assets, env, ...(only && { only }) })
  await writeReporters(prepared, outputFolder)
  return prepared
}

type CheckEnd = Pick<CheckRun, 'exitCode' | 'output' | 'durationMs'> & {
  readonly timedOut: boolean
  readonly flooded?: true
  readonly isDiskFull?: true
}

function describeEnd({ exitCode, output, durationMs, ...end }: CheckEnd, { timeout }: Check) {
  const killed = describeKill(end, timeout)
  return { exitCode, output, durationMs, ...(killed !== undefined && { killed }) }
}

function describeKill(
  { timedOut, flooded, isDiskFull }: Omit<CheckEnd, 'exitCode' | 'output' | 'durationMs'>,
  timeout: number,
) {
  if (timedOut) return `timed out after ${timeout / 1000} s`
  if (flooded) return 'printed more than 1 GiB'
  return isDiskFull ? 'the disk was full' : undefined
}

/** The room discards its files, including the named report. A report that is already in the tree is not a result. */
function keepReport({ run, report }: Check, folder: string): string {
  if (report === undefined) return `exec 2>&1\n${run}`
  const kept = quoteShellWord(join(reportsFolder(folder), 'files', report))
  return `exec 2>&1
rm -f ${quoteShellWord(report)}
(${run}
)
code=$?
mkdir -p "$(dirname ${kept})" && cp -p ${quoteShellWord(report)} ${kept}
exit $code`
}

export const usesNetwork = (room: CheckRoom | undefined): boolean =>
  typeof room === 'object' && (room.network === true || (room.services ?? []).length > 0)

/** With more files than this, whole folders take the place of those in the project. */
const maxHeldOutFiles = 200

/** Lays everything in the folder over the project, at the same paths. */
async function listHeldOut({ heldOut }: Check, parent: string) {
  if (heldOut === undefined) return []
  const folder = isFolder(join(parent, heldOut)) ? join(parent, heldOut) : heldOut
  const files = await listTree(folder)
  const names = files.length <= maxHeldOutFiles ? files : await listFolder(folder)
  return names.map((name) => ({ from: join(folder, name), at: name }))
}

const ownVariables = (env: Variables): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('RALPH_') ? [] : [[name, value]],
    ),
  )
