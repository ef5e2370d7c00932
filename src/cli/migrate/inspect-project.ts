import { basename, dirname, join } from 'node:path'
import { isErrorDiagnostic, type Diagnostic } from '../../compiler/parse/diagnostics.ts'
import { validateWorkflow } from '../../compiler/validate.ts'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { exists, isFile, isFolder, listFolder, readTextIfExists } from '../../platform/files/files.ts'
import { progressPath, sprintPath } from '../../storage/state/sprint-folder.ts'
import { readSeedFile } from '../../storage/state/read-seed.ts'
import { displayPath } from '../io/display-path.ts'
import type { Io } from '../io/io.ts'
import { compileInputs, diagnosticLine } from '../sprint/compile-sprint.ts'
import { compilePlan, type SprintPlan } from '../sprint/compile-plan.ts'
import { loadProgress } from '../sprint/sprint-state.ts'

/**
 * `import`: has the PROGRESS.yaml of another program. `current`: Ralph's own. `new`: never compiled. `refused`: cannot be
 * taken over, and `problems` say why.
 */
export type SprintMove = 'import' | 'current' | 'new' | 'refused'

export type InspectedSprint = {
  readonly dir: string
  readonly sprintId: string | undefined
  readonly move: SprintMove
  readonly plan: SprintPlan | undefined
  readonly progress: Progress | undefined
  /** What the import changes or leaves behind. */
  readonly notes: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
  readonly problems: readonly string[]
  /** Files of the other program that Ralph neither reads nor touches. */
  readonly kept: readonly string[]
}

export type InspectedWorkflow = { readonly file: string; readonly diagnostics: readonly Diagnostic[] }

export type InspectedProject = {
  readonly sprints: readonly InspectedSprint[]
  readonly workflows: readonly InspectedWorkflow[]
}

/** Looks at the sprints and workflows of a project, and writes nothing. */
export async function inspectProject(path: string, io: Io): Promise<InspectedProject> {
  const claude = findClaudeFolder(path)
  const workflows = join(claude, 'workflows')
  const names = (await listFolder(workflows)).filter((name) => /\.ya?ml$/.test(name)).toSorted()
  const dirs = (await listFolder(join(claude, 'sprints'))).toSorted().map((name) => join(claude, 'sprints', name))
  const found: InspectedSprint[] = []
  for (const dir of dirs.filter(isSprintFolder)) found.push(await inspectSprint(dir, io))
  return {
    workflows: await Promise.all(names.map((name) => inspectWorkflow(workflows, name, io))),
    sprints: refuseSharedIds(found),
  }
}

/** The user may name the project, its `.claude`, or the folder with the sprints. */
function findClaudeFolder(path: string): string {
  const claude = [join(path, '.claude'), path, dirname(path)].find(
    (folder) => basename(folder) === '.claude' && isFolder(folder),
  )
  if (claude !== undefined) return claude
  throw new RalphError('FILE_NOT_FOUND', 'there is no .claude folder with sprints or workflows', {
    place: { file: path },
    hint: 'give the folder of the project',
  })
}

const isSprintFolder = (dir: string): boolean => isFolder(dir) && (exists(sprintPath(dir)) || exists(progressPath(dir)))

async function inspectWorkflow(folder: string, name: string, io: Io): Promise<InspectedWorkflow> {
  const file = join(folder, name)
  const text = (await readTextIfExists(file)) ?? ''
  const { diagnostics } = validateWorkflow({ file: displayPath(file, io), text }, compileInputs(folder, io))
  return { file, diagnostics }
}

async function inspectSprint(dir: string, io: Io): Promise<InspectedSprint> {
  const kept = await listForeignFiles(dir)
  try {
    const seed = await readSeedFile(dir)
    const { plan, diagnostics } = await compilePlan({ sprintDir: dir }, io)
    const progress = seed?.progress ?? (await loadProgress(dir))
    const problems = plan ? listProblems(progress, plan) : diagnostics.filter(isErrorDiagnostic).map(diagnosticLine)
    const move = problems.length > 0 ? 'refused' : seed ? 'import' : progress ? 'current' : 'new'
    const sprintId = progress?.sprintId ?? plan?.configured.sprintId
    return { dir, sprintId, move, plan, progress, notes: seed?.notes ?? [], diagnostics, problems, kept }
  } catch (error) {
    if (!(error instanceof RalphError)) throw error
    const problems = [describeRefusal(error, io)]
    const nothing = { sprintId: undefined, plan: undefined, progress: undefined, notes: [], diagnostics: [] }
    return { dir, ...nothing, move: 'refused', problems, kept }
  }
}

/** One line with place, code, message and what to do. */
export function describeRefusal({ code, message, place, hint }: RalphError, io: Io): string {
  const shown = place && { place: { ...place, file: displayPath(place.file, io) } }
  return diagnosticLine({ severity: 'error', code, message, ...shown, ...(hint !== undefined && { hint }) })
}

const listProblems = (progress: Progress | undefined, { compiled }: SprintPlan): string[] =>
  progress && compiled && progress.mode !== compiled.mode && progress.status !== 'not-started'
    ? [`PROGRESS.yaml is in ${progress.mode} mode, its workflow in ${compiled.mode} mode`]
    : []

/** Two sprints with one id would share the refs of their checkpoints and the names of their reports. */
function refuseSharedIds(sprints: readonly InspectedSprint[]): InspectedSprint[] {
  return sprints.map((sprint) => {
    const others = sprints.filter(
      ({ sprintId, dir }) => sprintId !== undefined && sprintId === sprint.sprintId && dir !== sprint.dir,
    )
    if (others.length === 0) return sprint
    const names = others.map(({ dir }) => basename(dir)).join(', ')
    const problem = `sprint-id ${sprint.sprintId ?? ''} is also that of ${names}; give one of them another`
    return { ...sprint, move: 'refused', problems: [...sprint.problems, problem] }
  })
}

const foreignFiles =
  /^(?:PROGRESS\.yaml\.(?:checksum|backup|checksum\.backup|tmp\.\d+)|transcriptions|logs|artifacts|BACKLOG\.yaml|timing\.jsonl|\.sprint-.*|\.agent-events\.jsonl|\.(?:pause|resume|stop|force-retry)-requested)$/

const listForeignFiles = async (dir: string): Promise<string[]> =>
  (await listFolder(dir))
    .filter((name) => foreignFiles.test(name) && (isFile(join(dir, name)) || isFolder(join(dir, name))))
    .toSorted()
