import type { CompiledPhase, CompiledStep } from '../../../contract/phases.ts'
import type { LiveIteration, SprintStatus } from '../../../contract/progress.ts'
import { startAttempt } from '../../core/interrupted.ts'
import { describeSpentLimit } from '../../core/limits.ts'
import type { Sprint } from '../../core/sprint.ts'
import { listPhases, setPhasesState } from './phases-state.ts'
import { hasFailed, isFinished } from './units.ts'
import { getWork, type PhaseWork } from './work.ts'

/** Retries what failed in a blocked sprint, and what was skipped because of it. A gate that blocked runs first. */
export function reopenFailed(sprint: Sprint, status: SprintStatus = sprint.status): Sprint {
  if (status !== 'blocked' && status !== 'failed') return sprint
  const phases = listPhases(sprint).map((phase) => (isFinished(phase) ? phase : reopenPhase(phase)))
  return setPhasesState(sprint, { phases })
}

function reopenPhase(phase: CompiledPhase): CompiledPhase {
  const { steps } = phase
  const again = hasFailed(phase) ? reopenWork(phase) : phase
  return { ...again, ...(steps && { steps: steps.map((step) => reopenStep(step)) }) }
}

function reopenStep(step: CompiledStep): CompiledStep {
  if (step.status === 'skipped') return { ...step, status: 'pending', error: undefined }
  if (isFinished(step)) return step
  const phases = step.phases.map((part) => (hasFailed(part) ? reopenWork(part) : part))
  return { ...step, ...(hasFailed(step) && { status: 'pending' }), phases }
}

/** The error stays for the next prompt. */
function reopenWork<W extends PhaseWork>(work: W): W {
  const { gateTracking } = work
  const again = { ...work, status: 'pending' as const, retryCount: undefined, nextRetryAt: undefined }
  if (gateTracking?.status !== 'blocked') return again
  return { ...again, gateTracking: { ...gateTracking, attempts: 0, status: 'pending' } }
}

/** Restarts interrupted iterations at once; those that wait for a usage limit or a retry continue to wait. */
export function resumeInterrupted(sprint: Sprint, at: number): Sprint {
  if (sprint.parked || describeSpentLimit(sprint) !== undefined) return sprint
  const isDue = ({ stage, work }: LiveIteration) =>
    stage === 'waiting' && ((work && getWork(sprint, work).nextRetryAt) ?? at) <= at
  const live = sprint.live.map((each) => (isDue(each) ? startAttempt(sprint, each, at) : each))
  return { ...sprint, live }
}
