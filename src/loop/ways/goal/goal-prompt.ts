import type { LiveIteration, Mode, Progress, Step } from '../../../contract/progress.ts'
import { isStuck } from '../../core/limits.ts'
import {
  formatAnswer,
  clipText,
  formatFeedback,
  formatLearnings,
  formatMessages,
  promptLimits,
  toOneLine,
  formatRefusals,
  defuseOldReportForm,
} from '../../core/prompt-sections.ts'
import { findFirstPending } from './steps.ts'

export type PromptFor = Pick<LiveIteration, 'number' | 'mode' | 'step' | 'smallPrompt'> & {
  /** LEARNINGS.md of the sprint. */
  readonly notes?: string | undefined
}

/** Builds the prompt of one iteration. The agent starts with a fresh context, so it contains everything the agent must know. */
export function buildPrompt(progress: Progress, iteration: PromptFor): string {
  const background = iteration.smallPrompt ? [] : [formatLearnings(iteration.notes)]
  const sections = [
    formatGoalHeading(progress, iteration),
    `## Goal\n\n${progress.goal.trim()}`,
    ...bodies[iteration.mode](progress, iteration),
    formatNoProgress(progress),
    formatMinIterations(progress, iteration.number),
    formatRefusals(progress, iteration.smallPrompt ? promptLimits.outputCharacters / 4 : promptLimits.outputCharacters),
    formatFeedback(progress),
    formatAnswer(progress),
    formatMessages(progress),
    ...background,
    formatGoalRules(progress),
    reporting,
  ]
  return defuseOldReportForm(`${sections.filter((section) => section !== undefined).join('\n\n')}\n`)
}

const bodies: Record<Mode, (progress: Progress, iteration: PromptFor) => (string | undefined)[]> = {
  planning: (progress) => [
    getTask('planning'),
    trimOptional(progress.ralph.goalPrompt),
    formatCompletedSteps(progress),
  ],
  executing: (progress, { step, smallPrompt }) => [
    formatCurrentStep(progress, step),
    getTask('executing'),
    ...(smallPrompt ? [] : [formatPendingSteps(progress, step), formatCompletedSteps(progress)]),
  ],
  reflecting: (progress) => [
    getTask('reflecting'),
    trimOptional(progress.ralph.reflectionPrompt),
    formatPendingSteps(progress, undefined),
    formatCompletedSteps(progress),
  ],
}

const formatGoalHeading = ({ sprintId, stats }: Progress, { number, mode }: PromptFor): string => {
  const limit = stats.maxIterations < 1_000_000 ? ` of at most ${stats.maxIterations}` : ''
  return `# Ralph: ${mode}\n\nSprint ${sprintId}, iteration ${number}${limit}. You work autonomously; no one can answer questions while you work.`
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

function formatCurrentStep(progress: Progress, id: string | undefined): string {
  const step = findStep(progress, id)
  if (!step) return '## Current step\n\nNo step is pending; report what you see.'
  return `## Current step: ${step.id}\n\n${step.prompt.trim()}`
}

/** Fast path: usually it is the first pending step. */
function findStep({ dynamicSteps: steps }: Progress, id: string | undefined): Step | undefined {
  const first = steps[findFirstPending(steps)]
  return first?.id === id ? first : steps.find((step) => step.id === id)
}

function formatPendingSteps(progress: Progress, current: string | undefined): string | undefined {
  const { dynamicSteps: steps } = progress
  const begin = findFirstPending(steps)
  const count = steps.length - begin - (findStep(progress, current)?.status === 'pending' ? 1 : 0)
  if (count === 0) return undefined
  const first = steps.slice(begin, begin + promptLimits.pendingSteps + 1).filter(({ id }) => id !== current)
  return `## Other pending steps (for orientation, not for now)\n\n${joinBounded(first.map(formatStepLine), promptLimits.pendingSteps, count)}`
}

function formatCompletedSteps(progress: Progress): string | undefined {
  const { dynamicSteps: steps } = progress
  const end = findFirstPending(steps)
  if (end === 0) return undefined
  const last = steps.slice(0, end).slice(-promptLimits.completedSteps).map(formatStepLine)
  const earlier = progress.stats.completedSteps - last.length
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

function formatNoProgress(progress: Progress): string | undefined {
  if (!isStuck(progress)) return undefined
  return `## No progress\n\nIn the last ${progress.stats.withoutProgress} iterations no file, step or check has changed. What was tried does not work: find out why, and plan another way as new steps, or ask a person.`
}

function formatMinIterations({ ralph }: Progress, number: number): string | undefined {
  if (number >= ralph.minIterations) return undefined
  return `goal-complete is accepted from iteration ${ralph.minIterations} on. Until then look deeper: edge cases, tests, documentation.`
}

const bullet = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$/gm

/** Turns the bullet points of the goal into a checklist to verify before a claim. */
function formatCriteria({ goal }: Progress): string {
  const points = [...goal.matchAll(bullet)].map(([, point = '']) => `  - [ ] ${toOneLine(point)}`)
  if (points.length === 0) return ''
  return `\n- Before you report goal-complete, verify each point of the goal yourself:\n${joinBounded(points, promptLimits.criteria)}`
}

function formatGoalRules(progress: Progress): string {
  const { doneWhen = [] } = progress
  const checks = doneWhen.map(
    ({ name, run }) => `\n  - ${name === undefined || name === run ? '' : `${name}: `}\`${run}\``,
  )
  const gate =
    checks.length > 0
      ? `goal-complete is a claim. Ralph then runs these checks itself and accepts it only if all pass:${checks.join('')}`
      : 'goal-complete is a claim: make sure that it is true.'
  return `## Rules

- ${gate}${formatCriteria(progress)}
- Do not weaken, skip or delete tests or checks to make them pass.
- Leave \`.claude/sprints/\` alone: that is Ralph's own state.
- Never wait for input; do not start programs that ask or that keep running.`
}

/**
 * Describes the format instead of showing an example: no part of a prompt may be a valid report, or an agent that echoes its
 * prompt would report something. The words in angle brackets keep this block from validating.
 */
const reporting = `## Report

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

/** Explains to an agent, in its interrupted session, why it was interrupted. */
export function buildMessagePrompt(progress: Progress, form = reporting): string {
  const sections = [
    'You were interrupted in the middle of your work. Your work so far is still there; a command that was running has been ended.',
    formatMessages(progress),
    formatFeedback(progress),
    'Take this into account and continue with the same task. Then report as before.',
    form,
  ]
  return defuseOldReportForm(`${sections.filter((section) => section !== undefined).join('\n\n')}\n`)
}

/** Asks, in the same session, only for the missing report. `form` describes its format. */
export const buildRepairPrompt = (
  reason: string,
  form = reporting,
): string => `Your last message had no valid report: ${toOneLine(reason)}.

Do not do any more work. Answer only with the report about the work that you have just done.

${form}
`
