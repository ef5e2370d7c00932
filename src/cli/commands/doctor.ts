import { z } from 'zod'
import { Progress } from '../../contract/progress.ts'
import type { Finding } from '../../doctor/finding.ts'
import { checkInvariants } from '../../doctor/invariants.ts'
import { examineSprint, type SprintExamination } from '../../doctor/examine.ts'
import { repairSprint } from '../../doctor/repair.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { defineCommand } from '../io/command.ts'
import { examineMachine, type MachineObservation } from '../agents/examine-machine.ts'
import type { Io } from '../io/io.ts'
import { toOneLine } from '../../words/text.ts'
import { createPaint } from '../io/paint.ts'
import { displayPath } from '../io/display-path.ts'

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check this machine or a sprint, and repair what is safe to repair',
  arguments: ['[sprint-dir]'],
  options: {
    repair: {
      type: 'boolean',
      description: 'repair what can be repaired without data loss, and list the repairs',
    },
    json: { type: 'boolean', description: 'print {machine, sprint, repaired} as JSON' },
  },
  details:
    'Exits with 1 only if the sprint breaks a rule; a program missing on the machine is a warning. See docs/guide/doctor.md.',
  examples: ['ralph doctor', 'ralph doctor .claude/sprints/2026-11-15_auth', 'ralph doctor s --repair'],
  async run({ values, positionals: [given] }, io) {
    const sprintDir = given === undefined ? undefined : openSprintFolder(given)
    const repaired =
      sprintDir !== undefined && values.repair === true ? await repairSprint({ sprintDir, now: io.now }) : []
    const machine = await examineMachine(sprintDir ?? io.cwd, io)
    const sprint = sprintDir === undefined ? undefined : await examineSprintFolder(sprintDir)
    if (values.json === true) io.print(JSON.stringify({ machine, sprint: sprint && sprintJson(sprint, io), repaired }))
    else for (const line of doctorLines(machine, sprint, repaired, io)) io.print(line)
    return sprint?.findings.some(({ level }) => level === 'broken') ? 1 : 0
  },
})

type SprintDiagnosis = {
  readonly sprintDir: string
  readonly examined: SprintExamination
  readonly progress: Progress | undefined
  readonly findings: readonly Finding[]
}

async function examineSprintFolder(sprintDir: string): Promise<SprintDiagnosis> {
  const found = await examineSprint(sprintDir)
  const { findings, progress } = checkInvariants(found)
  return { sprintDir, examined: found, progress, findings: [...found.fileFindings, ...findings] }
}

const sprintJson = (
  { sprintDir, examined: { owner, entries, segments }, progress, findings }: SprintDiagnosis,
  io: Io,
) => ({
  folder: displayPath(sprintDir, io),
  running: owner ?? null,
  records: entries.length,
  segments: segments.length,
  progress: progress ? z.encode(Progress, progress) : null,
  findings,
})

function doctorLines(
  machine: readonly MachineObservation[],
  sprint: SprintDiagnosis | undefined,
  repaired: readonly string[],
  io: Io,
): string[] {
  const { bold, green, yellow, dim } = createPaint(io.color)
  const seen = machine.map(({ ok, name, text }) => `  ${ok ? green('✓') : yellow('!')} ${name.padEnd(10)} ${text}`)
  return [
    bold('machine'),
    ...seen,
    ...repaired.map((done) => `${green('repaired')}  ${shortenPaths(done, io)}`),
    ...(sprint ? ['', ...sprintLines(sprint, io)] : ['', dim('to check a sprint: ralph doctor <sprint-dir>')]),
  ]
}

function sprintLines({ sprintDir, examined, progress, findings }: SprintDiagnosis, io: Io): string[] {
  const { owner, hasState } = examined
  const { bold, green, red, yellow, dim } = createPaint(io.color)
  const isBroken = findings.some(({ level }) => level === 'broken')
  const unchecked = `  ${yellow('!')} not checked: its state belongs to another user, or is in another RALPH_HOME`
  const held = hasState ? `  ${green('✓')} every rule holds` : unchecked
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
  const runs = entries.filter(({ kind }) => kind === 'run').length
  if (progress) {
    return `${progress.status}, iteration ${progress.stats.currentIteration}; ${entries.length} records of ${runs} runs`
  }
  if (!hasState) return `${shown?.status ?? 'unknown'} according to PROGRESS.yaml`
  return segments.length > 0 ? 'has a journal that cannot be read' : 'has no journal yet; the first run creates one'
}

/** Shows absolute paths relative to the current folder. */
const shortenPaths = (text: string, io: Io): string => toOneLine(text.replaceAll(`${io.cwd}/`, ''))
