import { RalphError } from '../../contract/errors.ts'
import type { PlanChanges } from '../../host/open-sprint.ts'
import { planFields } from '../../loop/core/sprint.ts'
import { displayPath } from '../io/display-path.ts'
import { confirm } from '../io/confirm.ts'
import type { Io } from '../io/io.ts'
import { diffPlans } from './plan-diff.ts'
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
  { changes, before, after }: PlanChanges,
  options: AcceptOptions,
  io: Io,
): Promise<void> {
  if (options['accept-changes'] === true) return
  if (options.json !== true && io.canAsk) {
    io.print('The plan has changed since the start of the sprint:')
    for (const line of diffPlans(before, after)) io.print(`  ${line}`)
    for (const change of changes.filter((each) => !isSetting(each))) io.print(`  ${change}`)
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

/** The diff shows it; steps and phases have a sentence. */
const isSetting = (change: string): boolean => planFields.some((field) => change.startsWith(field))
