import { join, resolve } from 'node:path'
import { driverNamed } from '../../agents/drivers/registry.ts'
import type { Progress } from '../../contract/progress.ts'
import { exists, readTextSyncIfThere } from '../../platform/files/files.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { detectChecks } from '../../runtime/detect-checks.ts'
import { openWorktree } from '../../storage/git/worktree.ts'
import { driverOf } from '../agents/choose-agent.ts'
import type { Io } from '../io/io.ts'

export type RunPlace = {
  /** Where agents, checks, gates and hooks run: the project, or the same folder in the sprint's worktree. */
  readonly folder: string
  /** Notices for the user. */
  readonly notes: readonly { readonly level: 'info' | 'warning'; readonly text: string }[]
  readonly worktree: Progress['worktreeState']
  readonly choice: Progress['runChoice']
  readonly detectedChecks: Progress['doneWhen']
}

type Given = { readonly project: string; readonly agent?: string; readonly model?: string }

/** What must be known before a run begins: folder, agents and checks. */
export async function placeOf(progress: Progress, given: Given, io: Io): Promise<RunPlace> {
  const choice = choiceOf(progress, given, { ...io, cwd: given.project })
  const { folder, notes, worktree } = await folderOf(progress, given.project, io)
  const missing = choice?.missing?.map((name) => warning(`fallback ${name} is not installed; skipping it`)) ?? []
  return { folder, notes: [...notes, ...missing], worktree, choice, detectedChecks: checksIn(folder, progress) }
}

/** A goal needs a check; phases have gates and use only the checks they name. */
const checksIn = (folder: string, { doneWhen, mode }: Progress): Progress['doneWhen'] =>
  doneWhen || mode === 'standard' ? undefined : detectChecks((name) => readTextSyncIfThere(join(folder, name)))

const warning = (text: string) => ({ level: 'warning' as const, text })

/** A completed sprint gets no new worktree. */
async function folderOf({ worktree, worktreeState, status }: Progress, project: string, io: Io) {
  const isGone = status === 'completed' && worktree !== undefined && !exists(resolve(project, worktree.path))
  if (!worktree || isGone) return { folder: project, notes: [], worktree: worktreeState }
  const { folder, isNew, left } = await openWorktree({ project, worktree })
  const made = `working in the worktree ${worktree.path}, on branch ${worktree.branch}`
  return {
    folder,
    notes: isNew ? [{ level: 'info' as const, text: made }, ...left.map(warning)] : [],
    worktree: isNew || !worktreeState ? { createdAt: io.now() } : worktreeState,
  }
}

/** Applies agent and model of the command line, and lists fallbacks of phases that are not installed. */
function choiceOf({ phases = [] }: Progress, { agent, model }: Given, io: Io): Progress['runChoice'] {
  const works = phases.flatMap((phase) => [phase, ...(phase.steps ?? []).flatMap((step) => step.phases)])
  const lists = agent === undefined ? works.flatMap((work) => (work.agent ? [work.agent] : [])) : []
  for (const first of new Set(lists.flatMap((names) => names.slice(0, 1)))) driverOf(first, io)
  const isMissing = (name: string) => !findProgram(driverNamed(name).program, io.env['PATH'] ?? '', io.cwd)
  const missing = [...new Set(lists.flat())].filter((name) => isMissing(name))
  if (agent === undefined && model === undefined && missing.length === 0) return undefined
  return {
    ...(agent !== undefined && { agent: true }),
    ...(model !== undefined && { model }),
    ...(missing.length > 0 && { missing }),
  }
}
