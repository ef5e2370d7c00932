import type { LiveIteration, Mode } from '../../../contract/progress.ts'
import { chooseAgent } from '../../core/agents.ts'
import { nextAttempt, replaceLive } from '../../core/live-iteration.ts'
import { getEarliestStart, getRetryDelay, malformed } from '../../core/policy.ts'
import { findReport } from '../../core/read-report.ts'
import { restSprint } from '../../core/rest.ts'
import type { Sprint } from '../../core/sprint.ts'
import type { ExhaustedRetries, ExhaustedRetriesEnd, IterationPreview, Way } from '../../core/way.ts'
import { editStep } from './edits.ts'
import { buildGoalPrompt, goalReporting } from './goal-prompt.ts'
import { goalForm, reportSchema } from './goal-report.ts'
import { getGoal } from './goal-state.ts'
import { chooseMode, type ModeChoice } from './iteration-mode.ts'
import { judgeReport } from './judge-report.ts'
import { mergeSteps } from './merge-steps.ts'
import { afterIteration, startIteration } from './next-iteration.ts'
import { findFirstPending } from './steps.ts'

/** One iteration after the other, on steps that the agent plans itself, until the goal is reached. */
export const goalWay: Way = {
  concurrent: false,
  next: (sprint, at) => startIteration(sprint, at, { chooseMode }),
  resume: reassignWaiting,
  preview: (sprint, mode) => previewGoal(sprint, chooseMode(sprint), mode),
  prompt: buildGoalPrompt,
  reporting: () => goalReporting,
  reportSchema,
  purpose: ({ plan }) => plan.goal.trim(),
  usesLock: false,
  countsIdleIterations: true,
  read: (message, prompt) => findReport(goalForm, message, prompt),
  onReport: (sprint, live, end, at) => (end.kind === 'report' ? judgeReport(sprint, live, end.report, at) : undefined),
  onRetriesExhausted,
  onEnded: (sprint, live, at, pause) => afterIteration(sprint, live, at, { chooseMode, pause }),
  recompile: mergeSteps,
  agents: ({ run }) => run?.agents ?? [],
  model: () => undefined,
  retry: () => 'by-policy',
  waitsUntil: () => undefined,
  openSteps: listOpenSteps,
  editStep,
}

/** Moves waiting iterations to an agent of this run that is free, so that they need not wait. */
function reassignWaiting(sprint: Sprint, at: number): Sprint {
  const { agent, until } = chooseAgent(sprint, at)
  const waiting = sprint.live.filter(({ stage, agent: before }) => stage === 'waiting' && before !== undefined)
  if (agent === undefined || until !== undefined || waiting.length === 0) return sprint
  return waiting.reduce<Sprint>((result, live) => replaceLive(result, { ...live, agent }), {
    ...sprint,
    parked: undefined,
    status: 'in-progress',
  })
}

export function previewGoal({ live, stats }: Sprint, choice: ModeChoice, chosenMode?: Mode): IterationPreview {
  const next = { number: stats.currentIteration + 1, mode: choice.mode, step: choice.step?.id }
  const { number, mode, step } = live[0] ?? next
  if (!chosenMode) return { number, mode, step }
  return { number, mode: chosenMode, step: chosenMode === 'executing' ? choice.step?.id : undefined }
}

/** An iteration without a report counts; too many of them need a person. A failed iteration keeps its place for the next run. */
function onRetriesExhausted(sprint: Sprint, live: LiveIteration, failure: ExhaustedRetries): ExhaustedRetriesEnd {
  const { reason, count, at, random } = failure
  if (failure.cause === 'failed-attempt') {
    const times = count > 1 ? `, ${count} times in a row` : ''
    const waiting = replaceLive(sprint, nextAttempt(live))
    return { ends: 'run', decision: restSprint(waiting, 'failed', `${failure.class}: ${reason}${times}`) }
  }
  const ended: LiveIteration = { ...live, verdict: 'malformed', summary: reason }
  if (count < malformed.inARow) {
    const pauseUntil = getEarliestStart(sprint, at + getRetryDelay(malformed.firstMs, count, random))
    return { ends: 'iteration', sprint, live: ended, pauseUntil }
  }
  const question = {
    reason: `The agent gave no valid report ${count} times in a row`,
    details: `The last time: ${reason}. The transcript of iteration ${live.number} shows what it said.`,
    askedAt: at,
  }
  return { ends: 'iteration', sprint: { ...sprint, question }, live: ended }
}

function listOpenSteps(sprint: Sprint): string[] {
  const { dynamicSteps } = getGoal(sprint)
  return dynamicSteps.slice(findFirstPending(dynamicSteps)).map(({ id }) => id)
}
