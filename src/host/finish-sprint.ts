import type { FinishedSprint, FinishPlan, FinishSprint } from '../contract/fleet/sprint.ts'
import type { GitAuthor } from '../platform/git.ts'
import { commitFinishedWork, findFinishedWork, readFinishableWork } from '../storage/git/finish-work.ts'
import type { WorkspaceOptions } from '../storage/git/repositories.ts'
import type { HostEnvironment } from './create-ports.ts'

/** Upper bound of the names in one list of a plan. */
const maxNames = 1000

export async function planFinish(options: WorkspaceOptions): Promise<FinishPlan> {
  const works = await readFinishableWork(options)
  return {
    repositories: works.map(({ work: { repository, branch, mixed, untouched, conflicts }, files, edited }) => ({
      root: repository.root,
      ...(branch !== undefined && { branch }),
      files: files.slice(0, maxNames),
      moreFiles: Math.max(0, files.length - maxNames),
      mixed: mixed.slice(0, maxNames),
      untouched: untouched.slice(0, maxNames),
      edited: edited.slice(0, maxNames),
      conflicts: conflicts.slice(0, maxNames),
    })),
  }
}

type FinishRequest = FinishSprint & { readonly author?: GitAuthor | undefined; readonly env: HostEnvironment }

/** A repeated request returns the commits of the first one. */
export async function finishSprint(
  options: WorkspaceOptions,
  { message, branch, author, env }: FinishRequest,
): Promise<FinishedSprint> {
  const works = await readFinishableWork(options)
  const target = branch === undefined ? ({ kind: 'head' } as const) : ({ kind: 'branch', name: branch } as const)
  const known = await Promise.all(works.map(({ work }) => findFinishedWork(work, target, message)))
  const show = (number: number, commit: string, staged: readonly string[]) => {
    const { repository, branch: current } = works[number]?.work ?? {}
    const on = branch ?? current
    return { root: repository?.root ?? '', ...(on !== undefined && { branch: on }), commit, staged: [...staged] }
  }
  const isRepeated = known.some((commit) => commit !== undefined)
  if (isRepeated && (branch !== undefined || works.every(({ work }) => work.changes.length === 0)))
    return { commits: known.flatMap((commit, number) => (commit === undefined ? [] : [show(number, commit, [])])) }
  const { sprintDir } = options
  const committed = await commitFinishedWork(works, { sprintDir, message, target, env, author })
  const todo = works.flatMap(({ work }, number) => (work.changes.length > 0 ? [number] : []))
  return {
    commits: committed.map(({ commit, staged }, index) => show(todo[index] ?? 0, commit, staged)),
  }
}
