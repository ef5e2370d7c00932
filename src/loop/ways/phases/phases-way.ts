import { clipText } from '../../../contract/text.ts'
import type { LiveIteration, SprintStatus } from '../../../contract/progress.ts'
import { PhaseReport } from '../../../contract/report.ts'
import { findReport, listFencedBlocks } from '../../core/read-report.ts'
import type { Sprint } from '../../core/sprint.ts'
import type { AgentMessage, ExhaustedRetries, ExhaustedRetriesEnd, IterationPreview, Way } from '../../core/way.ts'
import type { AttemptEnd } from '../../core/fact.ts'
import { choosePhaseModel, listPhaseAgents } from './agent-choice.ts'
import { applyGateResult, findGate, startGateIfDue } from './gate.ts'
import { mergePhases } from './merge-phases.ts'
import { findDueWork } from './next-work.ts'
import { buildPhasePrompt, describePurpose, formatPhaseReporting } from './phase-prompt.ts'
import { onPhaseReport, phaseReportSchema } from './phase-report.ts'
import { getPhasesState } from './phases-state.ts'
import { reopenFailed, resumeInterrupted } from './reopen-failed.ts'
import { getErrorCategory, planAttempt } from './retry.ts'
import { proceed } from './start-work.ts'
import { closeWork } from './work-ended.ts'
import { getWork } from './work.ts'

/** Through the phases of a workflow and their items, several at a time, with gates between them. */
export const phasesWay: Way = {
  concurrent: true,
  next: proceed,
  resume: resumePhases,
  preview: previewWork,
  prompt: buildPhasePrompt,
  reporting: () => formatPhaseReporting(),
  reportSchema: phaseReportSchema,
  purpose: describePurpose,
  usesLock: false,
  countsIdleIterations: false,
  read: readPhaseReport,
  onReport: (sprint, live, end, at) =>
    end.kind === 'phase-report' ? onPhaseReport(sprint, live, end.report, at) : undefined,
  onRetriesExhausted: failIteration,
  onEnded: closeWork,
  recompile: mergePhases,
  agents: listPhaseAgents,
  model: choosePhaseModel,
  retry: planAttempt,
  waitsUntil: (sprint, { work }) => work && getWork(sprint, work).nextRetryAt,
  openSteps: () => [],
  gate: { find: findGate, start: startGateIfDue, onEnded: applyGateResult },
}

/** Drops why the last run stopped, and retries what failed in it. */
function resumePhases(sprint: Sprint, at: number, before: SprintStatus): Sprint {
  const {
    error: _error,
    failedPhase: _failed,
    blockedAt: _at,
    breakpointPhaseId: _breakpoint,
    ...way
  } = getPhasesState(sprint)
  return resumeInterrupted(reopenFailed({ ...sprint, way }, before), at)
}

/** The work that runs, or the first that would start. */
function previewWork(sprint: Sprint): IterationPreview | undefined {
  const [live] = sprint.live
  const work = live?.work ?? findDueWork(reopenFailed(sprint))?.ref
  const number = live?.number ?? sprint.stats.currentIteration + 1
  return work && { number, mode: 'executing', step: work.step ?? work.phase, work }
}

function readPhaseReport(message: AgentMessage, prompt: string, { plan }: Sprint): AttemptEnd {
  const found = findReport({ schema: PhaseReport }, message, prompt)
  if (found.kind === 'report') return { kind: 'phase-report', report: found.report }
  // A block that is meant as a report but is not a valid one is still asked for again.
  if (plan.report !== 'optional' || listFencedBlocks(message.text).length > 0) return found
  const summary = clipText(message.text.trim(), 500)
  return { kind: 'phase-report', report: { status: 'completed', summary: summary === '' ? 'no report' : summary } }
}

/** The iteration ends, and its work is retried or fails. */
function failIteration(sprint: Sprint, live: LiveIteration, failure: ExhaustedRetries): ExhaustedRetriesEnd {
  const { reason, count } = failure
  if (failure.cause === 'no-report') {
    const error = { category: 'validation', text: reason } as const
    return { ends: 'iteration', sprint, live: { ...live, verdict: 'malformed', summary: reason, error } }
  }
  const times = count > 1 ? `, ${count} times in a row` : ''
  const error = { category: getErrorCategory(failure.class), text: `${reason}${times}` }
  return { ends: 'iteration', sprint, live: { ...live, verdict: 'failed', summary: reason, error } }
}
