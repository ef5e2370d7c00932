import type { LiveIteration, Mode, Progress, Step } from '../contract/progress.ts'
import { isStuck } from './limits.ts'
import {
  answer,
  clip,
  feedback,
  learnings,
  messages,
  most,
  oneLine,
  refusals,
  withoutOlderForm,
} from './prompt-sections.ts'
import { firstPending } from './steps.ts'

export type PromptFor = Pick<LiveIteration, 'number' | 'mode' | 'step' | 'smallPrompt'> & {
  /** LEARNINGS.md of the sprint. */
  readonly notes?: string | undefined
}

/** Builds the prompt of one iteration. The agent starts with a fresh context, so it contains everything the agent must know. */
export function buildPrompt(progress: Progress, iteration: PromptFor): string {
  const background = iteration.smallPrompt ? [] : [learnings(iteration.notes)]
  const sections = [
    heading(progress, iteration),
    `## Goal\n\n${progress.goal.trim()}`,
    ...bodies[iteration.mode](progress, iteration),
    stuck(progress),
    minIterations(progress, iteration.number),
    refusals(progress, iteration.smallPrompt ? most.outputCharacters / 4 : most.outputCharacters),
    feedback(progress),
    answer(progress),
    messages(progress),
    ...background,
    rules(progress),
    reporting,
  ]
  return withoutOlderForm(`${sections.filter((section) => section !== undefined).join('\n\n')}\n`)
}

const bodies: Record<Mode, (progress: Progress, iteration: PromptFor) => (string | undefined)[]> = {
  planning: (progress) => [task('planning'), extra(progress.ralph.goalPrompt), completedSteps(progress)],
  executing: (progress, { step, smallPrompt }) => [
    currentStep(progress, step),
    task('executing'),
    ...(smallPrompt ? [] : [pendingSteps(progress, step), completedSteps(progress)]),
  ],
  reflecting: (progress) => [
    task('reflecting'),
    extra(progress.ralph.reflectionPrompt),
    pendingSteps(progress, undefined),
    completedSteps(progress),
  ],
}

const heading = ({ sprintId, stats }: Progress, { number, mode }: PromptFor): string => {
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

const task = (mode: Mode): string => tasks[mode]

const extra = (text: string | undefined): string | undefined => text?.trim() || undefined

function currentStep(progress: Progress, id: string | undefined): string {
  const step = stepOf(progress, id)
  if (!step) return '## Current step\n\nNo step is pending; report what you see.'
  return `## Current step: ${step.id}\n\n${step.prompt.trim()}`
}

/** Fast path: usually it is the first pending step. */
function stepOf({ dynamicSteps: steps }: Progress, id: string | undefined): Step | undefined {
  const first = steps[firstPending(steps)]
  return first?.id === id ? first : steps.find((step) => step.id === id)
}

function pendingSteps(progress: Progress, current: string | undefined): string | undefined {
  const { dynamicSteps: steps } = progress
  const begin = firstPending(steps)
  const count = steps.length - begin - (stepOf(progress, current)?.status === 'pending' ? 1 : 0)
  if (count === 0) return undefined
  const first = steps.slice(begin, begin + most.pendingSteps + 1).filter(({ id }) => id !== current)
  return `## Other pending steps (for orientation, not for now)\n\n${bounded(first.map(line), most.pendingSteps, count)}`
}

function completedSteps(progress: Progress): string | undefined {
  const { dynamicSteps: steps } = progress
  const end = firstPending(steps)
  if (end === 0) return undefined
  const last = steps.slice(0, end).slice(-most.completedSteps).map(line)
  const earlier = progress.stats.completedSteps - last.length
  const note = earlier > 0 ? `- (${earlier} earlier ones)\n` : ''
  return `## Completed steps\n\n${note}${bounded(last, most.completedSteps)}`
}

/** Clips before joining lines: a step can be a megabyte of blanks, and joining is quadratic in them. */
const line = ({ id, prompt }: Step): string => `- ${id}: ${clip(prompt.trim(), 300).replaceAll(/\s*\n\s*/g, ' ')}`

function bounded(lines: readonly string[], count: number, all = lines.length): string {
  let size = 0
  const fitting = lines.slice(0, count).filter((text) => (size += text.length + 1) <= most.listCharacters)
  const left = all - fitting.length
  return [...fitting, ...(left > 0 ? [`- (and ${left} more)`] : [])].join('\n')
}

function stuck(progress: Progress): string | undefined {
  if (!isStuck(progress)) return undefined
  return `## No progress\n\nIn the last ${progress.stats.withoutProgress} iterations no file, step or check has changed. What was tried does not work: find out why, and plan another way as new steps, or ask a person.`
}

function minIterations({ ralph }: Progress, number: number): string | undefined {
  if (number >= ralph.minIterations) return undefined
  return `goal-complete is accepted from iteration ${ralph.minIterations} on. Until then look deeper: edge cases, tests, documentation.`
}

const bullet = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$/gm

/** Turns the bullet points of the goal into a checklist to verify before a claim. */
function criteria({ goal }: Progress): string {
  const points = [...goal.matchAll(bullet)].map(([, point = '']) => `  - [ ] ${oneLine(point)}`)
  if (points.length === 0) return ''
  return `\n- Before you report goal-complete, verify each point of the goal yourself:\n${bounded(points, most.criteria)}`
}

function rules(progress: Progress): string {
  const { doneWhen = [] } = progress
  const checks = doneWhen.map(
    ({ name, run }) => `\n  - ${name === undefined || name === run ? '' : `${name}: `}\`${run}\``,
  )
  const gate =
    checks.length > 0
      ? `goal-complete is a claim. Ralph then runs these checks itself and accepts it only if all pass:${checks.join('')}`
      : 'goal-complete is a claim: make sure that it is true.'
  return `## Rules

- ${gate}${criteria(progress)}
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
export function buildTellPrompt(progress: Progress, form = reporting): string {
  const sections = [
    'You were interrupted in the middle of your work. Your work so far is still there; a command that was running has been ended.',
    messages(progress),
    feedback(progress),
    'Take this into account and continue with the same task. Then report as before.',
    form,
  ]
  return withoutOlderForm(`${sections.filter((section) => section !== undefined).join('\n\n')}\n`)
}

/** Asks, in the same session, only for the missing report. `form` describes its format. */
export const buildRepairPrompt = (
  reason: string,
  form = reporting,
): string => `Your last message had no valid report: ${oneLine(reason)}.

Do not do any more work. Answer only with the report about the work that you have just done.

${form}
`
