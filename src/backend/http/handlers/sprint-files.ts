import { RalphError } from '../../../contract/errors.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import { diffSprint, finishSprint, planFinish, previewRestore, restoreSprint } from '../../sprints/sprint-files.ts'
import { getSprint } from '../../views/sprints.ts'
import type { RouteHandlers } from '../calls/call.ts'

type SprintFileRoute = Pick<
  RouteHandlers,
  'diffSprint' | 'previewRestore' | 'restoreSprint' | 'previewFinish' | 'finishSprint'
>

export const sprintFileHandlers = (fleet: Fleet): SprintFileRoute => ({
  diffSprint: ({ ids, query }) => diffSprint(fleet, ids.sprintId, query),
  previewRestore: ({ ids, query }) => previewRestore(fleet, ids.sprintId, query.iteration),
  restoreSprint: async ({ ids, body, revision }) => {
    const { rev } = await getSprint(fleet.database.db, ids.sprintId)
    if (revision !== undefined && revision !== rev) {
      throw new RalphError('REVISION_STALE', `the sprint has changed: it is now at revision ${rev}`, {
        hint: 'reload it, then decide',
      })
    }
    const { saved } = await restoreSprint(fleet, ids.sprintId, body.iteration)
    return { success: true, ...(saved !== '' && { saved }) }
  },
  previewFinish: ({ ids }) => planFinish(fleet, ids.sprintId),
  finishSprint: ({ ids, body, who }) => finishSprint(fleet, ids.sprintId, body, who.user),
})
