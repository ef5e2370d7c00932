import { git } from '../../platform/git.ts'
import type { ProjectWorkspace } from '../../runtime/ports.ts'

/**
 * Also shows the checkpoints on a branch, so that `git log <branch>` lists the work. The branch is never checked out here; if the
 * user has checked it out, it stays where it is.
 */
export const showOnBranch = (workspace: ProjectWorkspace, folder: string, branch: string): ProjectWorkspace => ({
  ...workspace,
  checkpoint: async (iteration, message) => {
    const made = await workspace.checkpoint(iteration, message)
    if (made === undefined) return undefined
    const current = await git({ cwd: folder }, 'symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => '')
    if (current.trim() === branch) throw new Error(`${branch} is checked out, so it cannot show checkpoints`)
    await git({ cwd: folder }, 'update-ref', `refs/heads/${branch}`, made)
    return made
  },
})
