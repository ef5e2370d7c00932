import { clipText } from '../../../contract/text.ts'
import type { Mode, Step } from '../../../contract/progress.ts'
import { isStuck } from '../../core/limits.ts'
import {
  formatAnswer,
  formatFeedback,
  formatLearnings,
  formatSharedContext,
  formatMessages,
  promptLimits,
  toOneLine,
  formatRefusals,
  defuseOldReportForm,
} from '../../core/prompt-sections.ts'
import type { Sprint } from '../../core/sprint.ts'
import type { PromptInput } from '../../core/way.ts'
import { getGoal } from './goal-state.ts'
import { findFirstPending } from './steps.ts'

type PromptFor = Pick<PromptInput, 'number' | 'mode' | 'step' | 'smallPrompt' | 'notes' | 'shared'>

/** Builds the prompt of one iteration. The agent starts with a fresh context, so it contains everything the agent must know. */
export function buildGoalPrompt(sprint: Sprint, iteration: PromptFor): string {
  const background = iteration.smallPrompt ? [] : [formatLearnings(iteration.notes)]
  const sections = [
    formatGoalHeading(sprint, iteration),
    `## Goal\n\n${sprint.plan.goal.trim()}`,
    formatSharedContext(iteration.shared),
    ...bodies[iteration.mode](sprint, iteration),
    formatNoProgress(sprint),
    formatMinIterations(sprint, iteration.number),
    formatRefusals(sprint, iteration.smallPrompt ? promptLimits.outputCharacters / 4 : promptLimits.outputCharacters),
    formatFeedback(sprint),
    formatAnswer(sprint),
    formatMessages(sprint),
    ...background,
    formatGoalRules(sprint),
    goalReporting,
  ]
  return defuseOldReportForm(`${sections.filter((section) => section !== undefined).join('\n\n')}\n`)
}

const bodies: Record<Mode, (sprint: Sprint, iteration: PromptFor) => (string | undefined)[]> = {
  planning: (sprint) => [
    getTask('planning'),
    trimOptional(getGoal(sprint).ralph.goalPrompt),
    formatCompletedSteps(sprint),
  ],
  executing: (sprint, { step, smallPrompt }) => [
    formatCurrentStep(sprint, step),
    getTask('executing'),
    ...(smallPrompt ? [] : [formatPendingSteps(sprint, step), formatCompletedSteps(sprint)]),
  ],
  reflecting: (sprint) => [
    getTask('reflecting'),
    trimOptional(getGoal(sprint).ralph.reflectionPrompt),
    formatPendingSteps(sprint, undefined),
    formatCompletedSteps(sprint),
  ],
}

const formatGoalHeading = ({ id, stats }: Sprint, { number, mode }: PromptFor): string => {
  const limit = stats.maxIterations < 1_000_000 ? ` of at most ${stats.maxIterations}` : ''
  return `# Ralph: ${mode}\n\nSprint ${id}, iteration ${number}${limit}. You work autonomously; no one can answer questions while you work.`
}

const tasks: Record<Mode, string> = {
  planning: `## Your task

1. Look at the project as it is now, before you decide anything.
2. Break the goal into concrete steps, each small enough to be done well in one session and with a result that can be checked.
3. Report the steps in the order in which to do them. You may do the first one now; then leave it out of pendingSteps.`,
  executing: `## Your task

Do this one step and do it well: look at the code first, make the change, and verify it (run the tests, try it out). If it is
already done, say so and report it as completed. If you find that more is needed for the goal, report new steps instead of
doing them now. Then stop.`,
  reflecting: `## Your task

Stop and think: the work has stalled. Look at the project as it is now and decide:

- The goal is fully reached, every criterion in it: verify it yourself, then report goal-complete.
- Something is missing: report it as new steps.
- You cannot continue without a person: report needs-human with one clear question.`,
}

const getTask = (mode: Mode): string => tasks[mode]

const trimOptional = (text: string | undefined): string | undefined => text?.trim() || undefined

function formatCurrentStep(sprint: Sprint, id: string | undefined): string {
  const step = findStep(sprint, id)
  if (!step) return '## Current step\n\nNo step is pending; report what you see.'
  return `## Current step: ${step.id}\n\n${step.prompt.trim()}`
}

/** Fast path: usually it is the first pending step. */
function findStep(sprint: Sprint, id: string | undefined): Step | undefined {
  const { dynamicSteps: steps } = getGoal(sprint)
  const first = steps[findFirstPending(steps)]
  return first?.id === id ? first : steps.find((step) => step.id === id)
}

function formatPendingSteps(sprint: Sprint, current: string | undefined): string | undefined {
  const { dynamicSteps: steps } = getGoal(sprint)
  const begin = findFirstPending(steps)
  const count = steps.length - begin - (findStep(sprint, current)?.status === 'pending' ? 1 : 0)
  if (count === 0) return undefined
  const first = steps.slice(begin, begin + promptLimits.pendingSteps + 1).filter(({ id }) => id !== current)
  return `## Other pending steps (for orientation, not for now)\n\n${joinBounded(first.map(formatStepLine), promptLimits.pendingSteps, count)}`
}

function formatCompletedSteps(sprint: Sprint): string | undefined {
  const { dynamicSteps: steps } = getGoal(sprint)
  const end = findFirstPending(steps)
  if (end === 0) return undefined
  const last = steps.slice(0, end).slice(-promptLimits.completedSteps).map(formatStepLine)
  const earlier = sprint.stats.completedSteps - last.length
  const note = earlier > 0 ? `- (${earlier} earlier ones)\n` : ''
  return `## Completed steps\n\n${note}${joinBounded(last, promptLimits.completedSteps)}`
}

/** Clips before joining lines: a step can be a megabyte of blanks, and joining is quadratic in them. */
const formatStepLine = ({ id, prompt }: Step): string =>
  `- ${id}: ${clipText(prompt.trim(), 300).replaceAll(/\s*\n\s*/g, ' ')}`

function joinBounded(lines: readonly string[], count: number, all = lines.length): string {
  let size = 0
  const fitting = lines.slice(0, count).filter((text) => (size += text.length + 1) <= promptLimits.listCharacters)
  const left = all - fitting.length
  return [...fitting, ...(left > 0 ? [`- (and ${left} more)`] : [])].join('\n')
}

function formatNoProgress(sprint: Sprint): string | undefined {
  if (!isStuck(sprint)) return undefined
  return `## No progress\n\nIn the last ${sprint.stats.withoutProgress} iterations no file, step or check has changed. What was tried does not work: find out why, and plan another way as new steps, or ask a person.`
}

function formatMinIterations(sprint: Sprint, number: number): string | undefined {
  const { ralph } = getGoal(sprint)
  if (number >= ralph.minIterations) return undefined
  return `goal-complete is accepted from iteration ${ralph.minIterations} on. Until then look deeper: edge cases, tests, documentation.`
}

const bullet = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$/gm

/** Turns the bullet points of the goal into a checklist to verify before a claim. */
function formatCriteria({ plan: { goal } }: Sprint): string {
  const points = [...goal.matchAll(bullet)].map(([, point = '']) => `  - [ ] ${toOneLine(point)}`)
  if (points.length === 0) return ''
  return `\n- Before you report goal-complete, verify each point of the goal yourself:\n${joinBounded(points, promptLimits.criteria)}`
}

function formatGoalRules(sprint: Sprint): string {
  const { doneWhen = [] } = sprint.plan
  const checks = doneWhen.map(
    ({ name, run }) => `\n  - ${name === undefined || name === run ? '' : `${name}: `}\`${run}\``,
  )
  const gate =
    checks.length > 0
      ? `goal-complete is a claim. Ralph then runs these checks itself and accepts it only if all pass:${checks.join('')}`
      : 'goal-complete is a claim: make sure that it is true.'
  return `## Rules

- ${gate}${formatCriteria(sprint)}
- Do not weaken, skip or delete tests or checks to make them pass.
- Leave \`.claude/sprints/\` alone: that is Ralph's own state.
- Never wait for input; do not start programs that ask or that keep running.`
}

/**
 * Describes the format instead of showing an example: no part of a prompt may be a valid report, or an agent that echoes its
 * prompt would report something. The words in angle brackets keep this block from validating.
 */
export const goalReporting = `## Report

End your final message with exactly one fenced JSON block of this form and nothing after it:

\`\`\`json
{
  "status": "<continue | goal-complete | needs-human>",
  "summary": "<what you did in this iteration, in one or two sentences>",
  "completedStepIds": ["<ids of the pending steps that are now done>"],
  "pendingSteps": [
    {"id": "<id of a pending step>", "prompt": "<its text, changed if need be>"},
    {"id": null, "prompt": "<text of a new step>"}
  ],
  "goalCompleteSummary": "<only with goal-complete: what was achieved and how it was verified>",
  "humanNeeded": {
    "reason": "<only with needs-human: the question in one sentence>",
    "details": "<what a person must know>",
    "options": ["<answers to choose from, if there are any>"],
    "default": "<the one that you would choose>"
  }
}
\`\`\`

- continue: there is more to do. pendingSteps is the order of the next steps; steps that you leave out stay pending behind them.
- goal-complete: the whole goal is reached and you have verified it.
- needs-human: you cannot continue without a decision or something that only a person can give.`
