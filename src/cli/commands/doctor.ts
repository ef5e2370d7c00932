import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Finding } from '../../doctor/finding.ts'
import { checkInvariants } from '../../doctor/invariants.ts'
import { examineSprint, type ExaminationDepth, type SprintExamination } from '../../doctor/examine.ts'
import { repairSprint } from '../../doctor/repair.ts'
import { findSprint } from '../sprint/find-sprint.ts'
import { readLockOwner } from '../../platform/files/file-lock.ts'
import { ralphHome } from '../../platform/ralph-home.ts'
import { packageVersion } from '../io/assets.ts'
import { encodeShownProgress } from '../../storage/state/shown-progress.ts'
import { defineCommand } from '../io/command.ts'
import { caOption } from '../serve/ca-option.ts'
import { examineMachine, type MachineObservation } from '../agents/examine-machine.ts'
import type { Io } from '../io/io.ts'
import { toOneLine } from '../../words/text.ts'
import { createPaint } from '../io/paint.ts'
import { printWrapped } from '../io/print-wrapped.ts'
import { pluralize } from '../../words/counts.ts'
import { displayPath } from '../io/display-path.ts'

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check this machine or a sprint, and repair what is safe to repair',
  arguments: ['[sprint]'],
  options: {
    repair: {
      type: 'boolean',
      description: 'repair what can be repaired without data loss, and list the repairs',
    },
    all: {
      type: 'boolean',
      description: 'replay the whole journal of a long sprint; default: its end, and the checksums of all of it',
    },
    backend: {
      type: 'string',
      value: 'URL',
      description: 'check a deployment instead; RALPH_TOKEN of an admin shows more',
    },
    alive: {
      type: 'boolean',
      description: 'only exit with 0 if a backend or an agents-server runs here (for containers)',
    },
    ca: caOption,
    json: { type: 'boolean', description: 'print {machine, sprint, repaired} as JSON; with --backend {backend}' },
  },
  details:
    'Exits with 1 only if the sprint breaks a rule, or --backend finds something wrong; a program missing on the machine is a warning. See docs/guides/troubleshooting.md.',
  examples: ['ralph doctor', 'ralph doctor auth', 'ralph doctor auth --repair'],
  async run({ values, positionals: [sprintArgument] }, io) {
    if (values.alive === true) return examineLife(io)
    if (values.backend !== undefined) return examineDeployment(values.backend, values, io)
    const sprintDir = sprintArgument === undefined ? undefined : (await findSprint(sprintArgument, io)).sprintDir
    const repaired =
      sprintDir !== undefined && values.repair === true ? await repairSprint({ sprintDir, now: io.now }) : []
    const machine = await examineMachine(sprintDir ?? io.cwd, io)
    const sprint =
      sprintDir === undefined ? undefined : await examineSprintFolder(sprintDir, values.all === true ? 'all' : 'newest')
    if (values.json === true) io.print(JSON.stringify({ machine, sprint: sprint && sprintJson(sprint, io), repaired }))
    else printWrapped(doctorLines(machine, sprint, repaired, io), io)
    return sprint?.findings.some(({ level }) => level === 'broken') ? 1 : 0
  },
})

/** A container is alive while its backend answers, or its agents-server holds its lock. */
async function examineLife(io: Io): Promise<number> {
  const home = ralphHome(io)
  if (readLockOwner(join(home, 'machine', 'lock')) !== undefined) return 0
  const { findRunningBackend } = await import('../serve/running-backend.ts')
  const served = findRunningBackend(undefined, io)
  const isAlive = served
    ? await served.fetch(new URL('/healthz', served.address)).then(
        ({ ok }) => ok,
        () => false,
      )
    : false
  if (!isAlive) io.printError('neither a backend nor an agents-server runs here')
  return isAlive ? 0 : 1
}

async function examineDeployment(
  address: string,
  { ca, json }: { readonly ca?: string; readonly json?: boolean },
  io: Io,
): Promise<number> {
  if (!URL.canParse(address) || !/^https?:/.test(address))
    throw new RalphError('USAGE', `--backend expects an address like https://ralph.example.com, not "${address}"`)
  const { examineBackend } = await import('../serve/examine-backend.ts')
  const { createRemoteClient, createLocalClient } = await import('../serve/running-backend.ts')
  const url = new URL(address)
  const remote = createRemoteClient(url.origin, { ca }, io)
  const { fetch: send, client } = remote.client ? remote : (createLocalClient(url.origin, { ca }, io) ?? remote)
  const seen = await examineBackend({ url, fetch: send, client, version: packageVersion(), now: io.now })
  const { green, red, dim } = createPaint(io.useColor)
  if (json === true) io.print(JSON.stringify({ backend: seen }))
  else
    for (const { name, ok, text, hint } of seen)
      io.print(
        `  ${ok ? green('✓') : red('✗')} ${name.padEnd(10)} ${text}${hint === undefined ? '' : dim(`  (${hint})`)}`,
      )
  return seen.every(({ ok }) => ok) ? 0 : 1
}

type SprintDiagnosis = {
  readonly sprintDir: string
  readonly examined: SprintExamination
  readonly progress: Progress | undefined
  readonly findings: readonly Finding[]
}

async function examineSprintFolder(sprintDir: string, depth: ExaminationDepth): Promise<SprintDiagnosis> {
  const found = await examineSprint(sprintDir, depth)
  const { findings, progress } = checkInvariants(found)
  return { sprintDir, examined: found, progress, findings: [...found.fileFindings, ...findings] }
}

const sprintJson = (
  { sprintDir, examined: { owner, entries, segments }, progress, findings }: SprintDiagnosis,
  io: Io,
) => ({
  folder: displayPath(sprintDir, io),
  running: owner ?? null,
  records: entries.length + sumUnchecked(segments).records,
  segments: segments.length,
  progress: progress ? encodeShownProgress(progress) : null,
  findings,
})

function doctorLines(
  machine: readonly MachineObservation[],
  sprint: SprintDiagnosis | undefined,
  repaired: readonly string[],
  io: Io,
): string[] {
  const { bold, green, yellow, dim } = createPaint(io.useColor)
  const seen = machine.map(({ ok, name, text }) => `  ${ok ? green('✓') : yellow('!')} ${name.padEnd(10)} ${text}`)
  return [
    bold('machine'),
    ...seen,
    ...repaired.map((done) => `${green('repaired')}  ${shortenPaths(done, io)}`),
    ...(sprint ? ['', ...sprintLines(sprint, io)] : ['', dim('to check a sprint: ralph doctor <sprint>')]),
  ]
}

function sprintLines({ sprintDir, examined, progress, findings }: SprintDiagnosis, io: Io): string[] {
  const { owner, hasState } = examined
  const { bold, green, red, yellow, dim } = createPaint(io.useColor)
  const isBroken = findings.some(({ level }) => level === 'broken')
  const unchecked = `  ${yellow('!')} not checked: its state belongs to another user, or is in another RALPH_HOME`
  const skipped = sumUnchecked(examined.segments).records
  const older = skipped === 0 ? '' : dim(`  (the first ${skipped} records are intact; --all checks what they say)`)
  const held = hasState ? `  ${green('✓')} every rule holds${older}` : unchecked
  return [
    `${bold(displayPath(sprintDir, io))}  ${describeState(examined, progress)}`,
    ...(owner === undefined ? [] : [dim(`  running (${owner})`)]),
    ...findings.map(({ invariant, level, text }) => {
      const mark = level === 'broken' ? red(`✗ ${invariant}`) : yellow(`! ${invariant}`)
      return `  ${mark}  ${shortenPaths(text, io)}`
    }),
    isBroken
      ? `  ${red('a rule is broken')}; repair what is safe to repair: ralph doctor ${displayPath(sprintDir, io)} --repair`
      : held,
  ]
}

function describeState(
  { entries, segments, hasState, shown }: SprintExamination,
  progress: Progress | undefined,
): string {
  const skipped = sumUnchecked(segments)
  const runs = entries.filter(({ kind }) => kind === 'run').length + skipped.runs
  if (progress) {
    const records = entries.length + skipped.records
    return `${progress.status}, iteration ${progress.stats.currentIteration}; ${pluralize(records, 'record')} of ${pluralize(runs, 'run')}`
  }
  if (!hasState) return `${shown?.status ?? 'unknown'} according to PROGRESS.yaml`
  return segments.length > 0 ? 'has a journal that cannot be read' : 'has no journal yet; the first run creates one'
}

const sumUnchecked = (segments: SprintExamination['segments']) =>
  segments.reduce(
    (sum, { unchecked }) => ({
      records: sum.records + (unchecked?.records ?? 0),
      runs: sum.runs + (unchecked?.runs ?? 0),
    }),
    { records: 0, runs: 0 },
  )

/** Shows absolute paths relative to the current folder. */
const shortenPaths = (text: string, io: Io): string => toOneLine(text.replaceAll(`${io.cwd}/`, ''))
