import { RalphError } from '../../contract/errors.ts'
import { displayPath } from '../io/display-path.ts'
import { confirm } from '../io/confirm.ts'
import type { Io } from '../io/io.ts'
import { sprintName } from '../sprint/find-sprint.ts'

type AcceptOptions = {
  readonly sprintDir: string
  readonly 'accept-changes'?: boolean
  readonly json?: boolean
}

/**
 * The plan is pinned at the start: a change of SPRINT.yaml, of a workflow or of the user's configuration takes effect only if
 * the user accepts it, because an agent may have made it.
 */
export async function requireAcceptedChanges(
  changes: readonly string[],
  options: AcceptOptions,
  io: Io,
): Promise<void> {
  if (options['accept-changes'] === true) return
  if (options.json !== true && io.isTerminal) {
    io.print('The plan has changed since the start of the sprint:')
    for (const change of changes) io.print(`  ${change}`)
    if (await confirm('Did you make these changes, and should they take effect?', io)) return
  }
  const name = await sprintName(options.sprintDir, io)
  throw new RalphError('PLAN_CHANGED', `the plan has changed since the start of the sprint: ${changes.join('; ')}`, {
    place: { file: displayPath(options.sprintDir, io) },
    hint: `accept it with: ralph run ${name} --accept-changes; or undo the change in SPRINT.yaml, its workflow or config.yaml`,
  })
}

export const confirmMove = (from: string, io: Io): Promise<boolean> =>
  confirm(`The state of this sprint belongs to ${from}, which no longer exists. Was the folder moved?`, io)
