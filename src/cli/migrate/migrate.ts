import { resolve } from 'node:path'
import { isErrorDiagnostic } from '../../compiler/parse/diagnostics.ts'
import { RalphError } from '../../contract/errors.ts'
import { openSprint } from '../../host/open-sprint.ts'
import { defineCommand } from '../io/command.ts'
import { displayPath } from '../io/display-path.ts'
import type { Io } from '../io/io.ts'
import { diagnosticLine } from '../sprint/compile-sprint.ts'
import { describeRefusal, inspectProject, type InspectedProject, type InspectedSprint } from './inspect-project.ts'

export const migrate = defineCommand({
  name: 'migrate',
  summary: 'Take over the sprints and workflows of m42-sprint',
  arguments: ['[folder]'],
  options: {
    write: { type: 'boolean', description: 'import the sprints; without it, only say what would happen' },
    json: { type: 'boolean', description: 'print {written, sprints, workflows, refused} as JSON' },
  },
  details: `Reads .claude/sprints and .claude/workflows of the folder (default: the current one). A PROGRESS.yaml of another program is imported with
its steps, counts and hook tasks, and kept as PROGRESS.yaml.imported. Nothing is deleted, and no SPRINT.yaml or workflow is changed.
An import never ends a sprint: "completed" becomes a claim that the next run checks. Exits with 1 if a sprint or workflow is refused.`,
  examples: ['ralph migrate', 'ralph migrate ../other-project --write', 'ralph migrate --json'],
  async run({ values, positionals: [path = '.'] }, io) {
    const found = await inspectProject(resolve(io.cwd, path), io)
    const results = await moveSprints(found.sprints, values.write === true, io)
    const badWorkflows = found.workflows.filter(({ diagnostics }) => diagnostics.some(isErrorDiagnostic))
    const refused = results.filter(({ sprint }) => sprint.move === 'refused').length + badWorkflows.length
    if (values.json === true)
      io.print(JSON.stringify(toJson(found, results, { written: values.write === true, refused }, io)))
    else for (const line of reportLines(found, results, { written: values.write === true, refused }, io)) io.print(line)
    return refused > 0 ? 1 : 0
  },
})

/** `copy`: where the original PROGRESS.yaml is now. */
type MoveResult = { readonly sprint: InspectedSprint; readonly copy?: string }

async function moveSprints(sprints: readonly InspectedSprint[], write: boolean, io: Io): Promise<MoveResult[]> {
  const results: MoveResult[] = []
  for (const sprint of sprints) {
    results.push(write && sprint.move === 'import' ? await importSprint(sprint, io) : { sprint })
  }
  return results
}

/** One sprint that cannot be imported leaves the others alone. */
async function importSprint(sprint: InspectedSprint, io: Io): Promise<MoveResult> {
  try {
    const { store, imported } = await openSprint({
      sprintDir: sprint.dir,
      compiled: sprint.plan?.compiled,
      now: io.now,
    })
    await store.close()
    return { sprint, ...(imported && { copy: imported.copy }) }
  } catch (error) {
    if (!(error instanceof RalphError)) throw error
    return { sprint: { ...sprint, move: 'refused', problems: [describeRefusal(error, io)] } }
  }
}

type MigrationEnd = { readonly written: boolean; readonly refused: number }

const toJson = ({ workflows }: InspectedProject, results: readonly MoveResult[], end: MigrationEnd, io: Io) => ({
  ...end,
  sprints: results.map(({ sprint: { dir, sprintId, move, notes, problems, kept, progress, diagnostics }, copy }) => ({
    folder: displayPath(dir, io),
    sprintId: sprintId ?? null,
    move,
    status: progress?.status ?? null,
    notes,
    problems,
    kept,
    diagnostics,
    ...(copy !== undefined && { copy: displayPath(copy, io) }),
  })),
  workflows: workflows.map(({ file, diagnostics }) => ({ file: displayPath(file, io), diagnostics })),
})

function reportLines(
  { workflows }: InspectedProject,
  results: readonly MoveResult[],
  { written, refused }: MigrationEnd,
  io: Io,
): string[] {
  const imports = results.filter(({ sprint }) => sprint.move === 'import').length
  if (workflows.length + results.length === 0) return ['no sprints and no workflows here']
  return [
    ...workflows.flatMap(({ file, diagnostics }) => [
      `${displayPath(file, io)}  ${diagnostics.some(isErrorDiagnostic) ? 'refused' : 'runs as it is'}`,
      ...diagnostics.map((diagnostic) => `  ${diagnosticLine(diagnostic)}`),
    ]),
    ...results.flatMap((result) => sprintLines(result, written, io)),
    '',
    written
      ? `${imports} of ${results.length} sprints imported, ${refused} refused; nothing was deleted`
      : `${imports} of ${results.length} sprints to import, ${refused} refused; nothing was written. Import them with: ralph migrate --write`,
  ]
}

function sprintLines({ sprint, copy }: MoveResult, written: boolean, io: Io): string[] {
  const { dir, move, progress, notes, problems, kept, diagnostics } = sprint
  // Those of its workflow are listed there.
  const own = diagnostics.filter(({ place }) => place?.file.startsWith(`${displayPath(dir, io)}/`) === true)
  const warnings = own.filter((diagnostic) => !isErrorDiagnostic(diagnostic))
  return [
    `${displayPath(dir, io)}  ${describeMove(sprint, written)}`,
    ...(move === 'import' && progress ? [`  ${describeState(sprint)}`] : []),
    ...notes.map((note) => `  ${note}`),
    ...problems.map((problem) => `  ${problem}`),
    ...warnings.map((warning) => `  ${diagnosticLine(warning)}`),
    ...(copy === undefined ? [] : [`  the original is ${displayPath(copy, io)}`]),
    ...(kept.length > 0 ? [`  not used by Ralph, and left where they are: ${kept.join(', ')}`] : []),
  ]
}

const describeMove = ({ move }: InspectedSprint, written: boolean): string =>
  ({
    import: written ? 'imported' : 'would be imported',
    current: 'is a sprint of Ralph already',
    new: 'has not run; nothing to import',
    refused: 'refused',
  })[move]

function describeState({ progress }: InspectedSprint): string {
  if (!progress) return ''
  const { status, mode, stats, hookTasks } = progress
  const { completedSteps, totalSteps, currentIteration, completedPhases = 0, totalPhases } = stats
  const work =
    totalPhases === undefined
      ? `${completedSteps} of ${totalSteps} steps done`
      : `${completedPhases} of ${totalPhases} phases done`
  return `${mode} mode, ${status}, iteration ${currentIteration}, ${work}, ${hookTasks.length} hook tasks`
}
