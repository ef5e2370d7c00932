import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { exists } from '../../platform/files/files.ts'
import { createSprintFolder, sprintPath } from '../../storage/state/sprint-folder.ts'
import { withWorkTree } from '../../storage/state/work-tree-lock.ts'
import { chooseAgents } from '../agents/choose-agent.ts'
import { askYesOrNo } from '../io/confirm.ts'
import { displayPath } from '../io/display-path.ts'
import type { Io } from '../io/io.ts'
import { findSprint, listSprintFolders, lookUpSprint, sprintName } from '../sprint/find-sprint.ts'
import { createGoalSprint, newSprintFolder, renderGoalSprint } from '../sprint/new-sprint.ts'
import { isPlaceholderGoal, slugFromGoal, type SprintInputs } from '../sprint/sprint-files.ts'
import { loadProgress } from '../sprint/sprint-state.ts'

export type SprintRequest = Omit<SprintInputs, 'goal'> & {
  /** The positional argument: a name, a path, or a goal in words. */
  readonly argument: string | undefined
  readonly goal: string | undefined
  /** Resume an unfinished sprint with the same goal, or create a new one; undefined: ask, or resume without a terminal. */
  readonly again?: 'resume' | 'new' | undefined
  readonly json?: boolean | undefined
}

export type ChosenSprint = {
  readonly sprintDir: string
  /** Created by this call: the given limits are in its SPRINT.yaml. */
  readonly isNew: boolean
}

/** Finds the sprint that the user means, or creates one for a goal. */
export async function chooseSprint(request: SprintRequest, io: Io): Promise<ChosenSprint> {
  const { argument, goal } = request
  if (goal !== undefined) return chooseForGoal({ ...request, goal }, io)
  if (argument !== undefined && (await isGoal(argument, io)))
    return chooseForGoal({ ...request, argument: undefined, goal: argument }, io)
  refuseGoalFlags(request)
  if (argument === undefined) return { sprintDir: await findLatest(io), isNew: false }
  const found = await lookUpSprint(argument, io)
  if (found) return { sprintDir: found.sprintDir, isNew: false }
  if (!looksLikePath(argument)) throw unknownSprint(argument)
  return { sprintDir: (await findSprint(argument, io)).sprintDir, isNew: false }
}

const hasOtherChecks = ({ checks }: SprintRequest, progress: Progress | undefined): boolean =>
  checks !== undefined &&
  !isDeepStrictEqual(
    checks,
    progress?.doneWhen?.map(({ run }) => run),
  )

/** Flags that only a new sprint can follow. The command that created a sprint may resume it with the same flags. */
function refuseGoalFlags(request: SprintRequest, progress?: Progress): void {
  const { worktree } = request
  const another = progress === undefined ? '' : ', or create another sprint with --new'
  if (hasOtherChecks(request, progress))
    throw new RalphError('USAGE', 'run: --check belongs to a new sprint with --goal "…"', {
      hint: `write "done-when: [{run: …}]" into the SPRINT.yaml of this one${another}`,
    })
  if (worktree === true && progress?.worktree?.enabled !== true)
    throw new RalphError('USAGE', 'run: --worktree belongs to a new sprint with --goal "…"', {
      hint: `write "worktree: {enabled: true}" into the SPRINT.yaml of this one before its first run${another}`,
    })
}

/** What `chooseSprint` would choose, without writing: the text of a sprint that does not exist yet. */
export async function planSprint(
  request: SprintRequest,
  io: Io,
): Promise<{ readonly sprintDir: string; readonly text?: string }> {
  const { argument } = request
  const goal = request.goal ?? (argument !== undefined && (await isGoal(argument, io)) ? argument : undefined)
  if (goal === undefined) return { sprintDir: (await chooseSprint(request, io)).sprintDir }
  assertGoal(goal)
  const before = request.again === 'new' ? undefined : await findUnfinished({ ...request, goal }, io)
  if (before) {
    refuseGoalFlags(request, before.progress)
    return { sprintDir: before.sprintDir }
  }
  return { sprintDir: newSprintFolder(slugFromGoal(goal), io), text: renderGoalSprint({ ...request, goal }) }
}

const looksLikePath = (text: string): boolean => /[/\\]|\.ya?ml$/.test(text)

/** An empty argument is a goal too, so that it is refused as one. */
const isGoal = async (argument: string, io: Io): Promise<boolean> =>
  argument.trim() === '' || (looksLikeGoal(argument) && (await lookUpSprint(argument, io)) === undefined)

/** Several words are a goal; one word is a name. */
const looksLikeGoal = (text: string): boolean =>
  /\S\s+\S/.test(text.trim()) && !(looksLikePath(text) && /^\S*[/\\]/.test(text))

const unknownSprint = (name: string): RalphError =>
  new RalphError('SPRINT_NOT_FOUND', 'there is no such sprint', {
    place: { file: name },
    hint: `see: ralph list; create one with: ralph init; if it is a goal: ralph run --goal "${name}"`,
  })

async function findLatest(io: Io): Promise<string> {
  const [first] = await listSprintFolders(io)
  if (first === undefined && !exists(sprintPath(io.cwd))) {
    throw new RalphError('USAGE', 'run: this project has no sprint yet', {
      hint: 'say what the agent should achieve: ralph run "Make all tests pass"',
    })
  }
  return (await findSprint(undefined, io, isUnfinished)).sprintDir
}

const isUnfinished = async (sprintDir: string): Promise<boolean> =>
  (await loadProgress(sprintDir).catch(() => undefined))?.status !== 'completed'

async function chooseForGoal(request: SprintRequest & { readonly goal: string }, io: Io): Promise<ChosenSprint> {
  const { goal, argument, agent, again } = request
  assertGoal(goal)
  // Checked again later. Checking here avoids creating a folder when no agent is installed.
  chooseAgents(agent === undefined ? undefined : [agent], io)
  if (argument !== undefined) return createAt(argument, request, io)
  const before = again === 'new' ? undefined : await findUnfinished(request, io)
  if (before && (await shouldResume(before, request, io))) {
    refuseGoalFlags(request, before.progress)
    return { sprintDir: before.sprintDir, isNew: false }
  }
  if (again === 'resume' && !before)
    throw new RalphError('USAGE', 'run: no unfinished sprint has this goal', { hint: 'omit --resume to start one' })
  const create = () => createGoalSprint(request, io)
  // A sprint that cannot start now is not created: the same goal with --worktree would resume it here.
  const sprintDir = request.worktree === true ? await create() : await withWorkTree(io.cwd, slugFromGoal(goal), create)
  io.printError(`new sprint in ${displayPath(sprintDir, io)}`)
  return { sprintDir, isNew: true }
}

function assertGoal(goal: string): void {
  const hint = 'describe what the agent should achieve'
  if (goal.trim() === '') throw new RalphError('RALPH_MISSING_GOAL', 'the goal is empty', { hint })
  if (isPlaceholderGoal(goal)) throw new RalphError('RALPH_MISSING_GOAL', 'the goal is a placeholder', { hint })
}

async function createAt(
  name: string,
  request: SprintRequest & { readonly goal: string },
  io: Io,
): Promise<ChosenSprint> {
  const sprintDir = resolve(io.cwd, name)
  if (!exists(sprintPath(sprintDir))) {
    await createSprintFolder(sprintDir, renderGoalSprint(request))
    return { sprintDir, isNew: true }
  }
  const progress = await loadProgress(sprintDir).catch(() => undefined)
  if (progress && isSameGoal(progress.goal, request.goal)) return { sprintDir, isNew: false }
  throw new RalphError('USAGE', `run: ${name} already has a SPRINT.yaml with a goal`, {
    hint: 'omit --goal, or choose another folder',
  })
}

type UnfinishedSprint = { readonly sprintDir: string; readonly progress: Progress }

/**
 * The last sprint of this project with the same goal that has not reached it. Its folder has the name of the goal. Skips one in
 * which no agent has run, if the user names another check now: the first one may have been a typo that could not start.
 */
async function findUnfinished(
  request: SprintRequest & { readonly goal: string },
  io: Io,
): Promise<UnfinishedSprint | undefined> {
  const { goal } = request
  const slug = slugFromGoal(goal)
  const named = (await listSprintFolders(io)).filter((dir) => {
    const name = dir.replace(/^.*[/\\](?:\d{4}-\d{2}-\d{2}_)?/, '')
    return name === slug || (name.startsWith(`${slug}-`) && /^\d+$/.test(name.slice(slug.length + 1)))
  })
  for (const sprintDir of named.toReversed()) {
    const progress = await loadProgress(sprintDir).catch(() => undefined)
    if (!progress || progress.status === 'completed' || !isSameGoal(progress.goal, goal)) continue
    if (progress.stats.currentIteration > 0 || !hasOtherChecks(request, progress)) return { sprintDir, progress }
  }
  return undefined
}

const isSameGoal = (a: string, b: string): boolean => collapseSpace(a) === collapseSpace(b)

const collapseSpace = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

async function shouldResume(
  { sprintDir, progress }: UnfinishedSprint,
  request: SprintRequest,
  io: Io,
): Promise<boolean> {
  const name = await sprintName(sprintDir, io)
  const state = `${name} has this goal and is not finished (${progress.status}, iteration ${progress.stats.currentIteration})`
  if (request.again === undefined && request.json !== true && io.canAsk) {
    const answer = await askYesOrNo(`${state}. Resume it?`, io, 'yes')
    if (answer === undefined) throw new RalphError('USAGE', 'cancelled; nothing was started')
    return answer === 'yes'
  }
  io.printError(`resuming: ${state}; for a new sprint use --new`)
  return true
}
