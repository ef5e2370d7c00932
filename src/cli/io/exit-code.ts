import type { Progress, SprintStatus } from '../../contract/progress.ts'

/** The exit code of `ralph run` and `ralph watch` for the final status of the sprint: 0 only if the goal is reached. */
export const exitCodes: Readonly<Record<SprintStatus, number>> = {
  completed: 0,
  paused: 4,
  'paused-at-breakpoint': 4,
  'not-started': 1,
  'in-progress': 1,
  parked: 1,
  blocked: 1,
  failed: 1,
  'needs-human': 2,
  'limit-reached': 3,
  interrupted: 130,
}

/** With `--ci`, a goal that no check proved is not a success. */
export function chooseExitCode({ status, ralphExit }: Progress, isCi: boolean): number {
  const isDoubtful = ralphExit.unproven === true || ralphExit.unchecked === true
  return isCi && status === 'completed' && isDoubtful ? 5 : exitCodes[status]
}
