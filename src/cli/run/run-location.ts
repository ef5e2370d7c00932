import { resolve } from 'node:path'
import { getDriver } from '../../agents/drivers/registry.ts'
import type { Progress } from '../../contract/progress.ts'
import { Check } from '../../contract/check.ts'
import { findChecks } from '../../host/find-checks.ts'
import { exists } from '../../platform/files/files.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { openWorktree } from '../../storage/git/worktree.ts'
import { requireInstalledDriver } from '../agents/choose-agent.ts'
import { askLine } from '../io/confirm.ts'
import type { Io } from '../io/io.ts'

export type RunLocation = {
  /** Where agents, checks, gates and hooks run: the project, or the same folder in the sprint's worktree. */
  readonly folder: string
  /** Notices for the user. */
  readonly notes: readonly { readonly level: 'info' | 'warning'; readonly text: string }[]
  readonly worktree: Progress['worktreeState']
  readonly choice: Progress['runChoice']
  readonly detectedChecks: Progress['doneWhen']
}

type RunLocationOptions = {
  readonly project: string
  readonly agent?: string
  readonly model?: string
  readonly proof?: 'required' | 'optional' | undefined
  readonly json?: boolean
}

/** What must be known before a run begins: folder, agents and checks. */
export async function resolveRunLocation(
  progress: Progress,
  options: RunLocationOptions,
  io: Io,
): Promise<RunLocation> {
  const choice = resolveAgentChoice(progress, options, { ...io, cwd: options.project })
  const { folder, notes, worktree } = await resolveRunFolder(progress, options.project, io)
  const missing = choice?.missing?.map((name) => warningNotice(`fallback ${name} is not installed; skipping it`)) ?? []
  return {
    folder,
    notes: [...notes, ...missing],
    worktree,
    choice,
    detectedChecks: await detectChecksIn(folder, progress, options.json === true ? undefined : io),
  }
}

/** A goal needs a check; phases have gates and use only the checks they name. */
async function detectChecksIn(
  folder: string,
  { doneWhen, phases }: Progress,
  io: Io | undefined,
): Promise<Progress['doneWhen']> {
  if (doneWhen || phases) return undefined
  const found = await findChecks(folder)
  return found.length > 0 || !io ? found : askForCheck(io)
}

/** Asks once: the answer, also "none", becomes part of the sprint. */
async function askForCheck(io: Io): Promise<Check[]> {
  const question = 'No check was found. Which command must pass before the goal counts as reached? (Enter: none)\n> '
  const command = await askLine(question, io)
  return command === undefined || command === '' || command === 'none' ? [] : [Check.parse({ run: command })]
}

const warningNotice = (text: string) => ({ level: 'warning' as const, text })

/** A completed sprint gets no new worktree. */
async function resolveRunFolder({ worktree, worktreeState, status }: Progress, project: string, io: Io) {
  const isGone = status === 'completed' && worktree !== undefined && !exists(resolve(project, worktree.path))
  if (!worktree || isGone) return { folder: project, notes: [], worktree: worktreeState }
  const { folder, isNew, warnings: left } = await openWorktree({ project, worktree })
  const made = `working in the worktree ${worktree.path}, on branch ${worktree.branch}`
  return {
    folder,
    notes: isNew ? [{ level: 'info' as const, text: made }, ...left.map(warningNotice)] : [],
    worktree: isNew || !worktreeState ? { createdAt: io.now() } : worktreeState,
  }
}

/** Applies agent and model of the command line, and lists fallbacks of phases that are not installed. */
function resolveAgentChoice(
  { phases = [] }: Progress,
  { agent, model, proof }: RunLocationOptions,
  io: Io,
): Progress['runChoice'] {
  const works = phases.flatMap((phase) => [phase, ...(phase.steps ?? []).flatMap((step) => step.phases)])
  const lists = agent === undefined ? works.flatMap((work) => (work.agent ? [work.agent] : [])) : []
  for (const first of new Set(lists.flatMap((names) => names.slice(0, 1)))) requireInstalledDriver(first, io)
  const isMissing = (name: string) => !findProgram(getDriver(name).program, io.env['PATH'] ?? '', io.cwd)
  const missing = [...new Set(lists.flat())].filter((name) => isMissing(name))
  if ([agent, model, proof].every((choice) => choice === undefined) && missing.length === 0) return undefined
  return {
    ...(proof !== undefined && { proof }),
    ...(agent !== undefined && { agent: true }),
    ...(model !== undefined && { model }),
    ...(missing.length > 0 && { missing }),
  }
}
